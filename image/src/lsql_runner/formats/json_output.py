"""Converts types of the language to JSON Schemas. Pure: the same type gives the same text."""

from __future__ import annotations

import json
from typing import Any

from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    JSON,
    LONG,
    NULL,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
)

_WRITTEN: dict[DataType, dict[str, Any]] = {
    INT: {"type": "integer"},
    LONG: {"type": "integer"},
    FLOAT: {"type": "number"},
    DOUBLE: {"type": "number"},
    STRING: {"type": "string"},
    BOOLEAN: {"type": "boolean"},
    BYTES: {"type": "string", "contentEncoding": "base64"},
    DATE: {"type": "string", "format": "date"},
    TIME: {"type": "string"},  # the format "time" needs a time zone
    TIMESTAMP: {"type": "string", "format": "date-time"},
    NUMERIC: {"type": "number"},
    NULL: {"type": "null"},
    JSON: {},
}


def write_json_schema(kind: DataType, title: str, is_open: bool) -> str:
    """The schema to write values of a type with. The same type gives the same text.

    Args:
        title: the title of the schema.
        is_open: whether objects may have fields that the type does not name, as records that pass through unchanged
            do. Registries allow new fields in a later version of a closed schema, and reject them for an open one.
    """
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **_write_type(kind, is_open)}
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def _write_type(kind: DataType, is_open: bool) -> dict[str, Any]:
    match kind:
        case Decimal():
            return {"type": "number"}
        case Array(element):
            return {"type": "array", "items": _nullable(element, is_open)}
        case Map(value):
            return {"type": "object", "additionalProperties": _nullable(value, is_open)}
        case Struct(fields):
            properties = {
                f.name: _nullable(f.type, is_open) if f.nullable else _write_type(f.type, is_open) for f in fields
            }
            closed = {} if is_open else {"additionalProperties": False}
            return {"type": "object", "properties": properties, **closed}
    return _WRITTEN[kind]


def _nullable(kind: DataType, is_open: bool) -> dict[str, Any]:
    schema = _write_type(kind, is_open)
    return schema if schema.get("type") in (None, "null") else {**schema, "type": [schema["type"], "null"]}
