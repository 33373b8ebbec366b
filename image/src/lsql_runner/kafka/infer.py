"""Formats and schemas from a sample of records. Pure: bytes in, types out; the same sample gives the same schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from lsql_runner.bind.catalog import (
    BYTES_FORMAT,
    JSON_FORMAT,
    PRIMITIVE_FORMATS,
    STRING_FORMAT,
    Format,
    Serde,
)
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DOUBLE,
    LONG,
    NULL,
    STRING,
    Array,
    DataType,
    Field,
    Struct,
    is_numeric,
)

_MAX_DEPTH = 30


def infer_serde(samples: Sequence[bytes | None], named: Format | None) -> Serde | None:
    """How a part of a topic's records is written.

    Args:
        samples: that part of some records; nulls say nothing.
        named: the format where the program or the configuration names it.

    Returns:
        None when the samples say nothing and a schema is needed.
    """
    data = [sample for sample in samples if sample is not None]
    if named is not None and named.bare.name in PRIMITIVE_FORMATS:
        return Serde(named, PRIMITIVE_FORMATS[named.bare.name])
    if not data:
        return None
    if named is None and not all(_is_text(sample) for sample in data):
        return Serde(BYTES_FORMAT, BYTES)
    objects = [_parse(sample) for sample in data]
    if named is None and not any(isinstance(value, dict) for value in objects):
        return Serde(STRING_FORMAT, STRING)
    return Serde(named or JSON_FORMAT, json_type(value for value in objects if isinstance(value, dict)))


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def _parse(data: bytes) -> Any:
    """The value of a JSON text; None for what is none: a sample may hold bad records."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def json_type(values: Iterable[Any]) -> DataType:
    """The type that holds all of the values: fields in order of first sight, unlike types as text."""
    found: DataType = NULL
    for value in values:
        found = merged(found, _type_of(value, 0))
    return found if isinstance(found, Struct) else Struct(())


def _type_of(value: Any, depth: int) -> DataType:
    if depth > _MAX_DEPTH:
        return STRING
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return LONG if -(2**63) <= value < 2**63 else DOUBLE
        case float():
            return DOUBLE
        case str():
            return STRING
        case list():
            element: DataType = NULL
            for item in value:
                element = merged(element, _type_of(item, depth + 1))
            return Array(element)
    return Struct(tuple(Field(str(name), _type_of(inner, depth + 1)) for name, inner in value.items()))


def merged(a: DataType, b: DataType) -> DataType:
    """A type for values of both; text where nothing else holds both."""
    if b in (a, NULL):
        return a
    if a == NULL:
        return b
    if is_numeric(a) and is_numeric(b):
        return DOUBLE
    if isinstance(a, Array) and isinstance(b, Array):
        return Array(merged(a.element, b.element))
    if isinstance(a, Struct) and isinstance(b, Struct):
        inside = {f.name: f.type for f in a.fields}
        for member in b.fields:
            inside[member.name] = merged(inside.get(member.name, NULL), member.type)
        return Struct(tuple(Field(name, kind) for name, kind in inside.items()))
    return STRING


def settled(kind: DataType) -> DataType:
    """The type with text where no value was ever seen: a field that was null in every record."""
    match kind:
        case Struct(fields):
            return Struct(tuple(Field(f.name, settled(f.type)) for f in fields))
        case Array(element):
            return Array(settled(element))
    return STRING if kind == NULL else kind


def widened(pinned: DataType, seen: DataType) -> DataType:
    """A pinned type with the fields that are new in `seen`. What is pinned keeps its type: state may depend on it."""
    if isinstance(pinned, Struct) and isinstance(seen, Struct):
        known = {f.name for f in pinned.fields}
        grown = tuple(Field(f.name, widened(f.type, _or(seen, f))) for f in pinned.fields)
        return Struct((*grown, *(f for f in seen.fields if f.name not in known)))
    if isinstance(pinned, Array) and isinstance(seen, Array):
        return Array(widened(pinned.element, seen.element))
    return pinned


def _or(seen: Struct, member: Field) -> DataType:
    found = seen.field(member.name)
    return member.type if found is None else found.type
