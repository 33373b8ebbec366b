"""Event time of a topic without new records: ticks, rows that only advance the watermark.

Each stream of ticks has a clock in the JVM (`com.lsqlrunner.tick.Ticks`). The time of a tick is its offset in the
stream, so that a repeated batch reads the same ticks.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lsql_runner.compile.schema import BINARY
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import TICK_SOURCE

_IS_TICK = "is_tick"
_LONG_AGO = -(10**15)
TICKS = "ticks of "
"""Prefix of a clock's name in the description of its source."""


def with_ticks(rows: DataFrame, times: tuple[str, ...], clock: str) -> DataFrame:
    """The rows and the ticks of a clock, whose time is in the columns `times` (TIMESTAMP).

    Other columns of a tick are null, or an empty BINARY: below a join, Spark removes rows with a null key before the
    watermark.
    """
    steps = rows.sparkSession.readStream.format(TICK_SOURCE).option("clock", clock).load()
    blanks = [
        F.lit(b"" if field.dataType == BINARY else None).cast(field.dataType).alias(field.name)
        for field in rows.schema
        if field.name not in times
    ]
    ticked = (F.timestamp_millis("time").alias(time) for time in times)
    steps = steps.select(*blanks, *ticked, F.lit(True).alias(_IS_TICK))
    return rows.withColumn(_IS_TICK, F.lit(False)).unionByName(steps)


def without_ticks(rows: DataFrame, time: str) -> DataFrame:
    """The rows without ticks, after a watermark."""
    # The condition reads the time: Spark would move another one before the watermark, and ticks would not advance it.
    return rows.where(~F.col(_IS_TICK) | (F.col(time) < F.timestamp_millis(F.lit(_LONG_AGO)))).drop(_IS_TICK)


def advance(clock: str, time_ms: int) -> None:
    """Advance a clock to milliseconds since 1970 UTC. A clock never goes back."""
    java_class(TICK_SOURCE).advance(clock, time_ms)


def reset() -> None:
    """Set all clocks to 1970."""
    java_class(TICK_SOURCE).reset()
