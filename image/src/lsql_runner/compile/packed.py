"""Rows as bytes. State stores hold packed rows, and keys are compared as packed rows."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import PACK_ROW, UNPACK_ROW


def pack(columns: Mapping[str, Column]) -> Column:
    """The columns as one BINARY, never null. Equal values give equal bytes."""
    return call(PACK_ROW, F.struct(*(value.alias(name) for name, value in columns.items())))


def unpack(row: Column, schema: spark.StructType) -> Column:
    """The struct in the result of `pack`; null for null."""
    return call(UNPACK_ROW, row, F.lit(schema.json()))
