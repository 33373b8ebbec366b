"""Converts values of case files to bytes and back: one codec per format. Pure Python, without the engine.

Values are YAML values: JSON takes any value, STRING text, INT and LONG whole numbers, BYTES hexadecimal digits, AVRO
and PROTOBUF values of their schema, CSV and XML the text of the record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lsql_runner.cases.scalars import InvalidValue, bytes_of
from lsql_runner.errors import DetailTable
from lsql_runner.formats.avro import avro_text

_REASONS = DetailTable(
    {
        "NOT_TEXT": "STRING is text, not {value}: quote it",
        "NOT_RECORD_TEXT": "{format} is the text of the record, not {value}",
        "NOT_WHOLE": "{format} is a whole number of {size} bytes, not {value}",
        "SIZE": "{format} has {size} bytes, not {found}",
    }
)


@dataclass(frozen=True, slots=True)
class WriterSchema:
    """The schema with which a value is written, and its id in the registry."""

    id: int
    schema: str
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the declared serde. PROTOBUF: `message`; the first message if the file does not have this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCodec:
    """A format whose records need no schema.

    Both functions raise InvalidValue; `decode` may also raise UnicodeDecodeError and JSONDecodeError.
    """

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    may_be_empty: bool = False
    """Whether a value may have no bytes. In a windowed key of other formats, no bytes stand for a null key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCodec:
    """A format whose records begin with the id of their schema. The functions raise InvalidValue."""

    check: Callable[[str], None]
    """Checks that values can be written with a schema."""
    encode: Callable[[Any, WriterSchema], bytes]
    decode: Callable[[bytes, str], Any]
    """Takes the bytes after the id, and the schema with which they were written."""
    schema_text: Callable[[Any], str]
    """Returns the text of a schema of a case file."""


def _show(value: Any) -> str:
    """A value for an error."""
    return json.dumps(value, ensure_ascii=False)


def is_whole(value: Any, size: int) -> bool:
    """Whether a value is a signed whole number of `size` bytes."""
    limit = 1 << (8 * size - 1)
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _string(value: Any) -> bytes:
    if not isinstance(value, str):
        raise InvalidValue(_REASONS("NOT_TEXT", value=_show(value)))
    return value.encode()


def _whole(name: str, size: int) -> PlainCodec:
    def encode(value: Any) -> bytes:
        if not is_whole(value, size):
            raise InvalidValue(_REASONS("NOT_WHOLE", format=name, size=size, value=_show(value)))
        return int(value).to_bytes(size, "big", signed=True)

    def decode(data: bytes) -> int:
        if len(data) != size:
            raise InvalidValue(_REASONS("SIZE", format=name, size=size, found=len(data)))
        return int.from_bytes(data, "big", signed=True)

    return PlainCodec(encode=encode, decode=decode)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _record_text(name: str) -> PlainCodec:
    """A format whose values are the text of the record in case files. Programs do not write it."""

    def encode(value: Any) -> bytes:
        if not isinstance(value, str):
            raise InvalidValue(_REASONS("NOT_RECORD_TEXT", format=name, value=_show(value)))
        return value.encode()

    return PlainCodec(encode=encode, decode=bytes.decode)


# fastavro and protobuf are imported on first use, because most cases need neither.


def _check_avro(text: str) -> None:
    from lsql_runner.cases.avro_values import avro_schema

    avro_schema(text)


def _encode_avro(value: Any, writer: WriterSchema) -> bytes:
    from lsql_runner.cases.avro_values import avro_schema

    return avro_schema(writer.schema).encode(value)


def _decode_avro(data: bytes, schema: str) -> Any:
    from lsql_runner.cases.avro_values import avro_schema

    return avro_schema(schema).decode(data)


def _check_proto(text: str) -> None:
    from lsql_runner.cases.proto_values import proto_schema

    proto_schema(text)


def _encode_proto(value: Any, writer: WriterSchema) -> bytes:
    from lsql_runner.cases.proto_values import proto_schema

    return proto_schema(writer.schema).encode(value, writer.options.get("message"))


def _decode_proto(data: bytes, schema: str) -> Any:
    from lsql_runner.cases.proto_values import proto_schema

    return proto_schema(schema).decode(data)


PLAIN: dict[str, PlainCodec] = {
    "STRING": PlainCodec(encode=_string, decode=bytes.decode, may_be_empty=True),
    "INT": _whole("INT", 4),
    "LONG": _whole("LONG", 8),
    "BYTES": PlainCodec(encode=bytes_of, decode=bytes.hex, may_be_empty=True),
    "JSON": PlainCodec(encode=_json, decode=json.loads),
    "CSV": _record_text("CSV"),
    "XML": _record_text("XML"),
}
WITH_SCHEMA: dict[str, SchemaCodec] = {
    "AVRO": SchemaCodec(check=_check_avro, encode=_encode_avro, decode=_decode_avro, schema_text=avro_text),
    "PROTOBUF": SchemaCodec(check=_check_proto, encode=_encode_proto, decode=_decode_proto, schema_text=str),
}
"""By the name of the format; each format is in one of the two tables."""
