"""The schema id at the beginning of a record, in Confluent's wire format: a zero byte and 4 bytes, big-endian."""

from __future__ import annotations

MAGIC = b"\0"
SCHEMA_ID_BYTES = 5
"""Length of the zero byte and the id."""


def schema_id_prefix(schema_id: int) -> bytes:
    """The bytes before a record that is written with this schema."""
    return MAGIC + schema_id.to_bytes(SCHEMA_ID_BYTES - len(MAGIC), "big")


def starts_with_schema_id(data: bytes) -> bool:
    """Whether a record may begin with the id of a schema. JSON never begins with a zero byte."""
    return len(data) >= SCHEMA_ID_BYTES and data.startswith(MAGIC)


def schema_id_of(data: bytes) -> int:
    """The id that a record begins with."""
    return int.from_bytes(data[len(MAGIC) : SCHEMA_ID_BYTES], "big")


def without_schema_id(data: bytes) -> bytes:
    """The bytes after the schema id; all of them if they do not begin with one."""
    return data[SCHEMA_ID_BYTES:] if starts_with_schema_id(data) else data
