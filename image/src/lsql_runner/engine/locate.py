"""Finds the record at which a batch failed (decision 0004).

Rows do not carry their offset: that would cost time for every record. Instead the range of the failed batch is computed
again and halved until one record is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from lsql_runner.events.batches import Partition
from lsql_runner.jvm.failures import Failure, classify


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that a query cannot process."""

    partition: Partition
    offset: int
    failure: Failure


OffsetRange = tuple[int, int]
"""The first offset, and the one after the last."""
Compute = Callable[[Mapping[Partition, OffsetRange]], DataFrame]
"""Returns the query's rows for the records in some ranges, before state is updated or records are written."""


def locate(compute: Compute, ranges: Mapping[Partition, OffsetRange]) -> BadRecord | None:
    """The first record, by partition and offset, for which the computation fails; None if it fails for none."""
    for partition, (start, end) in sorted(ranges.items(), key=lambda item: (item[0].topic, item[0].partition)):
        failure = failure_of(compute({partition: (start, end)})) if start < end else None
        if failure is not None:
            return _bisect(compute, partition, start, end, failure)
    return None


def _bisect(compute: Compute, partition: Partition, start: int, end: int, failure: Failure) -> BadRecord:
    while end - start > 1:
        middle = (start + end) // 2
        lower = failure_of(compute({partition: (start, middle)}))
        if lower is not None:
            end, failure = middle, lower
        else:
            start = middle
            failure = failure_of(compute({partition: (start, end)})) or failure
    return BadRecord(partition, start, failure)


def failure_of(frame: DataFrame) -> Failure | None:
    """Why a row of a frame cannot be computed; None if all rows can, or if no record caused the error."""
    try:
        frame.write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JJavaError) as error:
        failure = classify(error)
        return failure if failure.kind in ("malformed", "refused") else None
    return None
