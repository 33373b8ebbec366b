"""A changed program that is built beside the earlier one, in the control loop."""

from __future__ import annotations

import pytest

from devkit.fake_runtime import FakeProcess, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State
from lsql_runner.status.lifecycle import Cause
from tests.unit.runtime.conftest import P0, RECORD

COUNT = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
SUM = COUNT.replace("COUNT(*)", "SUM(a)")
GREEN = {"LSQL_STATE_ON_CHANGE": "blue_green"}
MANUAL = {**GREEN, "LSQL_STATE_SWITCH": "manual"}


@pytest.fixture
def changed(runtime: FakeRuntime) -> FakeRuntime:
    """A program that was changed after it has read two records."""
    runtime.sql = COUNT
    runtime.brokers.produce("t", RECORD)
    with runtime.process() as running:
        running.run()
    runtime.sql = SUM
    return runtime


def phase(running: FakeProcess) -> str | None:
    return None if running.status.blue_green is None else running.status.blue_green.phase


def jobs(runtime: FakeRuntime) -> list[list[str]]:
    """The queries of each job that ran."""
    return [[query.name for query in job.plan.queries] for job in runtime.engine.jobs]


def test_the_changed_query_takes_over_when_it_has_caught_up(changed: FakeRuntime) -> None:
    with changed.process(**GREEN) as running:
        running.turn()
        running.turn()
        assert phase(running) == "building"
        assert running.status.committed == {P0: 2}
        changed.engine.run_batches()
        running.advance_s(1)

    assert (phase(running), jobs(changed)[1:]) == (None, [["stateful-1", "stateful-0"], ["stateful-1"]])


def test_a_manual_switch_waits_for_a_request(changed: FakeRuntime) -> None:
    with changed.process(**MANUAL) as running:
        running.turn()
        changed.engine.run_batches()
        running.advance_s(1)
        running.advance_s(1)
        assert phase(running) == "ready"
        running.turn(Cause.SWITCH)
        assert (running.state, phase(running)) == (State.RUNNING, None)

    assert jobs(changed)[-1] == ["stateful-1"]


def test_a_query_that_falls_behind_is_not_ready(changed: FakeRuntime) -> None:
    with changed.process(**MANUAL) as running:
        running.turn()
        changed.engine.run_batches()
        running.advance_s(1)
        running.advance_s(1)
        changed.brokers.produce("t", RECORD)
        changed.engine.run_batches()  # the blue query has read the record, and the green one has not
        running.advance_s(1)
        running.advance_s(3)
        assert phase(running) == "building"
        changed.engine.run_batches()
        running.advance_s(1)
        running.advance_s(1)
        assert phase(running) == "ready"


def test_the_changed_query_reads_up_to_where_the_earlier_one_has_ended(changed: FakeRuntime) -> None:
    with changed.process(**MANUAL) as running:
        running.turn()
        changed.brokers.produce("t", RECORD)
        assert changed.engine.run_batches() == 3  # two again, and a new one of the blue query
        assert running.status.records_to_rebuild == {"stateful-1": 1}
        assert changed.engine.run_batches() == 1
        assert running.status.records_to_rebuild == {"stateful-1": 0}


def test_a_changed_query_that_fails_leaves_the_earlier_one_running(changed: FakeRuntime) -> None:
    with changed.process(**GREEN) as running:
        running.turn()
        changed.engine.error = LsqlError("STATE_LOST", group="g", path="p")
        running.turn()
        running.turn()
        assert (running.state, phase(running)) == (State.RUNNING, "failed")
        assert "The earlier one goes on." in running.status.warnings[-1]
        changed.engine.error = LsqlError("STATE_LOST", group="g", path="p")
        running.turn()
        assert running.state is State.FAILED
        running.turn(Cause.START)
        running.turn()

    assert jobs(changed)[1:] == [["stateful-1", "stateful-0"], ["stateful-0"], ["stateful-1", "stateful-0"]]


def test_a_changed_query_that_fails_again_and_again_does_not_restart_the_earlier_one_for_ever(
    changed: FakeRuntime,
) -> None:
    with changed.process(**GREEN) as running:
        for _ in range(3):
            running.until(lambda: running.state is State.RUNNING)
            changed.engine.error = LsqlError("QUERY_FAILED", reason="memory")
            running.turn()
        running.turn()
        assert (running.state, phase(running)) == (State.RUNNING, "failed")


def test_a_switch_that_finds_no_brokers_is_made_when_they_answer(changed: FakeRuntime) -> None:
    with changed.process(**MANUAL) as running:
        running.turn()
        changed.engine.run_batches()
        running.advance_s(1)
        changed.brokers.outage = LsqlError("BROKER_UNREACHABLE", servers="b", reason="no answer")
        running.turn(Cause.SWITCH)
        assert running.state is State.RESTARTING
        changed.brokers.outage = None
        running.until(lambda: running.state is State.RUNNING)

    assert jobs(changed)[-1] == ["stateful-1"]
