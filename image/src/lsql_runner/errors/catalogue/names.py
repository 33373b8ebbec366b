"""Topics, fields, functions and types that a program names."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

NAMES: dict[str, ErrorKind] = {
    "TOPIC_UNKNOWN": ErrorKind(
        "The source topic {topic} does not exist on the brokers.",
        "Create the topic, or correct its name. Near names: {near}.",
        is_of_metadata=True,
    ),
    "TARGET_UNKNOWN": ErrorKind(
        "The target topic {topic} does not exist on the brokers.",
        "Create the topic, or let the program do it: SET defaults.topic.autocreate=true.",
        is_of_metadata=True,
    ),
    "FIELD_UNKNOWN": ErrorKind(
        "{source} has no field {name}.",
        "Use a field that it has: {known}.",
    ),
    "FIELD_NOT_NESTED": ErrorKind(
        "{name} is {type}: it has no {step} inside.",
        "Stop before {step}, or declare the field's type in LSQL_TOPICS.",
    ),
    "FUNCTION_UNKNOWN": ErrorKind(
        "There is no function {name}.",
        "Near names: {near}. `lsql functions` lists all.",
    ),
    "ARGUMENT_COUNT": ErrorKind(
        "{function} was given {found} arguments.",
        "It takes: {signature}.",
    ),
    "ARGUMENT_TYPE": ErrorKind(
        "Argument {position} of {function} is {found}, not {expected}.",
        "Convert it: CAST(... AS {example}).",
    ),
    "ARGUMENT_VALUE": ErrorKind(
        "Argument {position} of {function} cannot be '{found}'.",
        "Give it {expected}.",
    ),
    "ARGUMENT_NOT_CONSTANT": ErrorKind(
        "Argument {position} of {function} must be a constant.",
        "Write a literal {expected} there.",
    ),
    "OPERATOR_TYPES": ErrorKind(
        "`{op}` does not work on {left} and {right}.",
        "Convert one side: CAST(... AS {example}).",
    ),
    "OPERAND_TYPE": ErrorKind(
        "`{op}` needs {expected}, not {found}.",
        "Give it {expected}, or CAST the operand.",
    ),
    "NULL_OPERAND": ErrorKind(
        "`{op}` takes no null, and {field} may be one.",
        "Say what counts instead, COALESCE({field}, ...); or that it is never null, AS_NON_NULLABLE({field}); or look first, CASE WHEN {field} IS NULL THEN ... ELSE ... END.",
    ),
    "NULL_LITERAL": ErrorKind(
        "`{op}` takes no null, and this is one.",
        "Write IS NULL or IS NOT NULL, or a value.",
    ),
    "CONDITION_TYPE": ErrorKind(
        "{clause} needs a condition, and this is {found}.",
        "Compare it with something, as x = 1.",
    ),
    "TYPE_UNKNOWN": ErrorKind(
        "There is no type {name}.",
        "The types are {known}.",
    ),
    "CAST_IMPOSSIBLE": ErrorKind(
        "{source} cannot be cast to {target}.",
        "Cast from or to a scalar type that stands between them.",
    ),
    "NOT_AN_ARRAY": ErrorKind(
        "LATERAL needs an array, and this is {found}.",
        "Name an array field, or declare it as array<...> in LSQL_TOPICS.",
    ),
    "HEADER_NOT_CONSTANT": ErrorKind(
        "A header's name must be a literal string.",
        "Write _header.<name> or HEADERASSTRING('<name>').",
    ),
}
