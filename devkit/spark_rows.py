"""Records as rows of a Spark session, for tests of single expressions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


@contextmanager
def conf(session: SparkSession, key: str, value: str) -> Iterator[None]:
    """Set a configuration of the session within the block."""
    before = session.conf.get(key)
    session.conf.set(key, value)
    try:
        yield
    finally:
        session.conf.set(key, str(before))


def records(session: SparkSession, *raw: bytes | None) -> DataFrame:
    """A row for each record, with a column `raw` that Spark does not compute during planning."""
    rows = session.createDataFrame([(number,) for number in range(len(raw))], "n int").repartition(1)
    cases = F.lit(None).cast("binary")
    for number, record in enumerate(raw):
        cases = F.when(F.col("n") == number, F.lit(record)).otherwise(cases)
    return rows.select("n", cases.alias("raw")).sort("n")
