"""What the engine reports after a micro-batch, and the data types that engine, brokers and runtime share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Partition:
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class StoreReport:
    """A state store at the end of a batch."""

    name: str
    rows: int
    memory_bytes: int
    rows_updated: int
    late_rows_dropped: int


@dataclass(frozen=True, slots=True)
class Caught:
    """Failed records of a topic in one batch by error code: dead letters (`dead`), or left out (`skipped`)."""

    fate: str
    topic: str
    code: str
    records: int


@dataclass(frozen=True, slots=True)
class BatchEnded:
    """A micro-batch ended, and its position is in the checkpoint.

    `positions` is the next offset to read for each source partition; `phases_ms` names the phases as the
    engine does (`latestOffset`, `queryPlanning`, `addBatch`, `walCommit`, ...).
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
    late_records: int = 0
    """Late records as counted by the runner's own operators (sessions); Spark's are in `stores`."""
    caught: tuple[Caught, ...] = ()
