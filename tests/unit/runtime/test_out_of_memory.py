"""A JVM that runs out of memory while it reads: the next start marks records, and the one after the second death waits.

On fakes: the tests write the mark in place of the JVM.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, FakeProcess, FakeRuntime
from lsql_runner.container.out_of_memory import heap_too_small
from lsql_runner.engine.port import Marking
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.events.state import State
from lsql_runner.runtime.out_of_memory import MARKED_OFFSETS, OutOfMemory, ReadMode, decide_reading, out_of_memory
from lsql_runner.status.lifecycle import Cause
from tests.unit.runtime.conftest import P0, RECORD

ONCE = OutOfMemory(heap_mib=256)
TWICE = OutOfMemory(heap_mib=256, record=(P0, 7))
READS = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 10s GROUP BY g"


class TestDecision:
    @pytest.mark.parametrize(
        ("saved", "heap_mib", "is_unread", "expected"),
        [
            (None, 256, True, ReadMode.NORMAL),
            (ONCE, 256, True, ReadMode.MARKED),
            (ONCE, 512, True, ReadMode.NORMAL),
            (TWICE, 256, True, ReadMode.REFUSED),
            (TWICE, 256, False, ReadMode.NORMAL),
            (TWICE, 512, True, ReadMode.NORMAL),
            (TWICE, 128, True, ReadMode.NORMAL),
        ],
    )
    def test_the_same_heap_reads_a_record_twice_at_most(
        self, saved: OutOfMemory | None, heap_mib: int, expected: ReadMode, *, is_unread: bool
    ) -> None:
        assert decide_reading(saved, heap_mib, lambda partition, offset: is_unread) is expected

    @pytest.mark.parametrize("saved", [ONCE, TWICE])
    def test_what_is_saved_is_read_back(self, saved: OutOfMemory) -> None:
        assert out_of_memory(json.loads(json.dumps(saved.as_json()))) == saved

    @pytest.mark.parametrize("document", [None, {}, {"heap_mib": "256"}, {"record": None}])
    def test_a_file_that_is_missing_or_damaged_counts_no_death(self, document: dict[str, object] | None) -> None:
        assert out_of_memory(document) is None


def dies(running: FakeProcess, reason: str | None = None) -> None:
    """The JVM runs out of memory."""
    running.runtime.engine.jvm = heap_too_small(304) if reason is None else reason
    assert not running.turn()
    running.runtime.engine.jvm = None


def mark(runtime: FakeRuntime, offset: int, partition: Partition = P0) -> Path:
    """The JVM reads a record."""
    marking = runtime.engine.jobs[-1].source.marking
    assert marking is not None
    assert marking.file is not None
    place = {"topic": partition.topic, "partition": partition.partition, "offset": offset}
    marking.file.write_text(json.dumps(place) + "   ")
    return marking.file


def die_twice(runtime: FakeRuntime) -> None:
    """One process, then another one that has marked the first record."""
    for _ in range(2):
        with runtime.process() as running:
            running.turn()
            if runtime.engine.jobs[-1].source.marking is not None:
                mark(runtime, 0)
            dies(running)


class TestProcesses:
    @pytest.mark.parametrize("sql", ["INSERT INTO o SELECT STREAM * FROM t", READS])
    def test_the_start_after_the_second_death_names_the_record_and_does_not_read(
        self, runtime: FakeRuntime, sql: str
    ) -> None:
        runtime.sql = sql
        die_twice(runtime)
        assert len(runtime.engine.jobs) == 2

        for _ in range(2):  # a failed processor is started again, for example on another node
            with runtime.process() as running:
                running.turn()

                assert (running.state, running.health()) == (State.FAILED, ["failed"])
                reason = running.status.reason
                assert reason is not None
                assert (reason.code, dict(reason.params)) == (
                    "RECORDS_EXCEED_HEAP",
                    {"topic": "t", "partition": 0, "offset": 0, "next_offset": 1, "heap_mib": 304},
                )
        assert len(runtime.engine.jobs) == 2

    def test_only_the_start_after_a_death_marks_records(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.turn()
            dies(running)
        with runtime.process() as running:
            running.run()
            running.turn()
            assert "one at a time" in running.status.warnings[-1]
        with runtime.process() as running:
            running.turn()

        marking = [job.source.marking for job in runtime.engine.jobs]
        assert [each is not None for each in marking] == [False, True, False]
        assert marking[1] is not None
        assert marking[1].offsets == MARKED_OFFSETS

    def test_the_death_counts_until_the_marked_records_are_processed(self, runtime: FakeRuntime) -> None:
        runtime.brokers.produce("t", RECORD)
        with runtime.process() as running:
            running.turn()
            dies(running)
        with runtime.process() as running:
            running.turn()  # it ends before a batch
        with runtime.process() as running:
            running.run()
            running.turn()
            dies(running)  # later, from another cause
        assert [job.source.marking is not None for job in runtime.engine.jobs] == [False, True, True]
        with runtime.process() as running:
            running.turn()
            assert running.state is State.RUNNING

    def test_a_death_without_a_mark_is_a_first_one(self, runtime: FakeRuntime) -> None:
        for _ in range(3):
            with runtime.process() as running:
                running.turn()
                dies(running)

        with runtime.process() as running:
            running.turn()
            assert running.state is State.RUNNING

    def test_an_older_mark_is_not_used(self, runtime: FakeRuntime) -> None:
        die_twice(runtime)
        with runtime.process() as running:
            running.turn()
            running.turn(Cause.START)
            running.turn()
            dies(running)
        with runtime.process() as running:
            running.turn()
            dies(running)
        with runtime.process() as running:
            running.turn()
            assert running.state is State.RUNNING

    @pytest.mark.parametrize("reason", ["killed by signal 9", "it exited with code 1"])
    def test_other_ends_of_the_jvm_do_not_count(self, runtime: FakeRuntime, reason: str) -> None:
        with runtime.process() as running:
            running.turn()
            dies(running, reason)
        with runtime.process() as running:
            running.turn()

        assert [job.source.marking for job in runtime.engine.jobs] == [None, None]

    def test_a_jvm_that_runs_out_of_memory_after_a_stop_does_not_count(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
            running.turn(Cause.STOP)
            dies(running)
        with runtime.process() as running:
            running.turn()

        assert runtime.engine.jobs[-1].source.marking is None


class TestWayOut:
    def test_a_start_by_a_person_reads_the_record_again(self, runtime: FakeRuntime) -> None:
        die_twice(runtime)
        with runtime.process() as running:
            running.turn()
            running.turn(Cause.START)
            running.turn()

            assert (running.state, runtime.engine.jobs[-1].source.marking) == (State.RUNNING, None)

    def test_another_heap_reads_the_record_again(self, runtime: FakeRuntime) -> None:
        die_twice(runtime)
        runtime.engine.heap_mib = 512
        with runtime.process() as running:
            running.turn()

            assert (running.state, runtime.engine.jobs[-1].source.marking) == (State.RUNNING, None)

    def test_a_record_that_was_deleted_is_not_waited_for(self, runtime: FakeRuntime) -> None:
        die_twice(runtime)
        runtime.brokers.produce("t", RECORD)
        runtime.brokers.delete_records("t", 0, 1)
        with runtime.process() as running:
            running.turn()

            assert running.state is State.RUNNING

    def test_a_record_before_the_position_is_not_waited_for(self, runtime: FakeRuntime) -> None:
        die_twice(runtime)
        runtime.brokers.commit(APP_ID, {P0: 1})
        (runtime.folder / APP_ID / "program.json").unlink()
        with runtime.process() as running:
            running.turn()

            assert running.state is State.RUNNING

    def test_while_the_brokers_do_not_respond_it_waits(self, runtime: FakeRuntime) -> None:
        die_twice(runtime)
        runtime.brokers.lost()
        with runtime.process() as running:
            running.turn()
            assert running.state is State.WAITING
            runtime.brokers.outage = None

            running.until(lambda: running.state is State.FAILED)

            assert running.reason == "RECORDS_EXCEED_HEAP"


WORKERS = {"LSQL_WORKERS_SECRET": "0123456789abcdef", "LSQL_WORKERS_HOST": "processor"}


def workers_die(running: FakeProcess) -> None:
    """The query fails, because tasks have ended the JVMs of workers; the processor starts it again."""
    running.runtime.engine.error = LsqlError("WORKERS_OUT_OF_MEMORY")
    running.turn()
    running.advance_s(1)
    running.turn()


class TestWorkers:
    def test_the_same_process_reads_again_and_its_jvm_remembers_the_places(self, runtime: FakeRuntime) -> None:
        with runtime.process(**WORKERS) as running:
            running.turn()
            workers_die(running)

            assert "A worker ran out of memory" in running.status.warnings[-1]
            marking = [job.source.marking for job in runtime.engine.jobs]
        assert marking == [None, Marking(None, MARKED_OFFSETS)]

    def test_other_failures_do_not_count(self, runtime: FakeRuntime) -> None:
        with runtime.process(**WORKERS) as running:
            running.turn()
            runtime.engine.error = LsqlError("QUERY_FAILED", reason="x")
            running.turn()
            running.advance_s(1)
            running.turn()

        assert [job.source.marking for job in runtime.engine.jobs] == [None, None]

    def test_the_death_counts_until_the_records_are_processed(self, runtime: FakeRuntime) -> None:
        with runtime.process(**WORKERS) as running:
            running.turn()
            workers_die(running)
            running.run()
            running.turn()
            runtime.engine.error = LsqlError("QUERY_FAILED", reason="x")
            running.turn()
            running.advance_s(60)
            running.turn()

        assert [job.source.marking is not None for job in runtime.engine.jobs] == [False, True, False]

    def test_a_start_by_a_person_reads_as_usual(self, runtime: FakeRuntime) -> None:
        with runtime.process(**WORKERS) as running:
            running.turn()
            workers_die(running)
            runtime.engine.error = LsqlError(
                "RECORDS_EXCEED_WORKER_HEAP", topic="t", partition=0, offset=0, next_offset=1, heap_mib=304
            )
            running.turn()
            assert (running.state, running.reason) == (State.FAILED, "RECORDS_EXCEED_WORKER_HEAP")

            running.turn(Cause.START)
            running.turn()

        assert runtime.engine.jobs[-1].source.marking is None

    def test_after_a_death_of_the_processor_itself_workers_read_with_marks_too(self, runtime: FakeRuntime) -> None:
        """It waits for records by reading one; with marks it does not wait."""
        for _ in range(3):
            with runtime.process(**WORKERS) as running:
                running.turn()
                assert running.state is State.RUNNING
                dies(running)

        marking = [job.source.marking for job in runtime.engine.jobs]
        assert marking == [None, *[Marking(None, MARKED_OFFSETS)] * 2]
