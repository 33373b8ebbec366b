"""What the control loop does when a start or a query fails: it waits, restarts, or ends with the error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from errno import EIO, ENOSPC, EROFS, ESTALE
from typing import NoReturn

import pytest

from devkit.fake_runtime import APP_ID, FakeProcess, FakeRuntime
from devkit.memory_store import MemoryStore, unreachable
from lsql_runner.errors import LsqlError
from lsql_runner.events.processor import BrokerFound, BrokerLost
from lsql_runner.events.state import State
from lsql_runner.state.folder import LocalFolder
from lsql_runner.status.lifecycle import Cause
from tests.unit.runtime.conftest import P0, RECORD

TEMPORARY = LsqlError("QUERY_FAILED", reason="a target refused a record")


class TestWaiting:
    def test_it_waits_for_an_unreachable_broker(self, runtime: FakeRuntime) -> None:
        runtime.brokers.lost()
        with runtime.process() as running:
            assert (running.state, running.reason, running.health()) == (
                State.WAITING,
                "BROKER_UNREACHABLE",
                ["broker-unreachable"],
            )
            running.advance_s(1)
            running.turn()
            assert running.state is State.WAITING

            runtime.brokers.outage = None
            running.until(lambda: running.state is State.RUNNING)

            assert (running.health(), len(running.events_of(BrokerFound))) == ([], 1)

    def test_the_next_attempt_is_a_second_later(self, runtime: FakeRuntime) -> None:
        runtime.brokers.lost()
        with runtime.process() as running:
            states: list[State] = []
            for seconds in (0.9, 0.1):
                running.advance_s(seconds)
                states.append(running.state)

        assert states == [State.WAITING, State.STARTING]

    def test_waiting_for_a_first_record_is_healthy(self, runtime: FakeRuntime) -> None:
        runtime.brokers.add_topic("t")
        with runtime.process() as running:
            assert (running.state, running.reason, running.health()) == (State.WAITING, "TOPIC_EMPTY", [])

            runtime.brokers.produce("t", RECORD)
            running.until(lambda: running.state is State.RUNNING)

    def test_it_waits_for_a_broker_and_then_for_a_first_record(self, runtime: FakeRuntime) -> None:
        runtime.brokers.add_topic("t")
        runtime.brokers.lost()
        with runtime.process() as running:
            runtime.brokers.outage = None
            running.until(lambda: running.reason == "TOPIC_EMPTY")

            assert running.health() == []

    def test_a_broker_that_is_unreachable_for_a_time_is_reported_and_the_query_runs(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
            running.until(lambda: running.status.ends == {P0: 1})
            runtime.brokers.lost()
            runtime.brokers.produce("t", RECORD)
            runtime.engine.run_batches()
            running.until(lambda: "broker-unreachable" in running.health())
            assert running.state is State.RUNNING
            assert len(running.events_of(BrokerLost)) >= 1

            runtime.brokers.outage = None
            runtime.brokers.produce("t", RECORD)
            runtime.engine.run_batches()
            running.until(lambda: running.health() == [])
        assert runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 3}

    def test_waiting_for_a_sink_is_not_healthy(self, runtime: FakeRuntime) -> None:
        runtime.engine.start_error = LsqlError("SINK_UNREACHABLE", sink="s", url="u", reason="no answer")
        with runtime.process() as running:
            running.turn()
            assert (running.state, running.health()) == (State.WAITING, ["sink-unreachable"])

            runtime.engine.start_error = None
            running.until(lambda: running.state is State.RUNNING)


class TestVolume:
    """A volume that fails while a query runs: its batch fails, and the restart finds out why."""

    @pytest.fixture
    def running(self, runtime: FakeRuntime) -> Iterator[FakeProcess]:
        with runtime.process() as running:
            running.run()
            runtime.engine.error = LsqlError("QUERY_FAILED", reason="Input/output error")
            yield running

    @pytest.mark.parametrize(
        ("request_", "number", "code"),
        [
            ("write", EROFS, "STATE_DIR_UNWRITABLE"),
            ("write", ENOSPC, "STATE_DIR_UNWRITABLE"),
            ("read", EIO, "STATE_DIR_UNREADABLE"),
            ("read", ESTALE, "STATE_DIR_UNREADABLE"),
        ],
    )
    def test_it_restarts_until_the_volume_works_again(
        self,
        runtime: FakeRuntime,
        running: FakeProcess,
        monkeypatch: pytest.MonkeyPatch,
        request_: str,
        number: int,
        code: str,
    ) -> None:
        def fail(folder: LocalFolder, *_: object) -> NoReturn:
            raise OSError(number, os.strerror(number), str(folder))

        monkeypatch.setattr(LocalFolder, request_, fail)
        running.turn()
        running.until(lambda: running.reason == code)
        assert (running.state, running.health()) == (State.RESTARTING, ["query-died"])
        assert running.status.reason is not None
        assert running.status.reason.params["reason"] == os.strerror(number)

        monkeypatch.undo()
        running.until(lambda: running.state is State.RUNNING)
        assert (running.status.generation, runtime.engine.run_batches()) == (1, 0)

    def test_state_that_vanished_is_not_begun_anew(self, runtime: FakeRuntime) -> None:
        runtime.sql = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
        with runtime.process() as running:
            running.run()
            running.turn()
            shutil.rmtree(runtime.folder / APP_ID)
            runtime.engine.error = LsqlError("QUERY_FAILED", reason="No such file or directory")
            running.turn()
            running.until(lambda: running.state is State.FAILED)

            assert (running.reason, running.health()) == ("STATE_LOST", ["failed"])


class TestStateAtUri:
    @pytest.fixture
    def store(self, runtime: FakeRuntime) -> MemoryStore:
        """The store with the state of the processor, which does not answer."""
        runtime.env = {"LSQL_STATE_URI": "s3a://bucket"}
        runtime.store = MemoryStore(fails=unreachable)
        return runtime.store

    def test_it_waits_for_an_unreachable_store_and_changes_nothing(
        self, runtime: FakeRuntime, store: MemoryStore
    ) -> None:
        with runtime.process() as running:
            for _ in range(3):
                assert (running.state, running.reason, running.health()) == (
                    State.WAITING,
                    "STATE_STORE_UNREACHABLE",
                    ["store-unreachable"],
                )
                running.advance_s(1)
                running.turn()
            assert (runtime.brokers.changes, store.files) == ([], {})

            store.fails = lambda _: None
            running.until(lambda: running.state is State.RUNNING)
            assert running.health() == []

    def test_a_processor_that_a_person_has_stopped_stays_stopped_when_the_store_answers(
        self, runtime: FakeRuntime, store: MemoryStore
    ) -> None:
        store.files["store://bucket/app/control.json"] = b'{"desired": "stopped", "by": "ada"}'
        with runtime.process() as running:
            store.fails = lambda _: None
            running.until(lambda: running.state is State.STOPPED)

            running.state_dir.set_stopped(False, "ada", 1)
            running.turn(Cause.START)
            running.until(lambda: running.state is State.RUNNING)

    def test_it_waits_for_state_that_another_process_still_has(self, runtime: FakeRuntime, store: MemoryStore) -> None:
        with runtime.process() as running:
            store.fails = lambda _: None
            store.files["store://bucket/app/lock/1"] = b'{"host": "there", "pid": 7, "machine": "another"}'
            running.until(lambda: running.reason == "STATE_DIR_IN_USE")
            assert (running.state, running.health()) == (State.WAITING, ["state-in-use"])

            store.files["store://bucket/app/lock/1"] = b'{"released": true}'
            running.until(lambda: running.state is State.RUNNING)

    @pytest.mark.parametrize("code", ["STATE_STORE_REFUSED", "STATE_STORE_WITHOUT_CONNECTOR", "STATE_STORE_FAILED"])
    def test_a_store_that_a_person_has_to_correct_ends_the_first_start(
        self, runtime: FakeRuntime, store: MemoryStore, code: str
    ) -> None:
        store.fails = failing(code)
        with pytest.raises(LsqlError, match=code), runtime.process():
            pass

    def test_a_store_that_refuses_a_later_start_is_tried_again(self, runtime: FakeRuntime, store: MemoryStore) -> None:
        with runtime.process() as running:
            store.fails = failing("STATE_STORE_REFUSED")
            running.until(lambda: running.reason == "STATE_STORE_REFUSED")
            assert (running.state, running.health()) == (State.RESTARTING, ["query-died"])

            store.fails = lambda _: None
            running.until(lambda: running.state is State.RUNNING)

    def test_a_query_whose_store_is_lost_waits_for_it(self, runtime: FakeRuntime, store: MemoryStore) -> None:
        store.fails = lambda _: None
        with runtime.process() as running:
            running.run()
            store.fails = unreachable
            runtime.engine.error = LsqlError("STATE_STORE_UNREACHABLE", uri="s3a://bucket/app", reason="refused")
            running.turn()
            assert (running.state, running.reason) == (State.RESTARTING, "STATE_STORE_UNREACHABLE")

            running.until(lambda: running.state is State.WAITING)
            assert running.health() == ["store-unreachable"]

            store.fails = lambda _: None
            running.until(lambda: running.state is State.RUNNING)


def failing(code: str) -> Callable[[str], None]:
    """Of a store whose requests all have an error."""

    def fail(_: str) -> None:
        raise LsqlError(code, uri="store://bucket/app", reason="Forbidden")

    return fail


class TestRestarting:
    def test_a_start_without_rights_is_repeated_until_they_are_granted(self, runtime: FakeRuntime) -> None:
        runtime.brokers.refused()
        with runtime.process() as running:
            assert (running.state, running.reason, running.health()) == (
                State.RESTARTING,
                "BROKER_REFUSED",
                ["query-died"],
            )
            runtime.brokers.outage = None
            running.until(lambda: running.state is State.RUNNING)

            assert (running.status.broker_error, running.health()) == (None, [])

    def test_a_failed_query_is_restarted_and_continues(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
            runtime.brokers.produce("t", RECORD)
            runtime.engine.error = TEMPORARY
            running.turn()
            assert (running.state, running.reason, running.health()) == (
                State.RESTARTING,
                "QUERY_FAILED",
                ["query-died"],
            )

            running.until(lambda: running.state is State.RUNNING)
            assert runtime.engine.run_batches() == 1
            assert (running.status.restarts, running.health()) == (1, [])

    def test_each_restart_delay_is_longer_up_to_a_minute(self, runtime: FakeRuntime) -> None:
        runtime.engine.start_error = TEMPORARY
        with runtime.process() as running:
            for _ in range(9):
                running.until(lambda: running.state is State.STARTING, turns=70)
                running.turn()

        assert running.restart_delays() == [1, 2, 4, 8, 15, 30, 60, 60, 60]

    def test_after_a_batch_the_restart_delay_is_the_shortest(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            for _ in range(2):
                running.until(lambda: running.state is State.RUNNING)
                runtime.engine.error = TEMPORARY
                running.turn()
            running.until(lambda: running.state is State.RUNNING)
            runtime.engine.run_batches()
            runtime.engine.error = TEMPORARY
            running.turn()

        assert running.restart_delays() == [1, 2, 1]

    def test_an_internal_error_restarts_the_plan(self, runtime: FakeRuntime) -> None:
        runtime.engine.start_error = ZeroDivisionError("internal")
        with runtime.process() as running:
            assert running.turn()
            assert (running.state, running.reason) == (State.RESTARTING, "QUERY_FAILED")
            assert "ZeroDivisionError: internal" in (running.status.reason.message if running.status.reason else "")

            runtime.engine.start_error = None
            running.until(lambda: running.state is State.RUNNING)


class TestFailing:
    @pytest.mark.parametrize(
        "error",
        [
            LsqlError("OFFSETS_OUT_OF_RANGE", reason="gone"),
            LsqlError("GROUP_TOO_LARGE", reason="large"),
        ],
        ids=lambda error: error.code,
    )
    def test_a_final_error_is_not_retried(self, runtime: FakeRuntime, error: LsqlError) -> None:
        with runtime.process() as running:
            running.run()
            runtime.engine.error = error
            running.turn()
            running.advance_s(3600)

            assert (running.state, running.reason, running.health()) == (State.FAILED, error.code, ["failed"])
            assert running.restart_delays() == [None]
            assert runtime.engine.running is None

    def test_a_person_can_start_it_again_and_it_can_fail_again(self, runtime: FakeRuntime) -> None:
        gone = LsqlError("OFFSETS_OUT_OF_RANGE", reason="gone")
        with runtime.process() as running:
            running.run()
            for _ in range(2):
                runtime.engine.error = gone
                running.turn()
                assert running.state is State.FAILED
                running.turn(Cause.START)
                running.until(lambda: running.state is State.RUNNING)
        assert running.restart_delays() == [None, None]

    def test_a_malformed_json_value_is_reported_with_the_reason(self, runtime: FakeRuntime) -> None:
        runtime.brokers.produce("t", (b"k", b'{"g": '))
        malformed = LsqlError(
            "RECORD_MALFORMED", topic="t", partition=0, offset=1, part="value", format="JSON", reason="unknown"
        )
        with runtime.process() as running:
            running.run()
            runtime.engine.error = malformed
            running.turn()

            assert running.status.reason is not None
            assert (running.reason, running.status.reason.params["offset"]) == ("RECORD_MALFORMED", 1)
            assert "character" in str(running.status.reason.params["reason"])

    def test_an_invalid_program_at_a_restart_is_a_final_error(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
            runtime.brokers.delete_topic("o")
            runtime.engine.error = TEMPORARY
            running.turn()
            running.until(lambda: running.state is State.FAILED)

            assert running.reason == "TARGET_UNKNOWN"
