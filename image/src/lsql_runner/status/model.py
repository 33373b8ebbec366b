"""The status of a processor. /stream, /health and the page show this and nothing else. `current_status` computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsql_runner.errors import ErrorReport
from lsql_runner.events.batches import FailureAction, lowest
from lsql_runner.events.leadership import LeadershipView
from lsql_runner.events.processor import (
    BatchEnded,
    BlueGreenChanged,
    MemoryMeasured,
    Partition,
    QueryUse,
    ScalingDecided,
    SinkUse,
    StoreReport,
    TopicUse,
    VolumeMeasured,
)
from lsql_runner.events.state import State
from lsql_runner.events.workers import JoinedWorker
from lsql_runner.status.rates import Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Everything known about the processor at one moment."""

    state: State = State.STARTING
    since_ms: int = 0
    reason: ErrorReport | None = None
    """Why the processor waits, restarts or has failed; None in other states."""
    last_error: ErrorReport | None = None
    last_error_at_ms: int | None = None
    broker_error: ErrorReport | None = None
    jvm_error: ErrorReport | None = None
    restarts: int = 0
    restart_at_ms: int | None = None
    generation: int = 0
    stateful: bool = False
    continuous: bool = False
    topics: tuple[TopicUse, ...] = ()
    sinks: tuple[SinkUse, ...] = ()
    queries: tuple[QueryUse, ...] = ()
    """How each query has processed its last records."""
    warnings: tuple[str, ...] = ()
    records_in: int = 0
    records_out: int = 0
    rates: dict[str, Rates] = field(default_factory=dict)
    """By query; empty while there is nothing to read."""
    late_records_dropped: int = 0
    future_records: int = 0
    failed_records: dict[tuple[FailureAction, str, str], int] = field(default_factory=dict)
    """By action, topic and error code: the number of failed records that did not stop the processor."""
    batches: int = 0
    last_batch: BatchEnded | None = None
    positions: dict[str, dict[Partition, int]] = field(default_factory=dict)
    """By query: the queries of a program may be at different offsets of the same topic."""
    saved_positions: dict[str, dict[Partition, int]] = field(default_factory=dict)
    """By query: the positions in its checkpoint, which are behind while its batch is open."""
    ends: dict[Partition, int] = field(default_factory=dict)
    stores: dict[str, dict[str, StoreReport]] = field(default_factory=dict)
    """By query, then by the name of the store."""
    watermarks_ms: dict[str, int] = field(default_factory=dict)
    """By query."""
    input_times_ms: dict[str, dict[str, int]] = field(default_factory=dict)
    """By query with a clock, then by the name of the input: the newest event time so far."""
    ticked_ms: dict[str, int] = field(default_factory=dict)
    """By query: the event time that its clock has advanced all inputs to."""
    progress_at_ms: int = 0
    """When a batch last ended, or the lag was last zero."""
    lag_at_progress: int = 0
    memory: MemoryMeasured | None = None
    """The last measurement; None before the first."""
    volume: VolumeMeasured | None = None
    """The last measurement of the volume with the state directory; None before the first."""
    workers: tuple[JoinedWorker, ...] | None = None
    """The workers that run the tasks; None if the tasks run in the processor, and before it knows."""
    scaling: ScalingDecided | None = None
    """How many workers there should be; None if the processor does not compute it."""
    leadership: LeadershipView | None = None
    """Which process leads; None without a standby."""
    blue_green: BlueGreenChanged | None = None
    """The phase of a blue-green change; None without one."""

    @property
    def present_workers(self) -> int:
        """The number of workers that run tasks, without those that are leaving."""
        return sum(not worker.leaving for worker in self.workers or ())

    @property
    def why_lag_unknown(self) -> str | None:
        """Why the lag is not measured; None if it is."""
        if self.state is not State.RUNNING:
            return f"the processor is {self.state}"
        return None if self.broker_error is None else "the brokers do not respond"

    @property
    def records_in_per_s(self) -> float:
        return sum(rates.records_in_per_s for rates in self.rates.values())

    @property
    def records_out_per_s(self) -> float:
        return sum(rates.records_out_per_s for rates in self.rates.values())

    @property
    def dead_letters(self) -> int:
        """The number of failed records that were written to the dead letter topic."""
        return self._count_failed("dead_letter")

    @property
    def skipped_records(self) -> int:
        """The number of failed records that were left out."""
        return self._count_failed("skipped")

    def _count_failed(self, action: FailureAction) -> int:
        return sum(records for key, records in self.failed_records.items() if key[0] == action)

    @property
    def reached(self) -> dict[Partition, int]:
        """By partition: the lowest position of all queries that write results."""
        return lowest(self._of_writers(self.positions).values())

    @property
    def committed(self) -> dict[Partition, int]:
        """By partition: the lowest position in the checkpoints of these queries, which is the one to commit."""
        return lowest(self._of_writers(self.saved_positions).values())

    def _of_writers(self, positions: Mapping[str, dict[Partition, int]]) -> dict[str, dict[Partition, int]]:
        greens = {query.name for query in self.queries if query.blue is not None}
        return {query: of_query for query, of_query in positions.items() if query not in greens}

    @property
    def lags(self) -> dict[Partition, int]:
        """By source partition: the records between position and end. Partitions without a known end are left out."""
        return {p: max(0, self.ends[p] - offset) for p, offset in self.reached.items() if p in self.ends}

    @property
    def records_to_rebuild(self) -> dict[str, int]:
        """By query that has built its state again since the start, or does: the records that are left to read."""
        return {
            query.name: self.left_to_rebuild(query.name, self.rebuild_ends(query))
            for query in self.queries
            if query.rebuild_ends
        }

    def left_to_rebuild(self, query: str, ends: Mapping[Partition, int]) -> int:
        """The number of records that a query has not saved yet before some positions in topics that it reads."""
        saved = self.saved_positions.get(query, {})
        topics = {place.topic for place in saved}
        return sum(max(0, end - saved.get(place, 0)) for place, end in ends.items() if place.topic in topics)

    def rebuild_ends(self, query: QueryUse) -> dict[Partition, int]:
        """The positions from which on a query that builds its state again writes results; of a green one, if the switch
        were now."""
        blue = {} if query.blue is None else self.saved_positions.get(query.blue, {})
        return {**query.rebuild_ends, **blue}

    @property
    def lag(self) -> int:
        return sum(self.lags.values())
