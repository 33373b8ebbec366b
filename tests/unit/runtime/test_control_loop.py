"""The control loop on fakes, with a clock that the tests advance: no JVM, no broker, no thread."""

from __future__ import annotations

import json

import pytest

from devkit.fake_brokers import SERVERS
from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.processor import JvmGone, LateRecordsDropped
from lsql_runner.events.state import State
from lsql_runner.status.lifecycle import Cause
from tests.unit.runtime.conftest import P0, RECORD

COUNT = "SET emit='final'; INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 10s GROUP BY g"


class TestRunning:
    def test_a_batch_updates_the_status_and_the_position_of_the_group(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
            assert (running.status.records_in, running.status.committed, running.health()) == (1, {P0: 1}, [])

        assert runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 1}

    def test_the_position_is_known_before_the_first_batch(self, runtime: FakeRuntime) -> None:
        runtime.brokers.commit(APP_ID, {P0: 1})

        with runtime.process() as running:
            running.turn()
            assert running.status.committed == {P0: 1}

    def test_an_invalid_program_is_refused_before_it_runs(self, runtime: FakeRuntime) -> None:
        runtime.sql = "INSERT INTO o SELECT STREAM * FROM nowhere"

        with pytest.raises(LsqlError) as caught, runtime.process():
            pass

        assert caught.value.code == "TOPIC_UNKNOWN"
        assert runtime.engine.jobs == []

    def test_late_records_of_a_batch_are_an_event(self, runtime: FakeRuntime) -> None:
        runtime.sql, runtime.engine.late = COUNT, 4

        with runtime.process() as running:
            running.run()

        assert [event.count for event in running.events_of(LateRecordsDropped)] == [4]

    def test_the_event_time_of_an_idle_topic_advances(self, runtime: FakeRuntime) -> None:
        runtime.sql = COUNT
        with runtime.process() as running:
            running.run()
            before = runtime.now_ms

            running.advance_s(2)

            [(_, time_ms)] = runtime.engine.advanced
            assert time_ms == before + 2000

    def test_a_query_without_batches_is_stuck_while_the_lag_grows(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
            runtime.brokers.produce("t", *[RECORD] * 5)
            running.until(lambda: running.status.lag == 5)

            running.advance_s(3)

            assert running.health(stuck_after_ms=2_000) == ["query-stuck"]
            runtime.engine.run_batches(runtime.now_ms)
            assert running.health(stuck_after_ms=2_000) == []


class TestCommands:
    def test_a_stopped_processor_stays_stopped_in_the_next_process_until_a_start(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
            running.state_dir.set_stopped(True, "ada", 0)
            running.turn(Cause.STOP)
            assert (running.state, runtime.engine.running) == (State.STOPPED, None)
        runtime.brokers.produce("t", RECORD)

        with runtime.process() as again:
            again.advance_s(3600)
            assert (again.state, again.health()) == (State.STOPPED, [])
            again.state_dir.set_stopped(False, "ada", 1)
            again.turn(Cause.START)
            again.until(lambda: again.state is State.RUNNING)
            assert runtime.engine.run_batches() == 1

    def test_a_waiting_or_restarting_processor_can_be_stopped(self, runtime: FakeRuntime) -> None:
        runtime.brokers.lost()
        with runtime.process() as waiting:
            waiting.turn(Cause.STOP)
            assert waiting.state is State.STOPPED
        runtime.brokers.refused()
        with runtime.process() as restarting:
            restarting.turn(Cause.STOP)
            assert restarting.state is State.STOPPED

    def test_a_start_of_a_running_processor_changes_nothing(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run().turn(Cause.START)

            assert (running.state, len(runtime.engine.jobs)) == (State.RUNNING, 1)

    @pytest.mark.parametrize(("command", "state"), [(Cause.STOP, State.STOPPED), (Cause.END, State.ENDED)])
    def test_a_command_takes_effect_if_the_plan_fails_to_stop(
        self, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch, command: Cause, state: State
    ) -> None:
        def fail() -> None:
            raise ZeroDivisionError("internal")

        with runtime.process() as running:
            running.run()
            with monkeypatch.context() as patched:
                patched.setattr(runtime.engine, "stop", fail)
                running.turn(command)

            assert running.state is state
            assert runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 1}

    def test_an_error_of_a_query_is_reported_if_the_plan_fails_to_stop(
        self, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail() -> None:
            raise ZeroDivisionError("internal")

        with runtime.process() as running:
            running.run()
            runtime.engine.error = LsqlError("GROUP_TOO_LARGE", reason="3 MiB")
            with monkeypatch.context() as patched:
                patched.setattr(runtime.engine, "stop", fail)
                running.turn()

            assert (running.state, running.reason) == (State.FAILED, "GROUP_TOO_LARGE")
            assert "internal error in the supervisor" in caplog.text

    def test_an_end_stops_the_plan_and_commits_the_position(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()

            assert not running.turn(Cause.END)

            assert (running.state, runtime.engine.running) == (State.ENDED, None)
            assert runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 1}


class TestJvm:
    @pytest.mark.parametrize("is_running", [True, False])
    def test_the_end_of_the_jvm_is_reported_once(self, runtime: FakeRuntime, *, is_running: bool) -> None:
        with runtime.process() as running:
            if is_running:
                running.run()
            runtime.engine.jvm = "killed by signal 9"

            assert not running.turn()

            assert (running.state, running.reason, running.health()) == (
                State.FAILED,
                "JVM_GONE",
                ["jvm-gone", "failed"],
            )
            assert (len(running.events_of(JvmGone)), runtime.jvm_gone) == (1, 1)

    def test_a_call_of_an_ended_jvm_is_not_an_internal_error(self, runtime: FakeRuntime) -> None:
        class DyingError(Exception):
            pass

        with runtime.process() as running:
            runtime.engine.start_error = DyingError("connection reset")
            runtime.engine.jvm = None
            original = runtime.engine.jvm_death
            runtime.engine.jvm_death = lambda within_s=0.0: "killed" if within_s else None  # type: ignore[method-assign]
            assert running.turn()
            runtime.engine.jvm_death = original  # type: ignore[method-assign]
            runtime.engine.jvm = "killed"

            assert not running.turn()

            assert (running.reason, running.restart_delays()) == ("JVM_GONE", [])


def test_the_runtime_needs_no_spark() -> None:
    """Its tests are fast, and a wrong program is reported before Spark is imported."""
    import subprocess
    import sys

    source = "import sys, json, lsql_runner.runtime.supervisor; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=50, check=True)

    assert not {"pyspark", "py4j"} & set(json.loads(process.stdout))


def test_an_error_of_the_brokers_names_their_addresses(runtime: FakeRuntime) -> None:
    runtime.brokers.lost()

    with runtime.process() as running:
        assert running.status.broker_error is not None
        assert running.status.broker_error.params["servers"] == SERVERS
