"""Aggregates of the language: Spark's, or our own in the JVM where Spark has none that goes by the order of records
or keeps a bounded number of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.bind.expr import AggregateCall
from lsql_runner.engine.call import call
from lsql_runner.engine.schema import spark_type

KEEP_VALUES = "lsql_keep_values"
"""Our own JVM aggregate of this name is registered with each session."""

_NATIVE: dict[str, Callable[[Column], Column]] = {
    "COUNT": F.count,
    "SUM": F.sum,
    "AVG": F.avg,
    "MIN": F.min,
    "MAX": F.max,
}


def aggregated(wanted: AggregateCall, value: Column, place: Sequence[Column]) -> Column:
    """The result of an aggregate over the rows of a group.

    Args:
        wanted: the aggregate.
        value: its argument, in each row.
        place: what orders the rows: LONGs that are never null, the first of them the event time.
    """
    if wanted.function in _NATIVE:
        found = _NATIVE[wanted.function](value)
    else:
        found = call(KEEP_VALUES, F.lit(wanted.function), F.lit(wanted.limit or 1), value, *place)
    return found.cast(spark_type(wanted.type))
