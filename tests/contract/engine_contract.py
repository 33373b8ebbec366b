"""The contract of engine.port.Engine: one suite for the fake, and for Spark with a real broker.

A subclass defines the fixture `subject`. tests/contract runs the suite on the fake, tests/kafka on Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from lsql_runner.engine.port import Engine, Job, OutputOptions, SourceOptions, StoreRead
from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.pipeline import plan_text
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.offset_log import begin_checkpoint, run_id, saved_checkpoint
from lsql_runner.types import LONG, STRING, Field, Struct

KIND = Struct((Field("g", STRING), Field("a", LONG)))
VALUE = b'{"g": "x", "a": 3}'


class EngineUnderTest(Protocol):
    """An engine, and brokers with a source topic of two partitions and a target."""

    engine: Engine
    connection: KafkaConnection
    source: str
    target: str
    folder: Path
    continuous: bool
    """Whether the engine processes each record when it arrives, instead of batches."""

    def produce(self, count: int, partition: int = 0) -> None:
        """Writes records to the source."""

    def read(self, done: Callable[[], bool]) -> None:
        """Lets the running job read until `done` returns true."""


class Batches:
    """The reported batches of a job."""

    def __init__(self) -> None:
        self.ended: list[BatchEnded] = []

    @property
    def records(self) -> int:
        return sum(batch.records_in for batch in self.ended)

    @property
    def positions(self) -> dict[Partition, int]:
        """The positions after the last batch with records."""
        return next(batch.positions for batch in reversed(self.ended) if batch.records_in)


def job(
    subject: EngineUnderTest, batches: Batches, starts: Mapping[Partition, int] | None = None, reset: str = "earliest"
) -> Job:
    """A job that copies the source to the target."""
    schema = TopicSchema(subject.source, Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND), partitions=2)
    mode = "continuous" if subject.continuous else "batch"
    text = f"SET processing.mode={mode}; INSERT INTO `{subject.target}` SELECT STREAM * FROM `{subject.source}`"
    planned = plan_text(text, Catalog({subject.source: schema}))
    source = SourceOptions(
        kafka=subject.connection,
        app_id="contract",
        reset=reset,
        start_offsets={"stateless": starts or {}},
    )
    output = OutputOptions(kafka=subject.connection, app_id="contract")
    return Job(
        plan=planned.plan,
        source=source,
        output=output,
        checkpoints=LocalFolder(subject.folder / "checkpoints"),
        on_batch=batches.ended.append,
    )


class EngineContract:
    def partitions(self, subject: EngineUnderTest) -> tuple[Partition, Partition]:
        return Partition(subject.source, 0), Partition(subject.source, 1)

    def read(self, subject: EngineUnderTest, started: Job, batches: Batches, records: int) -> None:
        """Runs a job until it has read a number of records, and stops it."""
        subject.engine.start(started)
        subject.read(lambda: batches.records >= records)
        subject.engine.stop()

    def test_a_job_reads_to_the_ends_and_reports_positions(self, subject: EngineUnderTest) -> None:
        subject.produce(2)
        subject.produce(1, partition=1)
        batches = Batches()

        self.read(subject, job(subject, batches), batches, 3)

        first, second = self.partitions(subject)
        assert (batches.records, batches.positions) == (3, {first: 2, second: 1})
        assert {batch.query for batch in batches.ended} == {"stateless"}

    def test_an_empty_checkpoint_begins_at_the_starts_and_other_partitions_at_the_first_record(
        self, subject: EngineUnderTest
    ) -> None:
        subject.produce(5)
        subject.produce(4, partition=1)
        batches = Batches()

        self.read(subject, job(subject, batches, {self.partitions(subject)[0]: 3}), batches, 6)

        assert batches.records == 6

    def test_an_empty_checkpoint_begins_at_the_end_with_the_reset_latest(self, subject: EngineUnderTest) -> None:
        subject.produce(5)
        batches = Batches()
        first = self.partitions(subject)[0]

        self.read(subject, job(subject, batches, {first: 3}, "latest"), batches, 2)

        assert (batches.records, batches.positions[first]) == (2, 5)

    def test_a_checkpoint_takes_precedence_over_the_starts(self, subject: EngineUnderTest) -> None:
        subject.produce(3)
        before, after = Batches(), Batches()
        self.read(subject, job(subject, before), before, 3)
        subject.produce(2)

        self.read(subject, job(subject, after, {self.partitions(subject)[0]: 1}), after, 2)

        assert after.records == 2
        assert after.ended[-1].batch_id > before.ended[-1].batch_id

    def test_a_checkpoint_contains_the_position_after_a_batch(self, subject: EngineUnderTest) -> None:
        subject.produce(1)
        batches = Batches()

        self.read(subject, job(subject, batches), batches, 1)

        assert saved_checkpoint(LocalFolder(subject.folder / "checkpoints" / "stateless")).ended == batches.positions

    def test_a_job_keeps_the_identity_of_its_checkpoint(self, subject: EngineUnderTest) -> None:
        checkpoint = LocalFolder(subject.folder / "checkpoints" / "stateless")
        begin_checkpoint(checkpoint)
        before = run_id(checkpoint)
        subject.produce(1)
        batches = Batches()

        self.read(subject, job(subject, batches), batches, 1)

        assert run_id(checkpoint) == before

    def test_temporary_files_that_a_kill_has_left_are_deleted(self, subject: EngineUnderTest) -> None:
        checkpoint = subject.folder / "checkpoints" / "stateless"
        subject.produce(1)
        before, after = Batches(), Batches()
        self.read(subject, job(subject, before), before, 1)
        left = [checkpoint / f"{log}/{name}" for log in ("offsets", "commits") for name in (".0.new", ".9.1f-2e.tmp")]
        left.append(checkpoint / "sources/0/.0.1f-2e.tmp")
        for file in left:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("v1")
        subject.produce(1)

        self.read(subject, job(subject, after), after, 1)

        assert after.records == 1
        assert [file for file in left if file.exists()] == []

    def test_a_job_gives_its_checkpoint_an_identity(self, subject: EngineUnderTest) -> None:
        batches = Batches()
        subject.engine.start(job(subject, batches))
        subject.engine.stop()

        assert len(run_id(LocalFolder(subject.folder / "checkpoints" / "stateless"))) == 32

    def test_a_running_job_and_no_job_report_no_death(self, subject: EngineUnderTest) -> None:
        subject.produce(1)
        batches = Batches()
        subject.engine.start(job(subject, batches))
        subject.read(lambda: batches.records >= 1)

        assert subject.engine.death(batches.positions, dict) is None
        subject.engine.stop()
        assert subject.engine.death(batches.positions, dict) is None
        assert subject.engine.jvm_death() is None

    def test_the_memory_of_the_jvm_is_measured_without_a_job(self, subject: EngineUnderTest) -> None:
        memory = subject.engine.memory()

        assert memory is not None
        assert 0 < memory.heap_used_bytes <= memory.heap_committed_bytes
        assert 0 < memory.code_cache_used_bytes <= memory.code_cache_committed_bytes
        assert memory.heap_committed_bytes <= memory.heap_max_bytes <= subject.engine.heap_mib << 20
        assert min(memory.metaspace_bytes, memory.threads, memory.cpu_ms) > 0
        assert memory.collectors
        assert all(collector.time_ms >= 0 <= collector.collections for collector in memory.collectors)
        assert memory.direct_buffers_bytes >= 0
        assert memory.private_bytes is not None
        assert memory.private_bytes > memory.heap_used_bytes + memory.code_cache_used_bytes

    def test_a_heap_that_shrinks_is_no_larger(self, subject: EngineUnderTest) -> None:
        before = subject.engine.memory()
        subject.engine.shrink_heap(0)
        after = subject.engine.memory()

        assert before is not None
        assert after is not None
        assert after.heap_committed_bytes <= before.heap_committed_bytes

    def test_the_reason_of_an_exception_is_one_line(self, subject: EngineUnderTest) -> None:
        assert subject.engine.reason_of(ValueError("no such topic\nat line 1")) == "no such topic"

    def test_a_stop_without_a_job_does_nothing(self, subject: EngineUnderTest) -> None:
        subject.engine.stop()
        subject.engine.stop()

    def test_a_job_without_final_results_has_no_newest_time(self, subject: EngineUnderTest) -> None:
        batches = Batches()
        subject.engine.start(job(subject, batches))

        assert subject.engine.newest_ms() == {}
        subject.engine.stop()

    def test_state_is_read_only_while_a_job_runs(self, subject: EngineUnderTest) -> None:
        assert subject.engine.read_store(StoreRead(store="aggregate-0")) is None
        subject.engine.save_soon("aggregate-0")
