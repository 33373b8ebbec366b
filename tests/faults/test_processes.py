"""A processor whose processes are killed or suspended, that is stopped during a batch, or whose program changes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from devkit.broker import Broker
from devkit.process import ProcessFailed
from devkit.runner import Runner, has_ended
from devkit.waiting import wait_until
from tests.faults.points import Guarantee, first_batch_held, task_held
from tests.faults.programs import CONTINUOUS, GROUPS, JOINS, STATELESS, SUITES, Suite
from tests.faults.results import Kind
from tests.faults.scenario import ENDED, REQUIRED, Scenario

pytestmark = pytest.mark.timeout(300)

BEFORE = 60
BACKLOG = 100
DEADLINE_S = 60


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
@pytest.mark.parametrize("victim", ["child", "parent"])
def test_a_killed_process_of_python(broker: Broker, tmp_path: Path, suite: Suite, victim: str) -> None:
    with Scenario(broker, suite, tmp_path) as scenario:
        runner = scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()
        jvm, child = runner.jvm_pid(), runner.child_pid()
        with scenario.light_load(20):
            runner.wait_for(lambda stream: sum(place["position"] or 0 for place in stream["offsets"]) > BEFORE)
            os.kill(runner.pid if victim == "parent" else child, signal.SIGKILL)
            scenario.await_end(jvm, -signal.SIGKILL if victim == "parent" else ENDED)
            scenario.start()
        scenario.catch_up()

        scenario.check(f"{victim} killed")


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_processor_killed_before_its_first_batch(broker: Broker, tmp_path: Path, suite: Suite) -> None:
    with Scenario(broker, suite, tmp_path) as scenario:
        scenario.feed(BACKLOG)
        runner = scenario.prepare()
        starting = Thread(target=lambda: start_until_killed(runner))
        starting.start()
        wait_until(lambda: runner.running and has_jvm(runner), "the JVM", DEADLINE_S)
        jvm, group = runner.jvm_pid(), runner.pid
        wait_until((scenario.state / scenario.app_id / "program.json").exists, "program.json", DEADLINE_S)
        os.killpg(group, signal.SIGKILL)
        os.kill(jvm, signal.SIGKILL)
        starting.join()
        scenario.start()
        scenario.catch_up()

        assert scenario.check("killed when the program was pinned").total == 0


def has_jvm(runner: Runner) -> bool:
    try:
        return runner.jvm_pid() > 0
    except AssertionError:
        return False


def start_until_killed(runner: Runner) -> None:
    with suppress(ProcessFailed):
        runner.start()


def test_a_kill_while_the_progress_of_a_continuous_query_is_saved(broker: Broker, tmp_path: Path) -> None:
    """The positions are in the log of planned batches, but not in the log of ended batches."""
    with Scenario(broker, CONTINUOUS, tmp_path) as scenario:
        runner = scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()
        [offsets] = (scenario.state / scenario.app_id).glob("*/*/offsets")
        batch = max(int(path.name) for path in offsets.glob("[0-9]*")) + 1
        blocked = offsets.parent / "commits" / f".{batch}.new"
        os.mkfifo(blocked)  # opening it for writing waits for a reader
        scenario.feed(BACKLOG)
        wait_until((offsets / str(batch)).exists, "the planned batch", DEADLINE_S)
        jvm, child = runner.jvm_pid(), runner.child_pid()
        os.kill(jvm, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        scenario.await_end(jvm)
        blocked.unlink()
        scenario.start()
        scenario.catch_up()

        outcome = scenario.check("killed between the logs of the progress")
    assert (outcome.total > 0) == (REQUIRED is Guarantee.AT_LEAST_ONCE)


@pytest.mark.parametrize("suite", [GROUPS, JOINS], ids=lambda suite: suite.name)
def test_a_kill_before_the_first_batch_of_one_query_and_after_that_of_another(
    broker: Broker, tmp_path: Path, suite: Suite
) -> None:
    held = tmp_path / "held"
    with Scenario(broker, suite, tmp_path) as scenario:
        scenario.feed(BACKLOG)
        agent = scenario.agent(first_batch_held(held))
        agent.armed.touch()
        runner = scenario.start(agent)
        wait_until(held.exists, "the point of the test", DEADLINE_S)
        runner.wait_for(lambda stream: stream["recordsIn"] > 0)
        jvm = runner.jvm_pid()
        os.kill(jvm, signal.SIGKILL)
        scenario.await_end(jvm)
        scenario.start()
        scenario.catch_up()

        assert scenario.check("killed before the first batch of a query").total == 0


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_suspended_processor_continues_after_its_successor(broker: Broker, tmp_path: Path, suite: Suite) -> None:
    """Its node does not respond, its volume is attached to another node, and the node comes back.

    Under at-least-once both write for a while.
    """
    with Scenario(broker, suite, tmp_path) as scenario:
        first = scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()
        jvm = first.jvm_pid()
        with scenario.light_load(20):
            first.wait_for(lambda stream: sum(place["position"] or 0 for place in stream["offsets"]) > BEFORE)
            os.kill(jvm, signal.SIGSTOP)
            first.pause()
            attached = tmp_path / "attached"
            shutil.copytree(scenario.state, attached)
            second = scenario.start(state=attached)
            second.wait_for(lambda stream: stream["recordsIn"] > 0)
            os.kill(jvm, signal.SIGCONT)
            first.resume()
            read = first.stream()["recordsIn"]
            wait_until(
                lambda: not continues(first) or first.stream()["recordsIn"] > read,
                "more records, or the end",
                DEADLINE_S,
            )
            first.kill()
        scenario.catch_up()

        forgiven = {Kind.DISORDERED} if REQUIRED is Guarantee.AT_LEAST_ONCE else set()
        outcome = scenario.check("a suspended processor continued", forgiven=forgiven)
    if REQUIRED is Guarantee.AT_LEAST_ONCE:
        assert outcome.total > 0


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_suspended_jvm_whose_parent_process_was_killed_continues_after_the_next_start(
    broker: Broker, tmp_path: Path, suite: Suite
) -> None:
    """The next start is refused, or the JVM writes nothing more: it has the same state directory."""
    with Scenario(broker, suite, tmp_path) as scenario:
        first = scenario.start()
        scenario.feed(BEFORE)
        scenario.catch_up()
        jvm, child = first.jvm_pid(), first.child_pid()
        with scenario.light_load(20), suspended(jvm):
            first.wait_for(lambda stream: sum(place["position"] or 0 for place in stream["offsets"]) > BEFORE)
            os.kill(jvm, signal.SIGSTOP)
            os.kill(child, signal.SIGKILL)
            assert first.wait(30) == ENDED
            second = scenario.prepare()
            try:
                second.start().wait_for(lambda stream: stream["recordsIn"] > 0)
            except ProcessFailed:
                assert "STATE_DIR_IN_USE" in second.output()
            os.kill(jvm, signal.SIGCONT)
            wait_until(lambda: has_ended(jvm), "the end of the JVM", DEADLINE_S)
            if not second.running:
                scenario.start()
        scenario.catch_up()

        scenario.check("a suspended JVM continued")


@contextmanager
def suspended(pid: int) -> Iterator[None]:
    """A process that is suspended in the block and has ended after it."""
    try:
        yield
    finally:
        if not has_ended(pid):
            os.kill(pid, signal.SIGKILL)


def continues(runner: Runner) -> bool:
    """Whether a processor still runs, and has not failed."""
    try:
        return runner.running and runner.stream()["state"] in ("running", "starting")
    except (OSError, AssertionError):
        return False


@pytest.mark.parametrize("suite", [STATELESS, GROUPS, JOINS], ids=lambda suite: suite.name)
def test_a_stop_does_not_wait_for_a_batch_that_does_not_end(broker: Broker, tmp_path: Path, suite: Suite) -> None:
    """A task is held between two records, ignores the interrupt of the stop, and continues after it."""
    held = tmp_path / "held"
    with Scenario(broker, suite, tmp_path) as scenario:
        agent = scenario.agent(task_held(held))
        runner = scenario.start(agent)
        scenario.feed(BEFORE)
        scenario.catch_up()
        agent.armed.touch()
        scenario.feed(BACKLOG)
        wait_until(held.exists, "the point of the test", DEADLINE_S)
        runner.stop()
        scenario.start()
        scenario.catch_up()

        scenario.check("stopped during a batch")
