"""The control loop on fakes, with a clock that the tests advance: no JVM, no broker, no thread."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from devkit.fake_brokers import SERVERS
from devkit.fake_runtime import APP_ID, FakeProcess, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import BrokerFound, BrokerLost, Event, JvmGone, LateRecordsDropped, QueryDied
from lsql_runner.events.state import State
from lsql_runner.runtime.lifecycle import Cause

FILTER = "INSERT INTO o SELECT STREAM * FROM t"
COUNT = "SET emit='final'; INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 10s GROUP BY g"
P0 = Partition("t", 0)
TEMPORARY = LsqlError("QUERY_FAILED", reason="a target refused a record")
RECORD = (b"k", b'{"g": "x", "a": 3}')


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    """A filter with a source that has a record, and a target."""
    runtime = FakeRuntime(tmp_path, FILTER)
    runtime.brokers.add_topic("t")
    runtime.brokers.add_topic("o")
    runtime.brokers.produce("t", RECORD)
    return runtime


def events_of(running: FakeProcess, kind: type[Event]) -> list[Event]:
    return [event for event in running.events if isinstance(event, kind)]


def restart_delays(running: FakeProcess) -> list[float | None]:
    return [cast(QueryDied, event).retry_in_s for event in events_of(running, QueryDied)]


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

        assert [cast(LateRecordsDropped, event).count for event in events_of(running, LateRecordsDropped)] == [4]

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

            assert (running.health(), len(events_of(running, BrokerFound))) == ([], 1)

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
            assert len(events_of(running, BrokerLost)) >= 1

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

        assert restart_delays(running) == [1, 2, 4, 8, 15, 30, 60, 60, 60]

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

        assert restart_delays(running) == [1, 2, 1]

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
            assert restart_delays(running) == [None]
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
        assert restart_delays(running) == [None, None]

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
            assert (len(events_of(running, JvmGone)), runtime.jvm_gone) == (1, 1)

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

            assert (running.reason, restart_delays(running)) == ("JVM_GONE", [])


class TestState:
    """Lost state, and state of another program: refused, reset, or rebuilt."""

    @pytest.fixture
    def counted(self, runtime: FakeRuntime) -> FakeRuntime:
        """A program with a COUNT that has read two records and has ended."""
        runtime.sql = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
        runtime.brokers.produce("t", RECORD)
        with runtime.process() as running:
            running.run()
        return runtime

    def lose(self, runtime: FakeRuntime) -> None:
        for path in sorted((runtime.folder / APP_ID).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()

    def refusal(self, runtime: FakeRuntime, **env: str) -> LsqlError:
        with pytest.raises(LsqlError) as caught, runtime.process(**env):
            pass
        return caught.value

    def test_lost_state_is_refused(self, counted: FakeRuntime) -> None:
        self.lose(counted)

        error = self.refusal(counted)

        assert (error.code, error.params["group"]) == ("STATE_LOST", APP_ID)

    def test_lost_state_with_reset_begins_empty_at_the_position(self, counted: FakeRuntime) -> None:
        self.lose(counted)
        counted.brokers.produce("t", RECORD)

        with counted.process(LSQL_STATE_ON_LOSS="reset") as running:
            assert running.run().status.records_in == 1

    def test_lost_state_with_rebuild_reads_from_the_first_record(self, counted: FakeRuntime) -> None:
        self.lose(counted)
        counted.brokers.produce("t", RECORD)

        with counted.process(LSQL_STATE_ON_LOSS="rebuild") as running:
            running.turn()
            assert running.status.committed == {P0: 0}
            counted.engine.run_batches()
            assert running.status.records_in == 3
        assert counted.brokers.group_positions(APP_ID, [P0]) == {P0: 3}

    def test_state_of_another_program_is_refused_and_kept(self, counted: FakeRuntime) -> None:
        count, counted.sql = counted.sql, counted.sql.replace("COUNT(*)", "SUM(a)")

        error = self.refusal(counted)

        assert error.code == "STATE_INCOMPATIBLE"
        assert error.params["path"] == str(counted.folder / APP_ID)
        counted.sql = count
        counted.brokers.produce("t", RECORD)
        with counted.process() as running:
            assert (running.run().status.records_in, running.status.generation) == (1, 1)

    def test_state_of_another_program_is_deleted_with_reset(self, counted: FakeRuntime) -> None:
        counted.sql = counted.sql.replace("COUNT(*)", "SUM(a)")
        counted.brokers.produce("t", RECORD)

        with counted.process(LSQL_STATE_ON_CHANGE="reset") as running:
            status = running.run().status

        assert (status.records_in, status.generation) == (1, 2)
        assert any("The program changed" in warning for warning in status.warnings)
        assert running.state_dir.saved().generations == {2}
        with counted.process() as again:  # the state is that program's now
            assert again.status.generation == 0
            again.turn()
            assert again.status.generation == 2

    def test_a_changed_stateless_program_continues_with_the_pinned_schema(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
        runtime.sql = "INSERT INTO o SELECT STREAM color, a AS number FROM t"
        runtime.brokers.produce("t", (b"k", b'{"g": "x", "a": 3, "color": "red"}'))

        with runtime.process() as running:
            assert running.run().status.records_in == 1

        uses = {use.topic: use for use in running.status.topics}
        assert (uses["t"].value_type, uses["t"].schema_origin) == (
            "struct<g: string, a: long, color: string>",
            "pinned",
        )

    def test_a_stateless_program_without_its_directory_continues_at_the_position(self, runtime: FakeRuntime) -> None:
        with runtime.process() as running:
            running.run()
        self.lose(runtime)
        runtime.brokers.produce("t", RECORD)

        with runtime.process() as running:
            assert running.run().status.records_in == 1


def test_the_runtime_needs_no_spark() -> None:
    """Its tests are fast, and a wrong program is reported before Spark is imported."""
    import subprocess
    import sys

    source = "import sys, json, lsql_runner.runtime.supervisor; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=50, check=True)

    assert not {"pyspark", "py4j"} & set(json.loads(found.stdout))


def test_an_error_of_the_brokers_names_their_addresses(runtime: FakeRuntime) -> None:
    runtime.brokers.lost()

    with runtime.process() as running:
        assert running.status.broker_error is not None
        assert running.status.broker_error.params["servers"] == SERVERS
