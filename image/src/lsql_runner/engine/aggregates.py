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
from lsql_runner.jvm.java_entries import EXACT_SUM, KEEP_VALUES, RETRACT_VALUES
from lsql_runner.types import LONG, DataType, Decimal, is_integer

_NATIVE: dict[str, Callable[[Column], Column]] = {
    "COUNT": F.count,
    "SUM": F.sum,
    "AVG": F.avg,
    "MIN": F.min,
    "MAX": F.max,
}


_ROOM_FOR_SUMS = 28
"""Digits of a decimal whose sums have ten more: it takes that many records that a group does not have."""


def can_overflow(wanted: AggregateCall, of_table: bool) -> bool:
    """Whether Spark's own sum of a group may fail by the values of few records. Then it fails where nothing catches it.

    A sum of INTs takes four thousand million records for that; those of DOUBLEs have an infinity. Over a table the
    signed values may overflow as well.
    """
    if wanted.function not in ("SUM", "AVG") or wanted.arg is None:
        return False
    kind = wanted.arg.type
    if of_table:
        return is_integer(kind) or isinstance(kind, Decimal)
    if isinstance(kind, Decimal):
        return kind.precision > _ROOM_FOR_SUMS
    return wanted.function == "SUM" and kind == LONG  # a mean of whole numbers is added up in doubles


def exact(wanted: AggregateCall, value: Column, sign: Column | None = None) -> Column:
    """A SUM or AVG that no value makes fail, as text for `result`.

    Args:
        wanted: the aggregate.
        value: its argument, in each row.
        sign: as for `retracted`, over the rows of a table.
    """
    digits = _SUM if wanted.function == "SUM" else _digits_of_mean(wanted.type)
    return call(EXACT_SUM, F.lit(digits), value, *([] if sign is None else [sign]))


_SUM, _AS_DOUBLE = -2, -1


def _digits_of_mean(kind: DataType) -> int:
    return kind.scale if isinstance(kind, Decimal) else _AS_DOUBLE


def result(wanted: AggregateCall, text: Column) -> Column:
    """What `exact` gave, in the aggregate's type. It fails where that type cannot hold it."""
    kind = spark_type(wanted.type)
    return text.cast("decimal(38,0)").cast(kind) if wanted.type == LONG else text.cast(kind)


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
        total = _added_up(value, sign)
        return Retracted((count, total), lambda count, total: F.when(count > 0, total / count).cast(kind))
    total = _added_up(value.cast(kind), sign)
    return Retracted((count, total), lambda count, total: F.when(count > 0, total).cast(kind))


def exactly_retracted(wanted: AggregateCall, value: Column, sign: Column) -> Retracted:
    """The same of a SUM or AVG that no value makes fail; its result may, see `exact`."""
    return Retracted((exact(wanted, value, sign),), lambda text: result(wanted, text))


def _added_up(value: Column, sign: Column) -> Column:
    # Not multiplied by the sign: the product of decimals has fewer digits behind the point.
    return F.sum(F.when(sign < 0, -value).otherwise(value))


def _counted(value: Column | None, sign: Column) -> Column:
    return F.sum(sign if value is None else F.when(value.isNotNull(), sign).otherwise(F.lit(0)))
