"""STRING, INT, LONG and BYTES, in the layouts of Kafka's serializers."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.codecs.longs import with_longs
from lsql_runner.compile.codecs.spec import Codec, SchemaOutput
from lsql_runner.compile.codecs.wire import be_int, be_long, int_be, long_be
from lsql_runner.compile.expressions import convert
from lsql_runner.compile.schema import BINARY
from lsql_runner.formats.catalog import Serde
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import DECODE_TEXT
from lsql_runner.types import BYTES, STRING, DataType, Struct


def _codec(decode: Callable[[Column], Column], encode: Callable[[Column, DataType], Column]) -> Codec:
    def decode_named(raw: Column, serde: Serde, _: DataType) -> Column:
        value = decode(raw)
        if not isinstance(serde.type, Struct):
            return value
        [named] = serde.type.fields  # CREATE TABLE has given the value a name
        return F.when(raw.isNotNull(), F.struct(value.alias(named.name)))

    def encode_plain(value: Column, kind: DataType, _: SchemaOutput | None) -> Column:
        return encode(value, kind)

    return Codec(decode=decode_named, encode=encode_plain)


CODECS = {
    "STRING": _codec(lambda raw: call(DECODE_TEXT, raw), lambda value, kind: convert(value, kind, STRING).cast(BINARY)),
    "INT": _codec(be_int, lambda value, _: int_be(value)),
    "LONG": _codec(be_long, lambda value, kind: long_be(with_longs(value, kind))),
    "BYTES": _codec(lambda raw: raw, lambda value, kind: value if kind == BYTES else value.cast(BINARY)),
}
