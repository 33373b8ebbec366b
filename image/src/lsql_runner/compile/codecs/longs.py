"""Whole numbers for formats that have no other exact number: AVRO, PROTOBUF, LONG."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.expressions import convert
from lsql_runner.compile.schema import LONG, NUMERIC
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import SHOW_VALUE
from lsql_runner.plan.number_types import has_numeric
from lsql_runner.types import NUMERIC as LSQL_NUMERIC
from lsql_runner.types import STRING, Array, DataType, Map, Struct

_LEAST, _MOST = -(2**63), 2**63 - 1


def with_longs(value: Column, kind: DataType) -> Column:
    """The value with a LONG in place of every NUMERIC; a number that is not a LONG is an error of the record."""
    if not has_numeric(kind):
        return value
    match kind:
        case Struct(fields):
            changed = (with_longs(value.getField(f.name), f.type).alias(f.name) for f in fields)
            return F.when(value.isNotNull(), F.struct(*changed))
        case Array(element):
            return F.transform(value, lambda item: with_longs(item, element))
        case Map(inner):
            return F.transform_values(value, lambda _, item: with_longs(item, inner))
    assert kind == LSQL_NUMERIC
    is_long = value.between(F.lit(_LEAST).cast(NUMERIC), F.lit(_MOST).cast(NUMERIC)) & (value % F.lit(1) == F.lit(0))
    shown = call(SHOW_VALUE, convert(value, kind, STRING), F.lit("the number"))
    refusal = F.raise_error(F.concat(shown, F.lit(" is not a long, the type in the target"))).cast(LONG)
    return F.when(value.isNull() | is_long, value.cast(LONG)).otherwise(refusal)
