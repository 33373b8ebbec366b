"""An engine in memory, for tests of the runtime: implements engine.port.Engine on FakeBrokers.

It reads records and keeps checkpoints as Spark does, and writes nothing. It passes the suite in tests/contract, as
SparkEngine does on a real broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from devkit.fake_brokers import FakeBrokers
from lsql_runner.engine.port import Job, StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition, StoreReport
from lsql_runner.events.memory import GarbageCollector, JvmMemory
from lsql_runner.events.workers import JoinedWorker, RefusedWorker
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.plan.clocks import clock_of
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import append_committed, newest_batch, next_batch_id, open_checkpoint
from lsql_runner.state.owner import Owner

MEMORY = JvmMemory(
    heap_used_bytes=100 << 20,
    heap_committed_bytes=160 << 20,
    code_cache_used_bytes=40 << 20,
    code_cache_committed_bytes=44 << 20,
    metaspace_bytes=18 << 20,
    direct_buffers_bytes=2 << 20,
    threads=290,
    heap_max_bytes=304 << 20,
    cpu_ms=9_500,
    collectors=(GarbageCollector("Copy", 31, 420), GarbageCollector("MarkSweepCompact", 2, 310)),
    private_bytes=380 << 20,
)


KEPT = 100
"""The number of batches that a checkpoint keeps."""


class FakeEngine:
    """Runs a batch only when a test calls `run_batches`.

    Attributes:
        jobs: every job that was started.
        warmed: every job of `warm_up`.
        running: the job that runs now.
        start_error: the next starts raise it.
        converted: the calls of `convert_state`.
        conversion_error: the next calls raise it.
        warnings: the result of the next starts.
        error: the error that ended the running job.
        dead: the queries that ended with it.
        jvm: how the JVM ended; None while it runs.
        heap_mib: the size of the heap.
        jvm_memory: the result of `memory` while the JVM runs.
        known_workers, refused_workers: the result of `workers`; the refused ones are returned once.
        late: the late records of each batch, and the result of `count_late`.
        newest: the result of `newest_ms`.
        advanced: the calls of `advance`.
        stored: the result of `read_store` while a job runs.
        saved_rows, saved_reads: the result of `read_saved`, and its calls.
        reads, saved: the calls of `read_store` and `save_soon`.
        followed: by green query, where its blue one has ended.
    """

    def __init__(self, brokers: FakeBrokers) -> None:
        self._brokers = brokers
        self.jobs: list[Job] = []
        self.warmed: list[Job] = []
        self.running: Job | None = None
        self.start_error: Exception | None = None
        self.saved_rows: StoredRows | None = None
        self.saved_reads: list[tuple[Plan, StateFolder, StoreRead]] = []
        self.converted: list[tuple[ConvertedQuery, StateFolder, StateFolder]] = []
        self.conversion_error: LsqlError | None = None
        self.warnings: tuple[str, ...] = ()
        self.error: LsqlError | None = None
        self.dead: frozenset[str] = frozenset()
        self.jvm: str | None = None
        self.heap_mib = 304
        self.jvm_memory: JvmMemory | None = MEMORY
        self.known_workers: tuple[JoinedWorker, ...] | None = None
        self.refused_workers: tuple[RefusedWorker, ...] = ()
        self.shrunk: list[int] = []
        self.late = 0
        self.newest: dict[str, int] = {}
        self.advanced: list[tuple[str, int]] = []
        self.stored: StoredRows | None = None
        self.reads: list[StoreRead] = []
        self.saved: list[str] = []
        self.followed: dict[str, Mapping[Partition, int]] = {}

    # --- for tests ---

    def run_batches(self, at_ms: int = 0) -> int:
        """Run a batch of each query that has something to read. Returns the number of records."""
        assert self.running is not None
        return sum(self._run_batch(self.running, query, at_ms) for query in self.running.plan.queries)

    def run_batch(self, query: str, at_ms: int) -> int:
        """Run a batch of one query, if it has something to read. Returns the number of records."""
        assert self.running is not None
        found = next(each for each in self.running.plan.queries if each.name == query)
        return self._run_batch(self.running, found, at_ms)

    def _run_batch(self, job: Job, query: Query, at_ms: int) -> int:
        # Spark has clients of its own: the outage of the runtime's client does not stop a batch.
        outage, self._brokers.outage = self._brokers.outage, None
        try:
            batch, position = self._position(job, query)
            ends = self._brokers.ends(position)
            if query.name in job.source.blues:
                limits = self.followed.get(query.name, job.source.rebuilds[query.name].ends)
                ends = {place: min(end, limits.get(place, position[place])) for place, end in ends.items()}
        finally:
            self._brokers.outage = outage
        records = sum(ends[place] - position[place] for place in position)
        if not records:
            return 0
        append_committed(job.checkpoints / query.name, batch, [ends], KEPT)
        stores = tuple(
            StoreReport(name=store.store, rows=1, memory_bytes=100, rows_updated=1, late_rows_dropped=self.late)
            for store in query.stores
        )
        clock = clock_of(query)
        job.on_batch(
            BatchEnded(
                at_ms=at_ms,
                query=query.name,
                batch_id=batch,
                records_in=records,
                records_out=records,
                duration_ms=10,
                phases_ms={},
                positions=ends,
                stores=stores,
                watermark_ms=None,
                event_time_max_ms=at_ms,
                input_times_ms=(times := {} if clock is None else dict.fromkeys(clock.topics, at_ms)),
                advanced_ms=times,
            )
        )
        return records

    def _position(self, job: Job, query: Query) -> tuple[int, dict[Partition, int]]:
        """The number of the next batch, and the offsets where it begins."""
        checkpoint = job.checkpoints / query.name
        newest = newest_batch(checkpoint)
        if newest is not None:
            return next_batch_id(checkpoint), newest.ends
        places = [Partition(s.topic, number) for s in query.sources for number in range(s.partitions or 0)]
        edges = self._brokers.ends(places) if job.source.reset == "latest" else self._brokers.begins(places)
        starts = job.source.start_offsets.get(query.name, {})
        return 0, {place: starts.get(place, edges[place]) for place in places}

    # --- the port ---

    def jvm_death(self, within_s: float = 0.0) -> str | None:
        return self.jvm

    def memory(self) -> JvmMemory | None:
        return None if self.jvm else self.jvm_memory

    def workers(self) -> tuple[tuple[JoinedWorker, ...], tuple[RefusedWorker, ...]] | None:
        refused, self.refused_workers = self.refused_workers, ()
        return None if self.known_workers is None else (self.known_workers, refused)

    def shrink_heap(self, grown_bytes: int) -> None:
        self.shrunk.append(grown_bytes)

    def reason_of(self, error: BaseException) -> str:
        return str(error).partition("\n")[0]

    def start(self, job: Job) -> tuple[str, ...]:
        if self.start_error is not None:
            raise self.start_error
        for query in job.plan.queries:
            open_checkpoint(job.checkpoints / query.name)
        self.jobs.append(job)
        self.running, self.error, self.followed = job, None, {}
        return self.warnings

    def convert_state(
        self,
        kafka: KafkaConnection,
        owner: Owner | None,
        query: ConvertedQuery,
        source: StateFolder,
        target: StateFolder,
    ) -> None:
        self.converted.append((query, source, target))
        if self.conversion_error is not None:
            raise self.conversion_error

    def warm_up(self, job: Job, goes_on: Callable[[], bool]) -> None:
        assert goes_on()
        self.warmed.append(job)

    def death(
        self, positions: Mapping[Partition, int], ends: Callable[[], Mapping[Partition, int]]
    ) -> LsqlError | None:
        return None if self.running is None else self.error

    def dead_queries(self) -> frozenset[str]:
        return self.dead if self.error is not None else frozenset()

    def count_late(self, event: BatchEnded) -> int:
        return self.late

    def newest_ms(self) -> dict[str, int]:
        return self.newest

    def advance(self, clock: str, time_ms: int) -> None:
        self.advanced.append((clock, time_ms))

    def follow(self, green: str, blue: BatchEnded) -> None:
        self.followed[green] = blue.positions

    def read_store(self, read: StoreRead) -> StoredRows | None:
        self.reads.append(read)
        return None if self.running is None else self.stored

    def read_saved(
        self, kafka: KafkaConnection, plan: Plan, checkpoints: StateFolder, read: StoreRead
    ) -> StoredRows | None:
        self.saved_reads.append((plan, checkpoints, read))
        return self.saved_rows

    def save_soon(self, store: str) -> None:
        self.saved.append(store)

    def stop(self, *, drain: Set[str] = frozenset()) -> None:
        self.running = None

    def close(self) -> None:
        self.stop()
