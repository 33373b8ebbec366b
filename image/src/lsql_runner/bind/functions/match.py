"""Whether a call fits a signature, and what its arguments are brought to. Nothing is raised: a misfit is
data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsql_runner.bind.functions.spec import Function, Match, Signature
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    LONG,
    NULL,
    SCALARS,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
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
    """Why a call does not fit.

    Attributes:
        position: the argument, counted from zero; None when their number is wrong.
        expected: what it should be, in words.
        example: a type to convert it to.
    """

    position: int | None
    expected: str = ""
    example: str = ""


def match(signature: Signature, types: Sequence[DataType]) -> Match | Mismatch:
    """The types that the given arguments are brought to, and the type of the result."""
    if len(types) < signature.least or (signature.most is not None and len(types) > signature.most):
        return Mismatch(None)
    kinds = [signature.parameter(position).kind for position in range(len(types))]
    variables: dict[str, DataType] = {}
    for position, (kind, found) in enumerate(zip(kinds, types, strict=True)):
        if kind not in _VARIABLES:
            if _fit(kind, found) is None:
                return Mismatch(position, *_wanted(kind, found))
            continue
        shared = common_type(variables.get(kind, NULL), found)
        if not _VARIABLES[kind](found) or shared is None:
            return Mismatch(position, *_wanted(kind, found, variables.get(kind)))
        variables[kind] = shared
    if variables.get("N") == NULL:
        variables["N"] = INT
    arguments = tuple(variables[k] if k in variables else _fitted(k, t) for k, t in zip(kinds, types, strict=True))
    return Match(arguments, _result(signature.result, variables))


def choose(function: Function, types: Sequence[DataType]) -> Function:
    """The row of the function that these arguments fit; where none does, the one whose misfit tells most."""
    rows = (function, *function.variants)
    found = [(row, match(row.signature, types)) for row in rows]
    fitting = [row for row, m in found if isinstance(m, Match)]
    right_count = [row for row, m in found if isinstance(m, Mismatch) and m.position is not None]
    return [*fitting, *right_count, function][0]


def _anything(_: DataType) -> bool:
    return True


def _number_or_null(t: DataType) -> bool:
    return is_numeric(t) or t == NULL


def _ordered_or_null(t: DataType) -> bool:
    return _number_or_null(t) or t in (STRING, BOOLEAN, DATE, TIMESTAMP)


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


def _fitted(kind: str, found: DataType) -> DataType:
    fitted = _fit(kind, found)
    assert fitted is not None
    return fitted


def _fit(kind: str, found: DataType) -> DataType | None:
    """The type that an argument is brought to for a parameter of this kind; None when it does not fit."""
    if kind in SCALARS:
        return SCALARS[kind] if _widens(found, SCALARS[kind]) else None
    match kind:
        case "any":
            return found
        case "number" if _number_or_null(found):
            return INT if found == NULL else found
        case "integer" if is_integer(found) or found == NULL:
            return INT if found == NULL else found
        case "array" if isinstance(found, Array) or found == NULL:
            return Array(STRING) if found == NULL else found
        case "struct" if isinstance(found, Struct):
            return found
        case "text" if isinstance(found, Scalar | Decimal) and found != BYTES:
            return STRING
        case "instant" if found in (TIMESTAMP, DATE, LONG, NULL):
            return TIMESTAMP
    return None


def _widens(found: DataType, target: DataType) -> bool:
    """Whether a value can be taken as `target` without being asked to: int < long < decimal < float <
    double."""
    if found in (target, NULL):
        return True
    if is_numeric(found) and is_numeric(target):
        return wider_numeric(found, target) == target
    return found == DATE and target == TIMESTAMP


_WANTED = {
    "number": ("a number", "double"),
    "N": ("a number", "double"),
    "integer": ("a whole number", "long"),
    "O": ("a number, string, boolean, date or timestamp", "string"),
    "E": ("a type without maps", "string"),
    "array": ("an array", "array<string>"),
    "struct": ("a struct", "struct"),
    "text": ("a string, number, boolean, date or timestamp", "string"),
    "instant": ("timestamp, date, or long in milliseconds", "timestamp"),
}


def _wanted(kind: str, found: DataType, shared: DataType | None = None) -> tuple[str, str]:
    """What a parameter asks for, in words, and a type to cast to."""
    if shared is not None and shared != NULL:
        return describe(shared), describe(shared)
    if kind == "instant" and found == INT:
        return _WANTED[kind][0], "long"
    return _WANTED.get(kind, (kind, kind))


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
    """The type of a sum: the engine gives a decimal ten more digits, as far as 38 go."""
    if isinstance(t, Decimal):
        return Decimal(min(38, t.precision + 10), t.scale)
    return LONG if is_integer(t) else DOUBLE


def _mean(t: DataType) -> DataType:
    """The type of an average: the engine gives a decimal four more digits on either side, as far as 38 go."""
    if isinstance(t, Decimal):
        return Decimal(min(38, t.precision + 4), min(38, t.scale + 4))
    return DOUBLE
