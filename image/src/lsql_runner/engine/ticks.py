"""Time that goes on while a topic has no records: rows that only move the watermark.

A clock in the JVM has the time of each stream of ticks (`com.lsqlrunner.tick.Ticks`). The time of a step is the offset
of the stream, so that a batch that runs again sees the same.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lsql_runner.engine.call import java_class
from lsql_runner.engine.schema import BINARY
from lsql_runner.jvm.java_entries import TICK_SOURCE

_IS_TICK = "is_tick"
_LONG_AGO = -(10**15)
TICKS = "ticks of "
"""Before the name of a clock, in the description of its source."""


def with_ticks(rows: DataFrame, time: str, clock: str) -> DataFrame:
    """The rows, and one for each step of a clock, which has its time in the column `time` (TIMESTAMP) and no other."""
    steps = rows.sparkSession.readStream.format(TICK_SOURCE).option("clock", clock).load()
    # Of a join Spark leaves out what is joined by null, before the watermark.
    blanks = [
        F.lit(b"" if field.dataType == BINARY else None).cast(field.dataType).alias(field.name)
        for field in rows.schema
        if field.name != time
    ]
    steps = steps.select(*blanks, F.timestamp_millis("time").alias(time), F.lit(True).alias(_IS_TICK))
    return rows.withColumn(_IS_TICK, F.lit(False)).unionByName(steps)


def without_ticks(rows: DataFrame, time: str) -> DataFrame:
    """The rows alone, once a watermark has seen the ticks."""
    # Spark would put a condition that does not read the time before the watermark, which no tick would reach then.
    return rows.where(~F.col(_IS_TICK) | (F.col(time) < F.timestamp_millis(F.lit(_LONG_AGO)))).drop(_IS_TICK)


def advance(session: SparkSession, clock: str, time_ms: int) -> None:
    """Let a clock go on to a time, in milliseconds since 1970 UTC; it never goes back."""
    java_class(TICK_SOURCE).advance(clock, time_ms)


def reset(session: SparkSession) -> None:
    """All clocks stand at 1970 again."""
    java_class(TICK_SOURCE).reset()
