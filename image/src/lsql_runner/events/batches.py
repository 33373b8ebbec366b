"""The engine's reports of micro-batches, and the data types that engine, brokers and runtime share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

FailureAction = Literal["dead_letter", "skipped"]
"""What happened to a failed record: it was written to the dead letter topic, or left out."""


@dataclass(frozen=True, slots=True)
class Partition:
    topic: str
    partition: int


def lowest(positions: Iterable[Mapping[Partition, int]]) -> dict[Partition, int]:
    """By partition: the lowest of the positions that some queries have in it."""
    found: dict[Partition, int] = {}
    for of_query in positions:
        for place, offset in of_query.items():
            found[place] = min(offset, found.get(place, offset))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """A state store at the end of a batch."""

    name: str
    rows: int
    memory_bytes: int
    rows_updated: int
    late_rows_dropped: int


@dataclass(frozen=True, slots=True)
class FailureCount:
    """The number of failed records of one topic in one batch, with the same error code and the same action."""

    action: FailureAction
    topic: str
    code: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEnded:
    """A micro-batch ended, and its position is in the checkpoint.

    `positions` has the next offset to read for each source partition. `phases_ms` has Spark's names of the phases
    (`latestOffset`, `queryPlanning`, `addBatch`, `walCommit`, ...).
    """

    at_ms: int
    query: str
    batch_id: int
    records_in: int
    records_out: int
    duration_ms: int
    phases_ms: dict[str, int]
    positions: dict[Partition, int]
    stores: tuple[StoreReport, ...] = ()
    watermark_ms: int | None = None
    event_time_max_ms: int | None = None
    input_times_ms: Mapping[str, int] = field(default_factory=dict)
    """The newest event time of the records of each input with a watermark, by its name in the plan."""
    advanced_ms: Mapping[str, int] = field(default_factory=dict)
    """The event time that they have advanced each input to: an earlier one while partitions have unread records."""
    ticked_ms: int | None = None
    """The event time that the query's clock has advanced its inputs to."""
    behind: frozenset[str] = frozenset()
    """The topics with records that were there when the batch began, and that it did not read."""
    late_records: int = 0
    """Late records that the runner's own operators (sessions) counted; Spark's counts are in `stores`."""
    future_records: int = 0
    """Records that are too far in the future to advance the event time."""
    failed_records: tuple[FailureCount, ...] = ()
    """Records whose errors did not stop the query."""
    in_real_time: bool = False
    """Its records were processed as they arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsProcessed:
    """A query has processed records as they arrived. Its positions are not in the checkpoint before its batch ends.

    The records are those since the last event of the query; they do not count in the `BatchEnded` of the batch.
    """

    at_ms: int
    query: str
    records_in: int
    records_out: int
    duration_ms: int
    positions: dict[Partition, int]
