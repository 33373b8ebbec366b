"""The columns of rows that are late for a window or a join of streams."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.attempts import ORIGIN
from lsql_runner.compile.expressions import convert
from lsql_runner.types import STRING, TIMESTAMP

LATE_RECORD = "late_record"
"""The column with the record of a row: a struct of the columns in ORIGIN."""
LATE_FOR = "late_for"
"""The column with the time intervals for which a record is late, a STRING: windows, or intervals of a join."""


def source_record() -> Column:
    """LATE_RECORD over the columns of TOPIC_SOURCE, which rows keep up to the first stateful operator."""
    return F.struct(*(F.col("timestamp" if name == "ts" else name).alias(name) for name in ORIGIN))


def interval(start: Column, end: Column) -> Column:
    """A time interval in ISO 8601, from times in milliseconds since 1970 UTC."""
    first, last = (convert(F.timestamp_millis(ms), TIMESTAMP, STRING) for ms in (start, end))
    return F.concat(first, F.lit("/"), last)
