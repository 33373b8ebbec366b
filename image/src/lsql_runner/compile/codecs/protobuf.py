"""Protobuf in the wire format of a schema registry: a zero byte, the schema id as four bytes, the message."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.codecs.avro import REGISTRY
from lsql_runner.compile.codecs.longs import with_longs
from lsql_runner.compile.codecs.spec import Codec, SchemaOutput
from lsql_runner.compile.schema import spark_type
from lsql_runner.formats.catalog import Serde
from lsql_runner.formats.proto_schema import descriptor
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import DECODE_PROTOBUF, ENCODE_PROTOBUF
from lsql_runner.types import DataType


def decode_protobuf(raw: Column, kind: DataType, message: str, registry: str = REGISTRY) -> Column:
    """The message in `raw` (BINARY) as a struct, independent of the schema version that it was written with; null stays
    null.

    Args:
        kind: the message's type, or a type with fewer fields.
        message: the result of `formats.proto_schema.descriptor`.
        registry: as for `decode_avro`; it has the schemas that the records name.
    """
    return call(DECODE_PROTOBUF, raw, F.lit(spark_type(kind).json()), F.lit(message), F.lit(registry))


def encode_protobuf(value: Column, message: str, schema_id: int) -> Column:
    """The bytes of a struct; null stays null (a tombstone). Fields are matched by name.

    Raises:
        AnalysisException: at planning time, if the message does not accept the type of the value.
    """
    return call(ENCODE_PROTOBUF, value, F.lit(message), F.lit(schema_id))


def _decode(raw: Column, serde: Serde, kind: DataType) -> Column:
    assert serde.schema is not None
    return decode_protobuf(raw, kind, descriptor(serde.schema, dict(serde.options).get("message")))


def _encode(value: Column, kind: DataType, output: SchemaOutput | None) -> Column:
    assert output is not None
    return encode_protobuf(with_longs(value, kind), descriptor(output.schema), output.id)


CODECS = {"PROTOBUF": Codec(decode=_decode, encode=_encode)}
