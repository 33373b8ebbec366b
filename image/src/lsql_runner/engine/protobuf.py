"""Protobuf in the wire format of a schema registry: a zero, the id of the schema as four bytes, the message."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.engine.avro import REGISTRY
from lsql_runner.engine.call import call
from lsql_runner.engine.schema import spark_type
from lsql_runner.jvm.java_entries import DECODE_PROTOBUF, ENCODE_PROTOBUF
from lsql_runner.types import DataType


def decode_protobuf(raw: Column, kind: DataType, message: str, registry: str = REGISTRY) -> Column:
    """The struct in `raw` (binary), whichever version of the schema it was written with; null stays null.

    Args:
        kind: the message's type or a narrowing of it.
        message: what `formats.proto_schema.descriptor` says of it.
        registry: as for `engine.avro.decode_avro`; it is asked which message a record holds.
    """
    return call(DECODE_PROTOBUF, raw, F.lit(spark_type(kind).json()), F.lit(message), F.lit(registry))


def encode_protobuf(value: Column, message: str, schema_id: int) -> Column:
    """The record of a struct; null is null (a tombstone). Fields go by their names.

    Raises:
        AnalysisException: when the plan is made: the message cannot hold values of that type.
    """
    return call(ENCODE_PROTOBUF, value, F.lit(message), F.lit(schema_id))
