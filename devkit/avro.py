"""AVRO records with a schema id in front, written and read by fastavro."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro

from devkit.registry import Registry

SCHEMA_ID_BYTES = 5


def encoded(schema: str, schema_id: int, value: Any) -> bytes:
    """The bytes that a producer with a schema registry writes."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(schema)), value)
    return b"\0" + schema_id.to_bytes(4, "big") + body.getvalue()


def decoded(registry: Registry, data: bytes | None) -> Any:
    """The value of a record, decoded by the schema of its id."""
    assert data is not None
    assert data[:1] == b"\0"
    schema = json.loads(registry.schema(int.from_bytes(data[1:SCHEMA_ID_BYTES], "big")))
    return fastavro.schemaless_reader(io.BytesIO(data[SCHEMA_ID_BYTES:]), fastavro.parse_schema(schema), None)
