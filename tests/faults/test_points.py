"""A JVM that is killed at a named point of the code loses no result, and repeats only what its guarantee allows."""

import os
import signal
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.waiting import wait_until
from tests.faults.points import CRASHES, POINTS, TARGET_ENDS_SAVED, Guarantee, Point, Repeats, task_held
from tests.faults.programs import CONTINUOUS, Suite
from tests.faults.scenario import ENDED, REQUIRED, Scenario

pytestmark = pytest.mark.timeout(300)

BEFORE = 60
AFTER = 30
DEADLINE_S = 60


def passed(*, in_recovery: bool) -> list[object]:
    """The points of the required guarantee with each suite that passes them."""
    return [
        pytest.param(point, suite, id=f"{point.name}-{suite.name}")
        for point in POINTS
        if point.in_recovery == in_recovery and point.only in (None, REQUIRED)
        for suite in point.suites
        if REQUIRED is Guarantee.EXACTLY_ONCE or not suite.only_exactly_once
    ]


def kill_at(scenario: Scenario, point: Point) -> None:
    """Run until the JVM is killed at a point, with a backlog so that the batch has several records of each key."""
    agent = scenario.agent(point)
    runner = scenario.start(agent)
    scenario.feed(BEFORE)
    scenario.catch_up()
    agent.armed.touch()
    with scenario.light_load(20):
        assert runner.wait(60) == ENDED, runner.output()[-3000:]


@pytest.mark.parametrize(("point", "suite"), passed(in_recovery=False))
def test_a_jvm_killed_at_a_point(broker: Broker, tmp_path: Path, point: Point, suite: Suite) -> None:
    with Scenario(broker, suite, tmp_path) as scenario:
        kill_at(scenario, point)
        scenario.feed(AFTER)
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check(f"killed at {point.name}")

    if REQUIRED is Guarantee.AT_LEAST_ONCE and point.repeats is not Repeats.MAYBE:
        assert (outcome.total > 0) == (point.repeats is Repeats.ALWAYS), outcome


@pytest.mark.parametrize(("point", "suite"), passed(in_recovery=True))
def test_a_jvm_killed_in_the_recovery(broker: Broker, tmp_path: Path, point: Point, suite: Suite) -> None:
    with Scenario(broker, suite, tmp_path) as scenario:
        kill_at(scenario, CRASHES[suite.mode])
        agent = scenario.agent(point)
        agent.armed.touch()
        scenario.run_until_killed(agent)
        scenario.feed(AFTER)
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check(f"killed at {point.name}")

    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE), outcome


def test_a_jvm_killed_when_it_has_saved_ends_of_the_targets_and_again_at_other_positions(
    broker: Broker, tmp_path: Path
) -> None:
    """The ends are saved before the positions; the second process holds a task and saves others."""
    held = tmp_path / "held"
    with Scenario(broker, CONTINUOUS, tmp_path) as scenario:
        kill_at(scenario, TARGET_ENDS_SAVED)
        before = saved_batches(scenario)
        agent = scenario.agent(task_held(held))
        agent.armed.touch()
        jvm = scenario.start(agent).jvm_pid()
        wait_until(held.exists, "the point of the test", DEADLINE_S)
        wait_until(lambda: saved_batches(scenario) > before, "positions of the second process", DEADLINE_S)
        os.kill(jvm, signal.SIGKILL)
        scenario.await_end(jvm)
        scenario.start()
        scenario.catch_up()

        scenario.check("killed twice")


def saved_batches(scenario: Scenario) -> int:
    return max((int(path.name) for path in scenario.state.rglob("commits/[0-9]*")), default=-1)
