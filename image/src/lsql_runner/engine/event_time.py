"""Times that windows and joins can be computed of."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.engine.schema import LONG

_FARTHEST_MS = 9_000_000_000_000_000
"""Spark counts microseconds in a LONG: it ends 223 million million milliseconds further: more than windows take."""


def within_reach(time: Column) -> Column:
    """A LONG in milliseconds, an error for one so far from 1970 that the bounds of its window would overflow."""
    far = F.concat(F.lit("the event time "), time.cast("string"), F.lit(" is too far from 1970"))
    near = time.between(F.lit(-_FARTHEST_MS), F.lit(_FARTHEST_MS))
    return F.when(near | time.isNull(), time).otherwise(F.raise_error(far).cast(LONG))
