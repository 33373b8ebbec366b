"""The types NUMBER and DIGITS in place of DOUBLE and NUMERIC, in the types of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lsql_runner.types import (
    DIGITS,
    DOUBLE,
    JSON,
    NUMBER,
    NUMERIC,
    STRING,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)

_AS_WRITTEN: dict[DataType, DataType] = {DOUBLE: NUMBER, NUMERIC: DIGITS}
_COMPUTED: dict[DataType, DataType] = {text: kind for kind, text in _AS_WRITTEN.items()}
_IN_SPARK: dict[DataType, DataType] = {**dict.fromkeys((NUMBER, DIGITS, JSON), STRING), NUMERIC: Decimal()}


def to_text_types(kind: DataType) -> DataType:
    """The type with NUMBER and DIGITS in place of every DOUBLE and NUMERIC."""
    return _replace_types(kind, _AS_WRITTEN)


def computed(kind: DataType) -> DataType:
    """The type with DOUBLE and NUMERIC in place of every NUMBER and DIGITS."""
    return _replace_types(kind, _COMPUTED)


def has_numbers(kind: DataType) -> bool:
    """Whether a NUMBER or DIGITS is in the type."""
    return computed(kind) != kind


def differs_in_json(kind: DataType) -> bool:
    """Whether values of the type have another type in Spark than in JSON: the text of numbers, NUMERIC, JSON."""
    return _replace_types(kind, _IN_SPARK) != kind


def has_numeric(kind: DataType) -> bool:
    """Whether a NUMERIC is in the type."""
    return _replace_types(kind, {NUMERIC: STRING}) != kind


def _replace_types(kind: DataType, others: Mapping[DataType, DataType]) -> DataType:
    match kind:
        case Struct(fields):
            return Struct(tuple(Field(f.name, _replace_types(f.type, others), f.nullable) for f in fields))
        case Array(element, nullable):
            return Array(_replace_types(element, others), nullable)
        case Map(value, nullable):
            return Map(_replace_types(value, others), nullable)
    return others.get(kind, kind)


def with_numbers(kind: DataType, numbers: DataType, path: tuple[str | int, ...] = ()) -> DataType:
    """The type with NUMBER and DIGITS also where `numbers`, the type at the path, has them."""
    if path:
        step, rest = path[0], path[1:]
        match kind:
            case Struct(fields):
                return Struct(
                    tuple(replace(f, type=with_numbers(f.type, numbers, rest)) if f.name == step else f for f in fields)
                )
            case Array(inner):
                return replace(kind, element=with_numbers(inner, numbers, rest))
            case Map(inner):
                return replace(kind, value=with_numbers(inner, numbers, rest))
        return kind
    match kind, numbers:
        case Struct(fields), Struct() as other:
            types = {f.name: f.type for f in other.fields}
            return Struct(tuple(replace(f, type=with_numbers(f.type, types.get(f.name, f.type))) for f in fields))
        case Array(inner) as array, Array(other_inner):
            return replace(array, element=with_numbers(inner, other_inner))
        case Map(inner) as values, Map(other_inner):
            return replace(values, value=with_numbers(inner, other_inner))
    return numbers if _AS_WRITTEN.get(kind) == numbers else kind
