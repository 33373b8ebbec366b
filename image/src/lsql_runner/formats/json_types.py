"""Types of JSON values: inferred from a value, merged over several values, extended by later records."""

from __future__ import annotations

from typing import Any

from lsql_runner.types import (
    BOOLEAN,
    DOUBLE,
    JSON,
    NULL,
    NUMERIC,
    STRING,
    Array,
    DataType,
    Field,
    Map,
    Struct,
    is_numeric,
)

_MAX_DEPTH = 30
_LEAST_TOO_LARGE = 10**20
"""The least whole number that no NUMERIC has."""


def type_of_json(value: Any, depth: int = 0) -> DataType:
    """The type of a value as Python reads it; values nested more than 30 levels deep are JSON."""
    if depth > _MAX_DEPTH:
        return JSON
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return NUMERIC if abs(value) < _LEAST_TOO_LARGE else DOUBLE
        case float():
            return DOUBLE
        case str():
            return STRING
        case list():
            element: DataType = NULL
            for item in value:
                element = merge_types(element, type_of_json(item, depth + 1))
            return Array(element)
    return Struct(tuple(Field(str(name), type_of_json(inner, depth + 1)) for name, inner in value.items()))


def field_count(kind: DataType) -> int:
    """The number of fields in a type, at all levels."""
    match kind:
        case Struct(fields):
            return sum(1 + field_count(f.type) for f in fields)
        case Array(inner) | Map(inner):
            return field_count(inner)
    return 0


def merge_types(a: DataType, b: DataType) -> DataType:
    """A type that holds the values of both types: text if there is no other."""
    if b in (a, NULL):
        return a
    if a == NULL:
        return b
    if JSON in (a, b):
        return JSON
    if is_numeric(a) and is_numeric(b):
        return DOUBLE
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(merge_types(a.element, b.element))
    if isinstance(a, Map) and isinstance(b, Map):
        return Map(merge_types(a.value, b.value))
    if isinstance(a, Struct) and isinstance(b, Struct):
        inside = {f.name: f.type for f in a.fields}
        for member in b.fields:
            inside[member.name] = merge_types(inside.get(member.name, NULL), member.type)
        return Struct(tuple(Field(name, kind) for name, kind in inside.items()))
    return STRING


def settled(kind: DataType) -> DataType:
    """The type of records, with JSON for values that no record shows: fields that are always null or without
    fields, and the elements of arrays that are always empty."""
    if isinstance(kind, Struct):
        return Struct(tuple(Field(f.name, _settle(f.type)) for f in kind.fields))
    return _settle(kind)


def _settle(kind: DataType) -> DataType:
    match kind:
        case Struct(fields) if fields:
            return settled(kind)
        case Array(element):
            return Array(_settle(element))
        case Map(value):
            return Map(_settle(value))
    return JSON if kind in (NULL, Struct(())) else kind


def widened(pinned: DataType, seen: DataType) -> DataType:
    """A pinned type with the new fields of `seen`. Pinned fields keep their types, because state may depend on them."""
    if isinstance(pinned, Struct) and isinstance(seen, Struct):
        known = {f.name for f in pinned.fields}
        grown = tuple(Field(f.name, widened(f.type, _type_in(seen, f))) for f in pinned.fields)
        return Struct((*grown, *(f for f in seen.fields if f.name not in known)))
    if isinstance(pinned, Array) and isinstance(seen, Array):
        return Array(widened(pinned.element, seen.element))
    if isinstance(pinned, Map) and isinstance(seen, Map):
        return Map(widened(pinned.value, seen.value))
    return pinned


def _type_in(seen: Struct, member: Field) -> DataType:
    field = seen.field(member.name)
    return member.type if field is None else field.type
