"""The type NUMBER in the place of DOUBLE, in the types of columns."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.types import DOUBLE, JSON, NULL, NUMBER, Array, DataType, Field, Map, Struct


def as_written(kind: DataType) -> DataType:
    """The type with NUMBER in the place of every DOUBLE."""
    return _replaced(kind, DOUBLE, NUMBER)


def computed(kind: DataType) -> DataType:
    """The type with DOUBLE in the place of every NUMBER."""
    return _replaced(kind, NUMBER, DOUBLE)


def has_numbers(kind: DataType) -> bool:
    """Whether a NUMBER is in the type."""
    return computed(kind) != kind


def is_kept_as_text(kind: DataType) -> bool:
    """Whether a NUMBER or JSON is in the type: Spark has their text, which is not a text in JSON."""
    return has_numbers(kind) or _replaced(kind, JSON, NULL) != kind


def _replaced(kind: DataType, old: DataType, new: DataType) -> DataType:
    match kind:
        case Struct(fields):
            return Struct(tuple(Field(f.name, _replaced(f.type, old, new), f.nullable) for f in fields))
        case Array(element, nullable):
            return Array(_replaced(element, old, new), nullable)
        case Map(value, nullable):
            return Map(_replaced(value, old, new), nullable)
    return new if kind == old else kind


def with_numbers(kind: DataType, numbers: DataType, path: tuple[str | int, ...] = ()) -> DataType:
    """The type with NUMBER also where `numbers`, the type of what is at the path, has it."""
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
            found = {f.name: f.type for f in other.fields}
            return Struct(tuple(replace(f, type=with_numbers(f.type, found.get(f.name, f.type))) for f in fields))
        case Array(inner) as array, Array(other_inner):
            return replace(array, element=with_numbers(inner, other_inner))
        case Map(inner) as values, Map(other_inner):
            return replace(values, value=with_numbers(inner, other_inner))
    return numbers if (kind, numbers) == (DOUBLE, NUMBER) else kind
