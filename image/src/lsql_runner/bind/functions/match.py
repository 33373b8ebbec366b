"""Whether the arguments of a call fit a signature, and the types to which they are converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lsql_runner.bind.functions.expected import EXPECTED_ARGUMENT
from lsql_runner.bind.functions.spec import Function, Match, Signature
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    LONG,
    NULL,
    NUMERIC,
    SCALARS,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Scalar,
    Struct,
    common_type,
    describe,
    is_integer,
    is_numeric,
    parse_type,
    wider_numeric,
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why the arguments do not fit.

    Attributes:
        position: the argument that does not fit, counted from 0; None if the number of arguments is wrong.
        expected: the expected type, or a detail of EXPECTED_ARGUMENT.
        targets: the types that fit, for an advice; empty if CAST has none of them.
    """

    position: int | None
    expected: str = ""
    targets: tuple[DataType, ...] = ()


def match(signature: Signature, types: Sequence[DataType], literals: Sequence[object] = ()) -> Match | Mismatch:
    """The types of a call, or why its arguments do not fit.

    Args:
        types: of the arguments.
        literals: the values of the arguments, None for those that are not literals. Only results with named fields
            depend on them.
    """
    if not signature.takes(len(types)):
        return Mismatch(None)
    kinds = [signature.parameter(position).kind for position in range(len(types))]
    fixed: dict[int, DataType] = {}
    variables: dict[str, DataType] = {}
    for position, (kind, argument) in enumerate(zip(kinds, types, strict=True)):
        declared = signature.parameter(position).type
        if declared is not None:
            if not _fits(argument, declared):
                return Mismatch(position, kind, (declared,))
            fixed[position] = declared
            continue
        depth, name = _elements(kind)
        if name not in _VARIABLES:
            converted = _parameter_type(kind, argument)
            if converted is None:
                return Mismatch(position, *_fitting_types(kind))
            fixed[position] = converted
            continue
        element = _element_of(argument, depth)
        common = None if element is None else common_type(variables.get(name, NULL), element)
        if element is None or not _VARIABLES[name](element) or common is None:
            return Mismatch(position, *_fitting_types(kind, variables.get(name)))
        variables[name] = common
    if variables.get("N") == NULL:
        variables["N"] = INT
    arguments = tuple(
        fixed[position] if position in fixed else _array_type(kind, variables) for position, kind in enumerate(kinds)
    )
    if signature.result == "array<struct>":
        return Match(arguments, Array(Struct(tuple(_named_elements(arguments, literals)))))
    return Match(arguments, _result(signature.result, variables))


def _named_elements(arguments: Sequence[DataType], literals: Sequence[object]) -> Iterator[Field]:
    """A field for each array among the arguments. Its name is the literal after the array."""
    for position, argument in enumerate(arguments):
        if isinstance(argument, Array):
            name = literals[position + 1] if position + 1 < len(literals) else None
            yield Field(str(name or ""), argument.element)


def _elements(kind: str) -> tuple[int, str]:
    """How many arrays a kind has around another one: 2 and `A` for `array<array<A>>`."""
    depth = 0
    while kind.startswith("array<"):
        kind, depth = kind.removeprefix("array<").removesuffix(">"), depth + 1
    return depth, kind


def _element_of(t: DataType, depth: int) -> DataType | None:
    """The type of the elements inside `depth` arrays; None if the type has fewer."""
    for _ in range(depth):
        if t == NULL:
            return NULL
        if not isinstance(t, Array):
            return None
        t = t.element
    return t


def _array_type(kind: str, variables: dict[str, DataType]) -> DataType:
    """The type of a kind with a type variable."""
    depth, name = _elements(kind)
    nested = variables[name]
    for _ in range(depth):
        nested = Array(nested)
    return nested


def choose(function: Function, types: Sequence[DataType]) -> Function:
    """The function or its variant that the arguments fit. If none fits, one with the right number of arguments."""
    rows = (function, *function.variants)
    matches = [(row, match(row.signature, types)) for row in rows]
    fitting = [row for row, m in matches if isinstance(m, Match)]
    right_count = [row for row, m in matches if isinstance(m, Mismatch) and m.position is not None]
    return [*fitting, *right_count, function][0]


def _anything(_: DataType) -> bool:
    return True


def _number_or_null(t: DataType) -> bool:
    return is_numeric(t) or t == NULL


def _ordered_or_null(t: DataType) -> bool:
    return _number_or_null(t) or t in (STRING, BOOLEAN, DATE, TIME, TIMESTAMP)


def _comparable(t: DataType) -> bool:
    match t:
        case Array(element):
            return _comparable(element)
        case Struct(fields):
            return all(_comparable(f.type) for f in fields)
    return not isinstance(t, Map)


_VARIABLES: dict[str, Callable[[DataType], bool]] = {
    "A": _anything,
    "B": _anything,
    "E": _comparable,
    "N": _number_or_null,
    "O": _ordered_or_null,
}


def _parameter_type(kind: str, argument: DataType) -> DataType | None:
    """The type to which an argument is converted for a parameter of this kind; None if it does not fit."""
    if kind in SCALARS:
        return SCALARS[kind] if _widens(argument, SCALARS[kind]) else None
    match kind:
        case "any":
            return argument
        case "number" if _number_or_null(argument):
            return INT if argument == NULL else argument
        case "integer" if is_integer(argument) or argument == NULL:
            return INT if argument == NULL else argument
        case "integer" if argument == NUMERIC:
            return LONG
        case "array" if isinstance(argument, Array) or argument == NULL:
            return Array(STRING) if argument == NULL else argument
        case "struct" if isinstance(argument, Struct):
            return argument
        case "text" if isinstance(argument, Scalar | Decimal) and argument != BYTES:
            return STRING
        case "header" if argument in (STRING, NULL):
            return STRING
        case "instant" if argument in (TIMESTAMP, DATE, LONG, NUMERIC, NULL):
            return TIMESTAMP
    return None


def _widens(argument: DataType, target: DataType) -> bool:
    """Whether a value is converted to `target` without a CAST: int < long < decimal < float < double.

    A numeric is also converted as a long: it is a whole number in every sampled record."""
    if argument in (target, NULL):
        return True
    if argument == NUMERIC and target == LONG:
        return True
    if is_numeric(argument) and is_numeric(target):
        return wider_numeric(argument, target) == target
    return argument == DATE and target == TIMESTAMP


def _fits(argument: DataType, declared: DataType) -> bool:
    """Whether a value is converted to the type of a user-defined function's argument without a CAST."""
    match argument, declared:
        case (Array(a), Array(b)) | (Map(a), Map(b)):
            return _fits(a, b)
        case Struct(fields), Struct(expected):
            pairs = zip(fields, expected, strict=False)
            return len(fields) == len(expected) and all(a.name == b.name and _fits(a.type, b.type) for a, b in pairs)
    return _widens(argument, declared)


_EXPECTED = {
    "number": (EXPECTED_ARGUMENT("NUMBER"), (DOUBLE, INT, LONG)),
    "N": (EXPECTED_ARGUMENT("NUMBER"), (DOUBLE, INT, LONG)),
    "integer": (EXPECTED_ARGUMENT("INTEGER"), (LONG,)),
    "O": (EXPECTED_ARGUMENT("ORDERED"), (STRING,)),
    "E": (EXPECTED_ARGUMENT("WITHOUT_MAPS"), (STRING,)),
    "array": (EXPECTED_ARGUMENT("ARRAY"), ()),
    "struct": (EXPECTED_ARGUMENT("STRUCT"), ()),
    "text": (EXPECTED_ARGUMENT("TEXT"), (STRING,)),
    "instant": (EXPECTED_ARGUMENT("INSTANT"), (TIMESTAMP, LONG)),
    "header": (EXPECTED_ARGUMENT("HEADER"), ()),
}
"""By kind of parameter: a description of the expected type, and types that fit, the best first."""


def _fitting_types(kind: str, variable: DataType | None = None) -> tuple[str, tuple[DataType, ...]]:
    """A description of the expected type, and types that fit, the best first.

    Args:
        kind: the kind of the parameter.
        variable: the type of the type variable, from the arguments before.
    """
    depth, name = _elements(kind)
    if variable is not None and variable != NULL:
        expected = _array_type(kind, {name: variable})
        return describe(expected), (expected,)
    if depth:
        return _EXPECTED["array"] if depth == 1 else (EXPECTED_ARGUMENT("ARRAYS"), ())
    return _EXPECTED[kind] if kind in _EXPECTED else (kind, (parse_type(kind),))


def _result(text: str, variables: dict[str, DataType]) -> DataType:
    if text in variables:
        return variables[text]
    element = text.removeprefix("array<").removesuffix(">")
    if element in variables:
        return Array(variables[element])
    name = text.rpartition(" ")[2]
    if text == f"total of {name}":
        return _total(variables[name])
    if text == f"mean of {name}":
        return _mean(variables[name])
    return parse_type(text)


def _total(t: DataType) -> DataType:
    """The type of a sum. Spark adds ten digits to a decimal, up to 38."""
    if isinstance(t, Decimal):
        return Decimal(min(38, t.precision + 10), t.scale)
    return LONG if is_integer(t) else t if t == NUMERIC else DOUBLE


def _mean(t: DataType) -> DataType:
    """The type of an average. Spark adds four digits to the precision and the scale of a decimal, up to 38."""
    if isinstance(t, Decimal):
        return Decimal(min(38, t.precision + 4), min(38, t.scale + 4))
    return DOUBLE
