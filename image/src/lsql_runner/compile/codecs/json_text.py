"""JSON by our own functions in the JVM, with or without a schema id before it."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.codecs.spec import Codec, SchemaOutput
from lsql_runner.compile.schema import BINARY, declared_type, spark_type
from lsql_runner.formats.catalog import Serde
from lsql_runner.formats.schema_id import MAGIC, SCHEMA_ID_BYTES, schema_id_prefix
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import CANONICAL_JSON, DECODE_JSON, ENCODE_JSON, EXTEND_JSON
from lsql_runner.plan.number_types import differs_in_json
from lsql_runner.types import DataType, Field, Struct

_ALL = 2**31 - 1
"""A length that no record exceeds."""


def _decode(raw: Column, serde: Serde, kind: DataType) -> Column:
    text = without_schema_id(raw) if serde.has_schema_id else raw
    if isinstance(kind, Struct):
        return call(DECODE_JSON, text, *_types(kind))
    # A value that is not an object becomes the only field of a struct. Its name is empty: errors name fields.
    bare = Struct((Field("", kind),))
    types = [F.lit(each.json()) for each in (declared_type(bare), spark_type(bare))]
    return call(DECODE_JSON, text, *types, F.lit(True))[""]


def _types(kind: DataType) -> list[Column]:
    """The type of the values of JSON, and, if it is another one, their type in Spark."""
    types = [declared_type(kind), *([spark_type(kind)] if differs_in_json(kind) else [])]
    return [F.lit(each.json()) for each in types]


def _encode(value: Column, kind: DataType, output: SchemaOutput | None) -> Column:
    """JSON in UTF-8. Null fields are written; null stays null."""
    return with_schema_id(_encode_text(value, kind), output)


def _encode_text(value: Column, kind: DataType) -> Column:
    if isinstance(kind, Struct):
        return call(ENCODE_JSON, value, *_types(kind)[:1] if differs_in_json(kind) else ())
    wrapped = _encode_text(F.struct(value.alias("v")), Struct((Field("v", kind),)))
    bare = F.substring(wrapped, F.lit(6), F.length(wrapped) - F.lit(6))  # without {"v": and }
    return F.when(value.isNull(), F.lit(None).cast(BINARY)).otherwise(bare)


def with_schema_id(data: Column, output: SchemaOutput | None) -> Column:
    """JSON with the schema id of `output` before it, if there is one; null stays null."""
    return data if output is None else F.concat(F.lit(schema_id_prefix(output.id)), data)


def without_schema_id(data: Column) -> Column:
    """JSON without the schema id that may be before it. JSON never begins with a zero byte."""
    rest = F.substring(data, SCHEMA_ID_BYTES + 1, _ALL)
    return F.when(F.substring(data, 1, 1) == F.lit(MAGIC), rest).otherwise(data)


def _replace_schema_id(data: Column, may_have_one: bool, output: SchemaOutput | None) -> Column:
    return with_schema_id(without_schema_id(data) if may_have_one else data, output)


def _canonical(raw: Column) -> Column:
    return call(CANONICAL_JSON, raw)


def _extend(raw: Column, fields: Column, kind: Struct, inside: Struct) -> Column:
    return call(EXTEND_JSON, raw, _encode_text(fields, kind), F.lit(spark_type(inside).json()))


CODECS = {
    "JSON": Codec(
        decode=_decode,
        encode=_encode,
        replace_schema_id=_replace_schema_id,
        canonical=_canonical,
        extend=_extend,
        is_checked_unread=True,
    ),
}
