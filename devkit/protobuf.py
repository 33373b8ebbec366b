"""PROTOBUF records with a schema id in front, written and read by the code of the case files."""

from __future__ import annotations

from typing import Any

from devkit.registry import Registry
from lsql_runner.cases.proto_values import proto_schema
from lsql_runner.cases.scalars import yaml_value
from lsql_runner.formats.schema_id import schema_id_of, schema_id_prefix, starts_with_schema_id, without_schema_id


def encoded(schema: str, schema_id: int, value: Any, message: str | None = None) -> bytes:
    """The bytes that a producer with a schema registry writes."""
    return schema_id_prefix(schema_id) + proto_schema(schema).encode(value, message)


def decoded(registry: Registry, data: bytes | None) -> Any:
    """The value of a record, decoded by the schema of its id."""
    assert data is not None
    assert starts_with_schema_id(data)
    return yaml_value(proto_schema(registry.schema(schema_id_of(data))).decode(without_schema_id(data)))
