"""Times that windows and joins can be computed of."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.engine.schema import LONG
from lsql_runner.engine.ticks import with_ticks, without_ticks
from lsql_runner.plan.nodes import PlanNode
from lsql_runner.plan.tree import is_timed

_FARTHEST_MS = 9_000_000_000_000_000
"""Spark counts microseconds in a LONG: it ends 223 million million milliseconds further: more than windows take."""

_UNDER_WATERMARK = "spark.watermarkDelayMs"
"""What Spark writes beside a column that a watermark is of."""


def under_watermark(
    rows: DataFrame, column: str, delay_ms: int, below: PlanNode, clock: str | None = None
) -> DataFrame:
    """The rows, late by a TIMESTAMP column: once a time that is `delay_ms` larger has been seen.

    Spark has watermarks of sources. Rows that come of operators which know the time already, joins of streams, are late
    when these can give no more of that time; Spark counts on for itself when that is.

    Args:
        below: what the rows are of.
        clock: what lets their time go on while there are none.
    """
    if is_timed(below):
        return rows.withMetadata(column, {_UNDER_WATERMARK: delay_ms})
    if clock is None or not rows.isStreaming:
        return rows.withWatermark(column, f"{delay_ms} milliseconds")
    ticking = with_ticks(rows, column, clock).withWatermark(column, f"{delay_ms} milliseconds")
    return without_ticks(ticking, column)


def since_1970(time: Column) -> Column:
    """A LONG in milliseconds, an error for one before 1970: no record of Kafka can have it."""
    before = F.concat(F.lit("the event time "), time.cast("string"), F.lit(" is before 1970"))
    return F.when((time >= F.lit(0)) | time.isNull(), time).otherwise(F.raise_error(before).cast(LONG))


def within_reach(time: Column) -> Column:
    """The same, and an error for one so far from 1970 that the bounds of its window would overflow."""
    far = F.concat(F.lit("the event time "), time.cast("string"), F.lit(" is too far from 1970"))
    near = (time <= F.lit(_FARTHEST_MS)) | time.isNull()
    return since_1970(F.when(near, time).otherwise(F.raise_error(far).cast(LONG)))
