"""Finding the record that a batch died of.

The hot path does not carry places along: it would cost every record to help the one. Instead the range
that the batch read is run again, halved until one record is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from lsql_runner.engine.failures import Failure, classify
from lsql_runner.events.batches import Partition


@dataclass(frozen=True, slots=True)
class Culprit:
    partition: Partition
    offset: int
    failure: Failure


Span = tuple[int, int]
Attempt = Callable[[Mapping[Partition, Span]], DataFrame]
"""What the query computes for each record in some ranges, before anything is kept or written."""


def locate(attempt: Attempt, ranges: Mapping[Partition, Span]) -> Culprit | None:
    """The first record, by partition and offset, on which the attempt fails; None if it fails on none."""
    for partition, (start, end) in sorted(ranges.items(), key=lambda item: (item[0].topic, item[0].partition)):
        failure = _try(attempt, {partition: (start, end)}) if start < end else None
        if failure is not None:
            return _narrow(attempt, partition, start, end, failure)
    return None


def _narrow(attempt: Attempt, partition: Partition, start: int, end: int, failure: Failure) -> Culprit:
    while end - start > 1:
        middle = (start + end) // 2
        lower = _try(attempt, {partition: (start, middle)})
        if lower is not None:
            end, failure = middle, lower
        else:
            start = middle
            failure = _try(attempt, {partition: (start, end)}) or failure
    return Culprit(partition, start, failure)


def _try(attempt: Attempt, ranges: Mapping[Partition, Span]) -> Failure | None:
    return failure_of(attempt(ranges))


def failure_of(frame: DataFrame) -> Failure | None:
    """Why some row of a frame cannot be computed; None if all can, or if it fails for another reason than a record."""
    try:
        frame.write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JJavaError) as error:
        failure = classify(error)
        return failure if failure.kind in ("malformed", "refused") else None
    return None
