"""Values of a case file to bytes and back, by format: a table of the same keys as the formats'. Pure Python, no engine.

A value is what YAML gives: JSON formats take any value, STRING text, INT and LONG whole numbers, BYTES hexadecimal
digits, AVRO and PROTOBUF what their schema says, CSV and XML the text of the record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lsql_runner.cases.scalars import InvalidValue, bytes_of
from lsql_runner.formats.avro import avro_text


@dataclass(frozen=True, slots=True)
class Writer:
    """The schema that a value is written with, and its id at the registry."""

    id: int
    schema: str
    options: Mapping[str, str] = field(default_factory=dict)
    """Of the declared serde. PROTOBUF: the `message` of the file, if it has that; else the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCodec:
    """A format whose records need no schema.

    Both functions raise InvalidValue; `decode` may also raise what Python raises of bytes that are no text or JSON.
    """

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    may_be_empty: bool = False
    """Whether a value may have no bytes. In a windowed key no bytes are a null key for other formats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCodec:
    """A format whose records follow the id of their schema. The functions raise InvalidValue."""

    check: Callable[[str], None]
    """Whether values can be written with a schema."""
    encode: Callable[[Any, Writer], bytes]
    decode: Callable[[bytes, str], Any]
    """The value after the id, and the schema that it was written with."""
    schema_text: Callable[[Any], str]
    """The text of a schema from what a case file has."""


def shown(value: Any) -> str:
    """A value for a message."""
    return json.dumps(value, ensure_ascii=False)


def is_whole(value: Any, size: int) -> bool:
    """Whether a value is a whole number of so many bytes, signed."""
    limit = 1 << (8 * size - 1)
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _text(name: str, hint: str) -> Callable[[Any], bytes]:
    def encode(value: Any) -> bytes:
        if not isinstance(value, str):
            raise InvalidValue(hint.format(name=name, value=shown(value)))
        return value.encode()

    return encode


def _whole(name: str, size: int) -> PlainCodec:
    def encode(value: Any) -> bytes:
        if not is_whole(value, size):
            raise InvalidValue(f"{name} holds a whole number of {size} bytes, not {shown(value)}")
        return int(value).to_bytes(size, "big", signed=True)

    def decode(data: bytes) -> int:
        if len(data) != size:
            raise InvalidValue(f"{name} has {size} bytes, not {len(data)}")
        return int.from_bytes(data, "big", signed=True)

    return PlainCodec(encode=encode, decode=decode)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _record_text(name: str) -> PlainCodec:
    """A format that a case gives as the text of the record. It is not written by programs."""
    return PlainCodec(
        encode=_text(name, "{name} is text, as it stands in the record, not {value}"), decode=bytes.decode
    )


# fastavro and protobuf are imported where they are needed: most cases do not wait for them.


def _check_avro(text: str) -> None:
    from lsql_runner.cases.avro_values import avro_schema

    avro_schema(text)


def _encode_avro(value: Any, writer: Writer) -> bytes:
    from lsql_runner.cases.avro_values import avro_schema

    return avro_schema(writer.schema).encode(value)


def _decode_avro(data: bytes, schema: str) -> Any:
    from lsql_runner.cases.avro_values import avro_schema

    return avro_schema(schema).decode(data)


def _check_proto(text: str) -> None:
    from lsql_runner.cases.proto_values import proto_schema

    proto_schema(text)


def _encode_proto(value: Any, writer: Writer) -> bytes:
    from lsql_runner.cases.proto_values import proto_schema

    return proto_schema(writer.schema).encode(value, writer.options.get("message"))


def _decode_proto(data: bytes, schema: str) -> Any:
    from lsql_runner.cases.proto_values import proto_schema

    return proto_schema(schema).decode(data)


PLAIN: dict[str, PlainCodec] = {
    "STRING": PlainCodec(
        encode=_text("STRING", "{name} holds text, not {value}: quote it"), decode=bytes.decode, may_be_empty=True
    ),
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
