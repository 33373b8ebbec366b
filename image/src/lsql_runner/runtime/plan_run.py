"""One run of the plan, from a start to a stop: its queries in the engine, and its position on the brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from queue import Empty, SimpleQueue

from lsql_runner.config.jvm_options import memory_of_tasks
from lsql_runner.config.settings import Settings
from lsql_runner.container.budget import NetworkBuffers, budget
from lsql_runner.engine.port import Job, Marking, OutputOptions, Retention, Sinks, SourceOptions
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition, RecordsProcessed, lowest
from lsql_runner.events.processor import LateRecordsDropped, WarningRaised
from lsql_runner.formats.json_diagnosis import diagnose_json
from lsql_runner.plan.queries import Plan
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.idle import IdleClocks
from lsql_runner.runtime.position_reporter import PositionReporter
from lsql_runner.start.actions import Action
from lsql_runner.start.memory_need import buffers_of
from lsql_runner.start.needed_acls import delivers_exactly_once
from lsql_runner.start.preparation import PreparedProgram
from lsql_runner.state.directory import StateDir
from lsql_runner.state.group_claims import GroupClaims
from lsql_runner.status.state_machine import StateMachine

_LATE = (
    "query {query} left out records that arrived after their window and its grace: lsql_late_records_dropped_total "
    "counts them. A longer GRACE BY, or SET grace, accepts them"
)
_FUTURE = (
    "query {query} has read records that are ahead of the clock by more than SET max.future.ms: "
    "lsql_future_records_total counts them. They do not advance the event time. Look for a producer with a wrong "
    "clock, or with timestamps in other units than milliseconds"
)


class PlanRun:
    """The running queries of a plan. The constructor starts them.

    Raises:
        LsqlError: JVM_GONE, QUERY_FAILED, and errors of sinks such as SINK_UNREACHABLE. Then no query runs.
    """

    def __init__(
        self,
        prepared: PreparedProgram,
        dependencies: RunDependencies,
        machine: StateMachine,
        claims: GroupClaims,
        *,
        marking: Marking | None = None,
    ) -> None:
        self._dependencies = dependencies
        self._engine = dependencies.engine
        self._machine = machine
        self._sources = prepared.plan.sources
        self._clocks: IdleClocks | None = None
        self._later = prepared.later
        self._first_batches = set(prepared.first_batches)
        self.blues = prepared.blues
        """By green query: the blue one."""
        self.green_has_died = False
        """Whether only green queries have ended without a stop."""
        self.has_ended: set[str] = set()
        """The queries that have ended a batch."""
        self._ended: SimpleQueue[tuple[BatchEnded | RecordsProcessed, int]] = SimpleQueue()
        self._reporter = PositionReporter(
            dependencies.settings,
            dependencies.brokers,
            machine,
            dependencies.now_ms,
            topic_ids=prepared.topic_ids,
            claims=claims,
        )
        self._reporting = dependencies.start_reporting(self._reporter)
        try:
            memory = memory_of_tasks(dependencies.settings, dependencies.identity.memory or budget(None))
            buffers = buffers_of(prepared.plan, dependencies.settings, memory.heap_mib)
            job = job_of(
                prepared,
                dependencies.settings,
                dependencies.state,
                buffers,
                self._batch_ended,
                on_processed=self._processed,
                marking=marking,
            )
            for text in self._engine.start(job):
                machine.emit(WarningRaised(dependencies.now_ms(), text))
            # The event time of green queries is that of the blue ones.
            writing = Plan(tuple(query for query in prepared.plan.queries if query.name not in self.blues))
            self._clocks = IdleClocks(writing, self._engine.newest_ms(), dependencies.monotonic_ms())
        except BaseException:
            self.halt()
            raise

    def advance_idle_topics(self) -> None:
        """Advance the event time of idle topics."""
        assert self._clocks is not None
        now_ms = self._dependencies.monotonic_ms()
        with suppress(Empty):
            while True:
                event, at_ms = self._ended.get_nowait()
                if isinstance(event, BatchEnded):
                    self._clocks.batch_ended(event, at_ms)
                else:
                    self._clocks.processed(event, at_ms)
        for step in self._clocks.take_due(now_ms, self._has_read_all):
            self._engine.advance(step.clock, step.time_ms)

    def _has_read_all(self, query: str) -> bool:
        """Whether a query has read all records that are on the brokers; false if they do not answer."""
        positions = self._machine.status.positions.get(query, {})
        try:
            ends = self._dependencies.brokers.ends(positions)
        except LsqlError:
            return False
        return all(positions[partition] >= end for partition, end in ends.items())

    def due(self) -> tuple[Action, ...]:
        """The actions of the start that wait for the first batches, once: when all queries have ended one."""
        if not self._later or self._first_batches:
            return ()
        due, self._later = self._later, ()
        return due

    def death(self) -> LsqlError | None:
        """Why the plan ended without a stop, or has to end; None if it runs."""
        if self._reporter.conflict is not None:
            return self._reporter.conflict
        saved = self._machine.status.saved_positions
        dead = self._engine.dead_queries() if self.blues else frozenset()  # each look is a call of the JVM
        self.green_has_died = bool(dead) and dead <= self.blues.keys()
        positions = lowest(of for query, of in saved.items() if not dead or query in dead)
        error = self._engine.death(positions, lambda: self._ends_now(positions))
        if error is not None and self._reporter.deleted is None:
            with suppress(LsqlError):  # the query may have failed because of a topic that was deleted just now
                self._reporter.check_topics()
        return self._reporter.deleted or (None if error is None else self._with_reason(error))

    def _ends_now(self, positions: Mapping[Partition, int]) -> Mapping[Partition, int]:
        """The ends on the brokers, after the record that has just failed; the last known ones if they do not answer."""
        with suppress(LsqlError):
            return self._dependencies.brokers.ends(positions)
        return self._machine.status.ends

    def halt(self, *, drain: Set[str] = frozenset()) -> None:
        """Let running batches end, stop, and commit the last position: see `port.Engine.stop`."""
        try:
            if self._engine.jvm_death() is None:
                self._engine.stop(drain=drain)
        finally:
            self._reporting.close()

    def _processed(self, event: RecordsProcessed) -> None:
        self._machine.emit(event)
        self._reporting.batch_ended()
        self._ended.put((event, self._dependencies.monotonic_ms()))

    def _batch_ended(self, event: BatchEnded) -> None:
        self._machine.emit(event)
        self._reporting.batch_ended()
        self._ended.put((event, self._dependencies.monotonic_ms()))
        self._first_batches.discard(event.query)
        self.has_ended.add(event.query)
        for green, blue in self.blues.items():
            if event.query == blue:
                self._engine.follow(green, event)
        late = event.late_records
        if any(store.late_rows_dropped for store in event.stores):
            late += self._engine.count_late(event)
        if late:
            self._machine.emit(LateRecordsDropped(event.at_ms, event.query, late))
            self._machine.emit(WarningRaised(event.at_ms, _LATE.format(query=event.query)))
        if event.future_records:
            self._machine.emit(WarningRaised(event.at_ms, _FUTURE.format(query=event.query)))

    def _with_reason(self, error: LsqlError) -> LsqlError:
        """The error of a malformed JSON key or value with a reason from `diagnose_json`; other errors unchanged."""
        if error.code != "RECORD_MALFORMED" or error.params["format"] != "JSON":
            return error
        is_key = error.params["part"] == "key"
        topic, number = str(error.params["topic"]), int(error.params["partition"])
        schema = next((t for t in self._sources if t.topic == topic), None)
        with suppress(LsqlError):
            record = self._dependencies.brokers.record(Partition(topic, number), int(error.params["offset"]))
            if schema is not None and record is not None:
                data, serde = (record.key, schema.key) if is_key else (record.value, schema.value)
                reason = diagnose_json(data or b"", serde.type, self._dependencies.settings.errors_include_values)
                return error if reason is None else error.with_params(reason=reason)
        return error


def job_of(
    prepared: PreparedProgram,
    settings: Settings,
    state: StateDir,
    buffers: NetworkBuffers,
    on_batch: Callable[[BatchEnded], None],
    *,
    on_processed: Callable[[RecordsProcessed], None] = lambda _: None,
    marking: Marking | None = None,
) -> Job:
    """The engine's job for a prepared plan."""
    bound = prepared.planned.bound.settings
    topics = {query.name: tuple(each.topic for each in query.sources) for query in prepared.plan.queries}
    source = SourceOptions(
        kafka=settings.connection,
        app_id=settings.app_id,
        reset=prepared.reset,
        start_offsets=prepared.start_offsets,
        rebuilds=prepared.rebuilds,
        blues={green: topics[blue] for green, blue in prepared.blues.items()},
        topic_ids=prepared.topic_ids,
        max_records_per_batch=settings.max_records_per_batch,
        continue_on_data_loss=settings.on_data_loss == "continue",
        pace_ms={query.name: bound.pace_of(query.stateful) for query in prepared.plan.queries},
        fetch_bytes=buffers.fetch_bytes,
        max_future_ms=bound.max_future_ms,
        consumer=bound.consumer,
        reads_state=settings.queries_mode != "none",
        marking=marking,
    )
    connections = {sink.name: sink for sink in settings.sinks}
    sinks = Sinks(connections, settings.jars_dir / "sinks", has_standby=state.owner is not None)
    output = OutputOptions(
        kafka=settings.connection,
        app_id=settings.app_id,
        buffer_bytes=buffers.send_bytes,
        producer=bound.producer,
        dead_letter_topic=prepared.plan.dead_letter_topic,
        limits=prepared.limits,
        exactly_once=delivers_exactly_once(prepared.planned, settings),
        commit_interval_ms=bound.commit_interval_ms,
    )
    checkpoints = state.checkpoints(prepared.generation)
    return Job(
        plan=prepared.plan,
        source=source,
        output=output,
        checkpoints=checkpoints,
        on_batch=on_batch,
        on_processed=on_processed,
        state_partitions=prepared.state_partitions,
        registry=settings.registry,
        retention=Retention(settings.checkpoint_keep_s * 1000, settings.checkpoint_max_mib << 20),
        rocksdb=bound.rocksdb,
        sinks=sinks,
        owner=state.owner,
    )
