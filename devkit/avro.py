"""Records in AVRO with the id of their schema before them, written and read by fastavro."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro

from devkit.registry import Registry

SCHEMA_ID_BYTES = 5


def encoded(schema: str, schema_id: int, value: Any) -> bytes:
    """A record as a producer with a registry writes it."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(schema)), value)
    return b"\0" + schema_id.to_bytes(4, "big") + body.getvalue()


def decoded(registry: Registry, data: bytes | None) -> Any:
    """The value in a record, by the schema that its id names."""
    assert data is not None
    assert data[:1] == b"\0"
    schema = json.loads(registry.schema(int.from_bytes(data[1:SCHEMA_ID_BYTES], "big")))
    return fastavro.schemaless_reader(io.BytesIO(data[SCHEMA_ID_BYTES:]), fastavro.parse_schema(schema), None)
