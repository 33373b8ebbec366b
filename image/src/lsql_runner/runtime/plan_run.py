"""One run of the plan: its queries in the engine and its position at the brokers, from a start to a halt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from lsql_runner.config.settings import Settings
from lsql_runner.engine.port import Engine, Job, RowSinks, SinkOptions, SourceOptions
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.events.processor import LateRecordsDropped, Listener
from lsql_runner.kafka.ports import Brokers
from lsql_runner.runtime.clock import now_ms
from lsql_runner.runtime.diagnosis import diagnose_json
from lsql_runner.runtime.idle import IdleClocks
from lsql_runner.runtime.preparation import Prepared
from lsql_runner.runtime.statedir import StateDir
from lsql_runner.runtime.status import Status
from lsql_runner.runtime.watch import BrokerWatch


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run works with. It ends before any of them."""

    settings: Settings
    brokers: Brokers
    engine: Engine
    state: StateDir
    status: Callable[[], Status]
    emit: Listener


class PlanRun:
    """The queries of a plan, watched. Making one starts it.

    Raises:
        LsqlError: JVM_GONE, QUERY_FAILED, SINK_UNREACHABLE and the like; nothing is left running then.
    """

    def __init__(self, prepared: Prepared, around: Surroundings) -> None:
        self._around = around
        self._schemas = prepared.plan.sources
        self._clocks: IdleClocks | None = None
        self._ended: SimpleQueue[BatchEnded] = SimpleQueue()
        settings = around.settings
        self._watch = BrokerWatch(
            around.brokers, settings.app_id, settings.metric_frequency_ms / 1000, around.emit, self._committed
        )
        try:
            around.engine.start(job_of(prepared, settings, around.state, self._batch_ended))
            self._clocks = IdleClocks(prepared.plan, around.engine.newest_ms(), now_ms())
        except BaseException:
            self.halt()
            raise

    def pass_time(self) -> None:
        """Let time go on where no record comes."""
        assert self._clocks is not None
        with suppress(Empty):
            while True:
                self._clocks.batch_ended(self._ended.get_nowait())
        for step in self._clocks.due(now_ms()):
            self._around.engine.advance(step.clock, step.time_ms)

    def death(self) -> LsqlError | None:
        """What it died of, in words; None while it runs."""
        error = self._around.engine.death(self._committed(), self._around.status().ends)
        return None if error is None else self._explained(error)

    def halt(self) -> None:
        """Let the batches under way end, stop, and commit the last position."""
        if self._around.engine.jvm_death() is None:
            self._around.engine.stop()
        self._watch.close()

    def _committed(self) -> dict[Partition, int]:
        """The position that is safe for every query of the program."""
        return self._around.status().committed

    def _batch_ended(self, event: BatchEnded) -> None:
        self._around.emit(event)
        self._watch.batch_ended()
        self._ended.put(event)
        late = event.late_records
        if any(store.late_rows_dropped for store in event.stores):
            late += self._around.engine.count_late(event)
        if late:
            self._around.emit(LateRecordsDropped(event.at_ms, event.query, late))

    def _explained(self, error: LsqlError) -> LsqlError:
        """A malformed JSON key or value with the reason in words: the engine only says that it is one."""
        if error.code != "RECORD_MALFORMED" or error.params["format"] != "JSON":
            return error
        is_key = error.params["part"] == "key"
        topic, number = str(error.params["topic"]), int(error.params["partition"])
        schema = next((t for t in self._schemas if t.topic == topic), None)
        with suppress(LsqlError):
            record = self._around.brokers.record(Partition(topic, number), int(error.params["offset"]))
            if schema is not None and record is not None:
                data, serde = (record.key, schema.key) if is_key else (record.value, schema.value)
                reason = diagnose_json(data or b"", serde.type)
                return error if reason is None else error.but(reason=reason)
        return error


def job_of(prepared: Prepared, settings: Settings, state: StateDir, on_batch: Callable[[BatchEnded], None]) -> Job:
    """What the engine needs to run a prepared plan."""
    bound = prepared.planned.bound.settings
    source = SourceOptions(
        kafka=settings.connection,
        app_id=settings.app_id,
        reset=prepared.reset,
        starts=prepared.starts,
        partitions=prepared.partitions,
        max_records_per_batch=settings.max_records_per_batch,
        continue_on_data_loss=settings.on_data_loss == "continue",
        consumer=bound.consumer,
    )
    row_sinks = RowSinks({s.name: s for s in settings.sinks}, settings.jars_dir / "sinks")
    queue = prepared.plan.dead_letter_queue
    sink = SinkOptions(settings.connection, settings.app_id, bound.producer, queue, prepared.takes)
    checkpoints = state.checkpoints(prepared.generation)
    return Job(prepared.plan, source, sink, checkpoints, on_batch, settings.registry, bound.rocksdb, row_sinks)
