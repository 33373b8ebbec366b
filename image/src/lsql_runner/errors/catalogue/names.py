"""Topics, fields, functions and types that a program names."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

NAMES: dict[str, ErrorKind] = {
    "TOPIC_UNKNOWN": ErrorKind(
        "The source topic {topic} was not found {place}.",
        "Create the topic or correct its name. Similar names: {near}.",
        is_of_metadata=True,
    ),
    "TOPIC_NOT_ALLOWED": ErrorKind(
        "The topic policies do not allow programs to {use} {topic}: {rule}.",
        "Use another topic. The policies are set where the processor is deployed: policy.{use} in the chart's values.",
    ),
    "TARGET_UNKNOWN": ErrorKind(
        "The target topic {topic} does not exist.",
        "Create the topic, or let the program create it with SET defaults.topic.autocreate=true.",
        is_of_metadata=True,
    ),
    "TARGET_NAME_INVALID": ErrorKind(
        "A topic cannot have the name `{topic}`.",
        "Use at most 249 letters, digits, dots, underscores and dashes, and not only `.` or `..`.",
    ),
    "FIELD_UNKNOWN": ErrorKind("{source} has no field {name}.", "Use one of its fields: {known}."),
    "FACET_UNAVAILABLE": ErrorKind(
        "The result of an aggregate, {source}, has no {name}.", "Use one of its fields, or {known}."
    ),
    "HEADERS_IN_JOIN": ErrorKind(
        "The headers of {source} are not available in a join.", "Read them in a WITH query over {source}."
    ),
    "HEADER_NAME_MISSING": ErrorKind(
        "{name} does not name a header.", "Write _header.<name>, or HEADERKEYS() for the names of all headers."
    ),
    "FIELD_NOT_NESTED": ErrorKind(
        "{name} has the type {type} and no field {step}.",
        "Remove {step}, or declare the type of the field in LSQL_TOPICS.",
    ),
    "FIELD_TYPE_UNKNOWN": ErrorKind(
        "The type of {name} is not known: in every sampled record it is null, empty or nested too deeply.",
        "Declare the schema of the topic with CREATE TABLE or in LSQL_TOPICS. Without a type, a field can be selected "
        "unchanged, and tested with IS NULL.",
    ),
    "FUNCTION_UNKNOWN": ErrorKind(
        "The function {name} does not exist.", "Similar names: {near}. `lsql functions` lists all functions."
    ),
    "ARGUMENT_COUNT": ErrorKind(
        "{function} does not take {found} arguments.", "Give the arguments of its signature: {signature}."
    ),
    "ARGUMENT_TYPE": ErrorKind(
        "Argument {position} of {function} has the type {found}; expected {expected}.",
        "Write {instead}.",
    ),
    "ARGUMENT_VALUE": ErrorKind(
        "Argument {position} of {function} has the invalid value '{found}'.", "Expected: {expected}."
    ),
    "ARGUMENT_NOT_CONSTANT": ErrorKind(
        "Argument {position} of {function} is not a constant.", "Write a literal of the type {expected}."
    ),
    "OPERATOR_TYPES": ErrorKind(
        "`{op}` cannot be applied to {left} and {right}.", "For the {operand}, write {instead}."
    ),
    "OPERAND_TYPE": ErrorKind("The operand of `{op}` has the type {found}; expected {expected}.", "Write {instead}."),
    "NULL_OPERAND": ErrorKind(
        "`{op}` does not accept NULL, and {field} can be NULL.",
        "Give a default with COALESCE({field}, ...), declare it never NULL with AS_NON_NULLABLE({field}), or test it "
        "with CASE WHEN {field} IS NULL THEN ... ELSE ... END.",
    ),
    "NULL_LITERAL": ErrorKind(
        "`{op}` does not accept NULL.", "Use IS NULL or IS NOT NULL, or write a value that is not NULL."
    ),
    "CONDITION_TYPE": ErrorKind(
        "The condition of {clause} has the type {found}; expected boolean.", "Compare it with a value, as in x = 1."
    ),
    "ENTRY_TYPE": ErrorKind(
        "The map {name} has values of the type {expected}; an entry cannot be set to {found}.",
        "Write {instead}, or another name after AS.",
    ),
    "TYPE_UNKNOWN": ErrorKind("The type {name} does not exist.", "The types are {known}."),
    "CAST_IMPOSSIBLE": ErrorKind(
        "A value of the type {source} cannot be cast to {target}.",
        "Write {instead}.",
    ),
    "NOT_AN_ARRAY": ErrorKind(
        "LATERAL needs an array; the expression has the type {found}.",
        "Name an array field, or declare the field as array<...> in LSQL_TOPICS.",
    ),
    "HEADER_NOT_CONSTANT": ErrorKind(
        "The name of the header is not a literal string.", "Write _header.<name> or HEADERASSTRING('<name>')."
    ),
}
