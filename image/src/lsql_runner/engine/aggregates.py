"""Aggregates of the language: Spark's, or our own in the JVM where Spark has none that goes by the order of records
or keeps a bounded number of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.bind.expr import AggregateCall
from lsql_runner.engine.call import call
from lsql_runner.engine.schema import spark_type

KEEP_VALUES = "lsql_keep_values"
RETRACT_VALUES = "lsql_retract_values"
"""Our own JVM aggregates of these names are registered with each session."""

_NATIVE: dict[str, Callable[[Column], Column]] = {
    "COUNT": F.count,
    "SUM": F.sum,
    "AVG": F.avg,
    "MIN": F.min,
    "MAX": F.max,
}


def aggregated(wanted: AggregateCall, value: Column, place: Sequence[Column]) -> Column:
    """The result of an aggregate over the rows of a group, in the type that it comes in.

    Args:
        wanted: the aggregate.
        value: its argument, in each row.
        place: what orders the rows: LONGs that are never null, the first of them the event time.
    """
    if wanted.function in _NATIVE:
        return _NATIVE[wanted.function](value)
    return call(KEEP_VALUES, F.lit(wanted.function), F.lit(wanted.limit or 1), value, *place)


@dataclass(frozen=True, slots=True)
class Retracted:
    """An aggregate over rows that come and go, by aggregates that rows can be taken out of."""

    sums: tuple[Column, ...]
    """Each an aggregate by itself."""
    result: Callable[..., Column]
    """The result, of a column for each of these."""


def retracted(wanted: AggregateCall, value: Column | None, place: Sequence[Column], sign: Column) -> Retracted:
    """An aggregate over the rows of a group of a table.

    Args:
        wanted: the aggregate.
        value: its argument, in each row; None for COUNT(*).
        place: as for `aggregated`; that of a row that goes is the one it came with.
        sign: INT, 1 for a row that comes, -1 for one that goes.
    """
    kind = spark_type(wanted.type)
    if wanted.function == "COUNT":
        return Retracted((_counted(value, sign),), lambda count: count.cast(kind))
    assert value is not None
    if wanted.function not in ("SUM", "AVG"):
        kept = call(RETRACT_VALUES, F.lit(wanted.function), F.lit(wanted.limit or 1), value, *place, sign)
        return Retracted((kept,), lambda values: values.cast(kind))
    count = _counted(value, sign)
    if wanted.function == "AVG":
        total = _added_up(value * sign)
        return Retracted((count, total), lambda count, total: F.when(count > 0, total / count).cast(kind))
    total = _added_up(value.cast(kind) * sign.cast(kind))
    return Retracted((count, total), lambda count, total: F.when(count > 0, total).cast(kind))


def _added_up(signed: Column) -> Column:
    return F.sum(F.coalesce(signed, F.lit(0)))


def _counted(value: Column | None, sign: Column) -> Column:
    return F.sum(sign if value is None else F.when(value.isNotNull(), sign).otherwise(F.lit(0)))
