"""Records in PROTOBUF with the id of their schema before them, as the case files' own code writes and reads them."""

from __future__ import annotations

from typing import Any

from devkit.registry import Registry
from lsql_runner.cases.proto_values import decode_message, encode_message
from lsql_runner.cases.scalars import natural
from lsql_runner.formats.schema_id import schema_id_prefix


def encoded(schema: str, schema_id: int, value: Any, message: str | None = None) -> bytes:
    """A record as a producer with a registry writes it."""
    return schema_id_prefix(schema_id) + encode_message(value, schema, message)


def decoded(registry: Registry, data: bytes | None) -> Any:
    """The value in a record, by the schema that its id names."""
    assert data is not None
    assert data[:1] == b"\0"
    return natural(decode_message(data, registry.schema(int.from_bytes(data[1:5], "big"))))
