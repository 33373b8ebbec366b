"""Event times of windows and joins, and their watermarks."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.bound import WindowSpec
from lsql_runner.compile.metric_names import EVENT_TIME_METRIC
from lsql_runner.compile.schema import LONG
from lsql_runner.compile.ticks import with_ticks, without_ticks
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import ADVANCED_TIME, LATE_WATERMARK, SHOW_VALUE
from lsql_runner.plan.nodes import PlanNode
from lsql_runner.plan.tree import is_timed

_LATEST_MS = 9_000_000_000_000_000
"""Spark stores microseconds in a LONG, whose maximum is 223 * 10^12 ms later: more than any window needs."""

EVENT_TIME = "event_time"
"""The column with the event time of a row, a TIMESTAMP, which has a watermark."""
READ_FROM = "read_from"
"""The column with the partition of the record of a row, an INT. It ends at `with_watermark`."""
WINDOW_END = "window_end"
"""The column with the end of a window of a row, a TIMESTAMP. The window ends before it."""

_WATERMARK_METADATA = "spark.watermarkDelayMs"
"""Spark's key in the metadata of a column with a watermark."""


_ADVANCED = "advanced_time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How the event time of rows advances. Each row has the partition of its record in READ_FROM."""

    column: str
    """The name of the column with the event time of a row, a TIMESTAMP."""
    input_name: str
    """The name of the rows in the plan (`plan.clocks.TimedInput`): the times of a batch are reported under it."""
    clock: str | None = None
    """The name of the clock that advances the event time while there are no rows."""


def with_watermark(rows: DataFrame, times: Times, delay_ms: int, below: PlanNode) -> DataFrame:
    """The rows with a watermark: a row is late once a time that is `delay_ms` later has been read.

    The watermark follows another column than the event time: a row may not advance it to its own time. The JVM's
    `EventTimes` says how far it does.

    Spark has watermarks of sources only. Rows of a join of streams are late when the join can return no more rows with
    that time. Spark derives that time itself; the column only has to be marked.

    Args:
        below: the plan node that returns the rows.
    """
    if is_timed(below) or not rows.isStreaming:
        return rows.drop(READ_FROM).withMetadata(times.column, {_WATERMARK_METADATA: delay_ms})
    time = F.unix_millis(times.column)
    advanced = call(ADVANCED_TIME, F.col(READ_FROM), time, F.lit(times.input_name))
    rows = rows.withColumn(_ADVANCED, advanced).drop(READ_FROM)
    if times.clock is not None:
        reached = F.col(_ADVANCED)
        newest = F.max(F.when(reached.isNotNull(), time)).alias("newest")
        rows = rows.observe(f"{EVENT_TIME_METRIC}{times.input_name}", newest, F.max(reached).alias("advanced"))
    rows = rows.withColumn(_ADVANCED, F.timestamp_millis(F.coalesce(_ADVANCED, F.lit(0))))
    if times.clock is not None:
        rows = with_ticks(rows, (_ADVANCED, times.column), times.clock)
    rows = rows.withWatermark(_ADVANCED, f"{delay_ms} milliseconds")
    if times.clock is not None:
        rows = without_ticks(rows, _ADVANCED)
    return rows.drop(_ADVANCED).withMetadata(times.column, {_WATERMARK_METADATA: delay_ms})


def with_window_end(rows: DataFrame, window: WindowSpec, grace_ms: int) -> DataFrame:
    """The rows with `WINDOW_END`, once for each window of their `EVENT_TIME`. Not for sessions.

    No window starts before 1970, as in Kafka Streams.

    A group of a window is late, and leaves the state, once the watermark has reached the end. Spark's `F.window` is a
    struct of start and end, which makes the keys of the state larger and slower to compare.
    """
    time = F.unix_millis(EVENT_TIME)
    if window.advance_ms == window.size_ms:
        rows = rows.withColumn(WINDOW_END, _last_window_end(time, window))
    else:
        rows = rows.select("*", F.explode(window_ends(time, window)).alias(WINDOW_END))
    rows = rows.withColumn(WINDOW_END, F.timestamp_millis(WINDOW_END))
    return rows.withMetadata(WINDOW_END, {_WATERMARK_METADATA: grace_ms})


def window_ends(time: Column, window: WindowSpec) -> Column:
    """The ends of the windows of a time, in their order: an ARRAY of LONGs in milliseconds. Not for sessions."""
    last, size, advance = _last_window_end(time, window), F.lit(window.size_ms), F.lit(window.advance_ms)
    first = F.greatest(time + 1 + (last - time - 1) % advance, size)
    return F.sequence(first, last, advance)


def _last_window_end(time: Column, window: WindowSpec) -> Column:
    return time - time % F.lit(window.advance_ms) + F.lit(window.size_ms)


def late_watermark() -> Column:
    """A LONG in milliseconds: rows with a window end or join time up to it are late in the current batch."""
    return call(LATE_WATERMARK)


def require_since_1970(time: Column) -> Column:
    """The same time, a LONG in milliseconds. It fails before 1970: a Kafka record cannot have such a timestamp."""
    message = F.concat(F.lit("the event time"), _show_time(time), F.lit(" is before 1970"))
    return F.when((time >= F.lit(0)) | time.isNull(), time).otherwise(F.raise_error(message).cast(LONG))


def require_window_range(time: Column) -> Column:
    """As `require_since_1970`. It also fails for a time so late that the bounds of its window would overflow."""
    message = F.concat(F.lit("the event time"), _show_time(time), F.lit(" is too far from 1970"))
    in_range = (time <= F.lit(_LATEST_MS)) | time.isNull()
    return require_since_1970(F.when(in_range, time).otherwise(F.raise_error(message).cast(LONG)))


def _show_time(time: Column) -> Column:
    """The time after a blank, or nothing if error texts do not include values."""
    return call(SHOW_VALUE, F.concat(F.lit(" "), time.cast("string")), F.lit(""))
