"""Aggregates of the language. Some are our own, in the JVM: Spark has none that use the order of the records or keep a
limited number of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.bind.expr import AggregateCall
from lsql_runner.compile.schema import spark_type
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import EXACT_SUM, KEEP_VALUES, KEEP_VALUES_WITH_RETRACTION
from lsql_runner.types import DOUBLE, LONG, NUMERIC, DataType, Decimal, is_integer

_NATIVE: dict[str, Callable[[Column], Column]] = {
    "COUNT": F.count,
    "SUM": F.sum,
    "AVG": F.avg,
    "MIN": F.min,
    "MAX": F.max,
}


_SAFE_SUM_PRECISION = 28
"""Sums of decimals have ten more digits than their values. With up to 28 digits, a sum of at most 38 digits overflows
only after ten thousand million records of one group."""


def can_overflow(aggregate: AggregateCall, of_table: bool) -> bool:
    """Whether few values can make Spark's own SUM or AVG fail. It fails inside the operator, where an error cannot be
    handled.

    A sum of INTs needs four thousand million records to overflow; a sum of DOUBLEs becomes infinite instead. Over a
    table, the negated value of a removed row can overflow as well.
    """
    if aggregate.function not in ("SUM", "AVG") or aggregate.arg is None:
        return False
    kind = aggregate.arg.type
    if of_table:
        return is_integer(kind) or kind == NUMERIC or isinstance(kind, Decimal)
    if isinstance(kind, Decimal):
        return kind.precision > _SAFE_SUM_PRECISION
    return aggregate.function == "SUM" and kind in (LONG, NUMERIC)  # Spark computes AVG of integers in doubles


def exact_sum(aggregate: AggregateCall, value: Column, sign: Column | None = None) -> Column:
    """A SUM or AVG of unlimited size, which never fails: a text for `exact_sum_result`.

    Args:
        aggregate: the call.
        value: its argument in each row.
        sign: as for `retracting_aggregate`, over the rows of a table.
    """
    digits = _SUM if aggregate.function == "SUM" else _digits_of_mean(aggregate.type)
    return call(EXACT_SUM, F.lit(digits), value, *([] if sign is None else [sign]))


_SUM, _AS_DOUBLE = -2, -1
"""The first argument of EXACT_SUM: for a sum, and for a mean that is cast to DOUBLE. For other means it is the number
of digits after the decimal point."""


def _digits_of_mean(kind: DataType) -> int:
    return kind.scale if isinstance(kind, Decimal) else _AS_DOUBLE


def exact_sum_result(aggregate: AggregateCall, text: Column) -> Column:
    """The result of `exact_sum` in the type of the aggregate. It fails if the result is out of range."""
    kind = spark_type(aggregate.type)
    return text.cast("decimal(38,0)").cast(kind) if aggregate.type == LONG else text.cast(kind)


def aggregate_column(aggregate: AggregateCall, value: Column, order: Sequence[Column]) -> Column:
    """The result of an aggregate over the rows of a group, in Spark's type.

    Args:
        aggregate: the call.
        value: its argument in each row.
        order: the order of the rows: LONGs that are never null, the event time first.
    """
    if aggregate.function == "AVG" and aggregate.type == DOUBLE:
        value = value.cast(spark_type(DOUBLE))  # as Spark does with all numbers but decimals
    if aggregate.function in _NATIVE:
        return _NATIVE[aggregate.function](value)
    return call(KEEP_VALUES, F.lit(aggregate.function), F.lit(aggregate.limit or 1), value, *order)


@dataclass(frozen=True, slots=True)
class Retracted:
    """An aggregate from which rows can be removed."""

    aggregates: tuple[Column, ...]
    """The aggregates that Spark computes: sums, or values that are kept."""
    result: Callable[..., Column]
    """The result, from one column for each of the aggregates."""


def retracting_aggregate(
    aggregate: AggregateCall, value: Column | None, order: Sequence[Column], sign: Column
) -> Retracted:
    """An aggregate over the rows of a group of a table.

    Args:
        aggregate: the call.
        value: its argument in each row; None for COUNT(*).
        order: as for `aggregate_column`; a removed row has the values with which it was added.
        sign: INT, 1 for an added row, -1 for a removed row.
    """
    kind = spark_type(aggregate.type)
    if aggregate.function == "COUNT":
        return Retracted((_signed_count(value, sign),), lambda count: count.cast(kind))
    assert value is not None
    if aggregate.function not in ("SUM", "AVG"):
        arguments = F.lit(aggregate.function), F.lit(aggregate.limit or 1), value, *order, sign
        kept = call(KEEP_VALUES_WITH_RETRACTION, *arguments)
        return Retracted((kept,), lambda values: values.cast(kind))
    count = _signed_count(value, sign)
    if aggregate.function == "AVG":
        total = _signed_sum(value, sign)

        def as_mean(total: Column) -> Column:  # a quotient of decimals would have few digits
            return total.cast(kind) if aggregate.type == DOUBLE else total

        return Retracted((count, total), lambda count, total: F.when(count > 0, as_mean(total) / count).cast(kind))
    total = _signed_sum(value.cast(kind), sign)
    return Retracted((count, total), lambda count, total: F.when(count > 0, total).cast(kind))


def exact_retracting_aggregate(aggregate: AggregateCall, value: Column, sign: Column) -> Retracted:
    """As `retracting_aggregate`, for a SUM or AVG that never fails; its result may fail, as `exact_sum_result`."""
    return Retracted((exact_sum(aggregate, value, sign),), lambda text: exact_sum_result(aggregate, text))


def _signed_sum(value: Column, sign: Column) -> Column:
    # Not a product with the sign: Spark gives products of decimals fewer digits after the decimal point.
    return F.sum(F.when(sign < 0, -value).otherwise(value))


def _signed_count(value: Column | None, sign: Column) -> Column:
    return F.sum(sign if value is None else F.when(value.isNotNull(), sign).otherwise(F.lit(0)))
