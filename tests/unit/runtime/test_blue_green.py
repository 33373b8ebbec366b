"""A changed program that is built beside the earlier one, in the control loop."""

from __future__ import annotations

import pytest

from devkit.fake_runtime import FakeProcess, FakeRuntime
from lsql_runner.engine.port import Job
from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State
from lsql_runner.status.lifecycle import Cause
from tests.unit.runtime.conftest import P0, RECORD

COUNT = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
SUM = COUNT.replace("COUNT(*)", "SUM(a)")
GREEN = {"LSQL_STATE_ON_CHANGE": "blue_green", "LSQL_STATE_SWITCH_AFTER_S": "0"}
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


def test_the_changed_query_takes_over_when_it_has_kept_up_for_some_time(changed: FakeRuntime) -> None:
    with changed.process(**GREEN | {"LSQL_STATE_SWITCH_AFTER_S": "60"}) as running:
        running.turn()
        changed.engine.run_batches()
        running.advance_s(1)
        running.advance_s(1)
        running.advance_s(58)
        assert phase(running) == "ready"
        running.advance_s(1)
        running.advance_s(1)
        assert phase(running) is None


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


def test_a_query_that_falls_behind_by_time_and_batches_is_not_ready(changed: FakeRuntime) -> None:
    with changed.process(**MANUAL) as running:
        running.turn()
        changed.engine.run_batches()
        running.advance_s(1)
        running.advance_s(1)
        phases = []
        for _ in range(5):
            changed.brokers.produce("t", RECORD)
            changed.engine.run_batch("stateful-0", 0)
            running.advance_s(1)
            phases.append(phase(running))
        assert phases == ["ready"] * 3 + ["building"] * 2
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


LOST = LsqlError("STATE_LOST", group="g", path="p")
"""A restart would not help."""
MEMORY = LsqlError("QUERY_FAILED", reason="memory")


def fail(runtime: FakeRuntime, error: LsqlError, *queries: str) -> None:
    """Let queries end with an error."""
    runtime.engine.error, runtime.engine.dead = error, frozenset(queries)


def test_a_changed_query_that_fails_leaves_the_earlier_one_running(changed: FakeRuntime) -> None:
    with changed.process(**GREEN) as running:
        running.turn()
        fail(changed, LOST, "stateful-1")
        running.turn()
        assert (running.state, phase(running)) == (State.RUNNING, "failed")
        assert running.status.last_error is not None
        running.turn(Cause.STOP)
        running.turn(Cause.START)
        running.turn()

    assert jobs(changed)[1:] == [["stateful-1", "stateful-0"], ["stateful-0"], ["stateful-1", "stateful-0"]]


def test_an_earlier_query_that_fails_is_not_taken_for_the_changed_one(changed: FakeRuntime) -> None:
    with changed.process(**GREEN) as running:
        running.turn()
        fail(changed, LOST, "stateful-0", "stateful-1")
        running.turn()
        assert (running.state, running.reason) == (State.FAILED, "STATE_LOST")


def test_a_changed_query_that_fails_again_and_again_does_not_restart_the_earlier_one_for_ever(
    changed: FakeRuntime,
) -> None:
    with changed.process(**GREEN) as running:
        for _ in range(3):
            running.until(lambda: running.state is State.RUNNING, 60)
            fail(changed, MEMORY, "stateful-0")  # does not count
            running.turn()
        for _ in range(3):
            running.until(lambda: running.state is State.RUNNING, 60)
            assert phase(running) != "failed"
            fail(changed, MEMORY, "stateful-1")
            running.turn()
        running.until(lambda: running.state is State.RUNNING, 60)
        running.turn()
        assert phase(running) == "failed"


def test_a_changed_query_that_ends_the_process_again_and_again_does_not_run(changed: FakeRuntime) -> None:
    with changed.process(**GREEN) as running:
        running.turn()
        assert running.state_dir.green_failures(["stateful-1"]) == 1
    with changed.process(**GREEN) as running:
        assert running.state_dir.green_failures(["stateful-1"]) == 0  # the process has ended in order
        running.state_dir.set_green_failures(["stateful-1"], 3)  # three were killed
        running.turn()
        running.turn()
        assert (running.state, phase(running)) == (State.RUNNING, "failed")
        assert running.status.blue_green is not None
        assert running.status.blue_green.error is not None
        assert running.status.blue_green.error.code == "CHANGE_FAILED"
        running.turn(Cause.STOP)
        running.turn(Cause.START)
        running.turn()
        assert jobs(changed)[-2:] == [["stateful-0"], ["stateful-1", "stateful-0"]]


def test_another_change_is_tried_although_the_one_before_has_failed(changed: FakeRuntime) -> None:
    with changed.process(**GREEN) as running:
        running.state_dir.set_green_failures(["stateful-1"], 3)
    changed.sql = COUNT.replace("COUNT(*)", "MAX(a)")
    with changed.process(**GREEN) as running:
        running.turn()

    assert jobs(changed)[-1] == ["stateful-2", "stateful-0"]


def test_a_changed_query_that_cannot_start_leaves_the_earlier_one_running(
    changed: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = changed.engine.start

    def refuse(job: Job) -> tuple[str, ...]:
        if job.source.blues:
            raise LOST
        return start(job)

    monkeypatch.setattr(changed.engine, "start", refuse)
    with changed.process(**GREEN) as running:
        running.turn()
        assert (running.state, phase(running)) == (State.RUNNING, "failed")

    assert jobs(changed)[-1] == ["stateful-0"]


def test_a_switch_whose_batch_does_not_end_in_time_waits_for_the_next_one(changed: FakeRuntime) -> None:
    with changed.process(**GREEN) as running:
        running.turn()
        changed.engine.run_batches()
        changed.brokers.produce("t", RECORD)
        planned = changed.engine.jobs[-1].checkpoints / "stateful-0" / "offsets"
        planned.write("1", planned.read("0") or b"")  # it has begun
        for _ in range(5):
            running.advance_s(1)
        assert jobs(changed)[1:] == [["stateful-1", "stateful-0"], ["stateful-1", "stateful-0"]]
        changed.engine.run_batches()
        changed.engine.run_batches()
        running.until(lambda: phase(running) is None)

    assert jobs(changed)[-1] == ["stateful-1"]


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
