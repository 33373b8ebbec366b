"""Bytes to typed columns and back, for every format of this version. Malformed bytes stop the query."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.engine import schema
from lsql_runner.engine.avro import decode_avro, encode_avro
from lsql_runner.engine.call import call
from lsql_runner.engine.expressions import convert
from lsql_runner.engine.protobuf import decode_protobuf, encode_protobuf
from lsql_runner.engine.schema import declared_type, spark_type
from lsql_runner.engine.wire import be_int, be_long, int_be, long_be, of_least_length
from lsql_runner.formats.avro_text import narrowed_avro
from lsql_runner.formats.catalog import PRIMITIVE_FORMATS, Format, Serde
from lsql_runner.formats.proto_schema import descriptor
from lsql_runner.formats.schema_id import MAGIC, SCHEMA_ID_BYTES, schema_id_prefix
from lsql_runner.types import BYTES, STRING, DataType, Field, Struct

DECODE_JSON = "lsql_decode_json"
ENCODE_JSON = "lsql_encode_json"
EXTEND_JSON = "lsql_extend_json"
DECODE_CSV = "lsql_decode_csv"
DECODE_XML = "lsql_decode_xml"
"""Our own JVM functions of these names are registered with each session."""

WINDOW_BYTES = {"TW": 8, "SW": 16}
"""A key ends with the start of its time window, or with the end and the start of its session: 8 bytes each,
big-endian, milliseconds since 1970 UTC."""

_ALL = 2**31 - 1
"""More bytes than a record has."""


def decode(raw: Column, serde: Serde, kind: DataType) -> Column:
    """The typed value of `raw` (binary); null stays null. `kind` is the serde's type or a narrowing of it."""
    if serde.format.is_windowed:
        return decode(_without_window(raw, serde.format), replace(serde, format=serde.format.bare), kind)
    if isinstance(serde.type, Struct) and serde.format.name in PRIMITIVE_FORMATS:
        [named] = serde.type.fields  # one value that is declared under a name
        one = decode(raw, replace(serde, type=named.type), named.type)
        return F.when(raw.isNotNull(), F.struct(one.alias(named.name)))
    match serde.format.name:
        case "STRING":
            return F.decode(raw, "UTF-8")
        case "BYTES":
            return raw
        case "INT":
            return be_int(raw)
        case "LONG":
            return be_long(raw)
        case "AVRO":
            assert serde.schema is not None
            value = decode_avro(raw, narrowed_avro(serde.schema, kind))
            # Times without a zone are times in UTC, as everywhere here.
            return value.cast(spark_type(kind)) if "local-timestamp" in serde.schema else value
        case "PROTOBUF":
            assert serde.schema is not None
            return decode_protobuf(raw, kind, descriptor(serde.schema, dict(serde.options).get("message")))
        case "CSV" | "XML":
            return _decode_text(raw, serde, kind)
    return _decode_json(without_schema_id(raw) if serde.has_schema_id else raw, kind)


def replace_schema_id(raw: Column, serde: Serde, output: SchemaOutput | None) -> Column:
    """The bytes of JSON with the schema id of `output` before them, or with none."""
    form = serde.format
    json_only = _without_window(raw, form) if form.is_windowed else raw
    changed = with_schema_id(without_schema_id(json_only) if serde.has_schema_id else json_only, output)
    if not form.is_windowed:
        return changed
    window_bytes = WINDOW_BYTES[form.name]
    return F.concat(changed, F.substring(raw, -window_bytes, window_bytes))


def _without_window(raw: Column, form: Format) -> Column:
    """The key of a windowed key."""
    window_bytes = WINDOW_BYTES[form.name]
    return F.substring(raw, F.lit(1), F.length(of_least_length(raw, window_bytes)) - F.lit(window_bytes))


def _decode_json(raw: Column, kind: DataType) -> Column:
    """JSON text to a value."""
    if isinstance(kind, Struct):
        return call(DECODE_JSON, raw, F.lit(declared_type(kind).json()))
    # A JSON text that is one value and not an object: read it as the only field of an object.
    wrapped = F.concat(F.lit(b'{"v":'), raw, F.lit(b"}"))
    return call(DECODE_JSON, wrapped, F.lit(declared_type(Struct((Field("v", kind),))).json()))["v"]


def _decode_text(raw: Column, serde: Serde, kind: DataType) -> Column:
    """A line of CSV or a document of XML to a struct."""
    asked, options = declared_type(kind).json(), json.dumps(dict(serde.options))
    if serde.format.name == "XML":
        return call(DECODE_XML, raw, F.lit(asked), F.lit(options))
    assert isinstance(serde.type, Struct)
    return call(DECODE_CSV, raw, F.lit(asked), F.lit(json.dumps(serde.type.names)), F.lit(options))


@dataclass(frozen=True, slots=True)
class Window:
    """When a key's window starts and, of a session, ends: LONG, milliseconds since 1970 UTC."""

    start: Column
    end: Column | None = None


@dataclass(frozen=True, slots=True)
class SchemaOutput:
    """What values are written with: a schema, and its id at the registry."""

    schema: str
    id: int


def encode(
    value: Column,
    form: Format,
    kind: DataType,
    window: Window | None = None,
    output: SchemaOutput | None = None,
) -> Column:
    """The bytes of a typed value; null is null (a tombstone).

    Args:
        window: for windowed formats.
        output: for AVRO and PROTOBUF, and for JSON that names its schema, alone or inside a windowed format.
    """
    if form.is_windowed:
        assert window is not None
        return windowed_key(encode(value, form.bare, kind, output=output), form, window)
    match form.name:
        case "STRING":
            return F.encode(convert(value, kind, STRING), "UTF-8")
        case "BYTES":
            return value if kind == BYTES else F.encode(value, "UTF-8")
        case "INT":
            return int_be(value)
        case "LONG":
            return long_be(value)
        case "AVRO":
            assert output is not None
            return encode_avro(value, output.schema, output.id)
        case "PROTOBUF":
            assert output is not None
            return encode_protobuf(value, descriptor(output.schema), output.id)
    return with_schema_id(_encode_json(value, kind), output)


def with_schema_id(data: Column, output: SchemaOutput | None) -> Column:
    """JSON with the id of its schema before it, if it has one; null stays null."""
    return data if output is None else F.concat(F.lit(schema_id_prefix(output.id)), data)


def without_schema_id(data: Column) -> Column:
    """JSON without the schema id that it may begin with. JSON never begins with a zero byte."""
    return F.when(F.substring(data, 1, 1) == F.lit(MAGIC), F.substring(data, SCHEMA_ID_BYTES + 1, _ALL)).otherwise(data)


def windowed_key(key: Column, form: Format, window: Window) -> Column:
    """Key bytes with a window behind them, laid out as by Kafka Streams' `TimeWindowedSerializer` (TW) or
    `SessionWindowedSerializer` (SW). A null key counts as no bytes.
    """
    times = [window.start]
    if form.name == "SW":
        assert window.end is not None
        times = [window.end, window.start]
    return F.concat(F.coalesce(key, F.lit(b"")), *map(long_be, times))


def _encode_json(value: Column, kind: DataType) -> Column:
    """A value as JSON text in UTF-8; null fields are written, a null value is null."""
    if isinstance(kind, Struct):
        return call(ENCODE_JSON, value)
    wrapped = call(ENCODE_JSON, F.struct(value.alias("v")))
    bare = F.substring(wrapped, F.lit(6), F.length(wrapped) - F.lit(6))  # without {"v": and }
    return F.when(value.isNull(), F.lit(None).cast(schema.BINARY)).otherwise(bare)


def extend_json(raw: Column, fields: list[tuple[str, Column]]) -> Column:
    """The JSON object in `raw` with fields set: replaced where it has them, else added; all others stay."""
    return call(EXTEND_JSON, raw, call(ENCODE_JSON, F.struct(*(value.alias(name) for name, value in fields))))


def merged_struct(whole: Column, names: list[str], fields: list[tuple[str, Column]]) -> Column:
    """A struct with fields set: replaced where it has them, else added; null stays null."""
    new = dict(fields)
    kept = [whole.getField(name).alias(name) for name in names if name not in new]
    merged = F.struct(*kept, *(value.alias(name) for name, value in fields))
    # Within a CASE the whole would be decoded anew for each of its fields: Spark shares no part of what is conditional.
    return F.get(F.array(merged), F.when(whole.isNotNull(), F.lit(0)))
