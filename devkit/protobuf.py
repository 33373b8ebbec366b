"""PROTOBUF records with a schema id in front, written and read by the code of the case files."""

from __future__ import annotations

from typing import Any

from devkit.registry import Registry
from lsql_runner.cases.proto_values import decode_message, encode_message
from lsql_runner.cases.scalars import yaml_value
from lsql_runner.formats.schema_id import schema_id_prefix


def encoded(schema: str, schema_id: int, value: Any, message: str | None = None) -> bytes:
    """The bytes that a producer with a schema registry writes."""
    return schema_id_prefix(schema_id) + encode_message(value, schema, message)


def decoded(registry: Registry, data: bytes | None) -> Any:
    """The value of a record, decoded by the schema of its id."""
    assert data is not None
    assert data[:1] == b"\0"
    return yaml_value(decode_message(data, registry.schema(int.from_bytes(data[1:5], "big"))))
