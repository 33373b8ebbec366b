"""What the control loop does when a start or a query fails: it waits, restarts, or ends with the error."""

from __future__ import annotations

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.processor import BrokerFound, BrokerLost
from lsql_runner.events.state import State
from lsql_runner.runtime.lifecycle import Cause
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
