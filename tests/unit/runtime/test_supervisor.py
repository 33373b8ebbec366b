"""The supervisor's thread on fakes. The tests of the control loop run its turns one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import Event, StateChanged
from lsql_runner.events.state import State
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.port import Identity
from lsql_runner.runtime.statedir import StateDir
from lsql_runner.runtime.supervisor import Supervisor
from lsql_runner.sql.parser import parse

FILTER = "INSERT INTO o SELECT STREAM * FROM t"
P0 = Partition("t", 0)
DEADLINE_S = 20.0


class RunningSupervisor:
    """A launched supervisor on fakes, its state directory and its events."""

    def __init__(self, runtime: FakeRuntime) -> None:
        self.runtime = runtime
        settings = runtime.settings()
        self.state = StateDir(settings.state_dir, settings.app_id)
        self.supervisor = Supervisor(
            RunDependencies(
                settings=settings,
                program=parse(settings.sql),
                identity=Identity(app_id=APP_ID, sql=settings.sql, user="", version="0", guarantee="at_least_once"),
                brokers=runtime.brokers,
                registry=None,
                engine=runtime.engine,
                state=self.state,
            )
        )
        self.events: list[Event] = []
        self.supervisor.listen(self.events.append)
        self.supervisor.launch()

    def close(self) -> None:
        self.supervisor.close()
        self.state.close()

    def reach(self, state: State) -> None:
        wait_until(lambda: self.supervisor.status().state is state)


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, FILTER)
    runtime.brokers.add_topic("t")
    runtime.brokers.add_topic("o")
    runtime.brokers.produce("t", (b"k", b'{"a": 3}'))
    return runtime


@pytest.fixture
def running(runtime: FakeRuntime) -> Iterator[RunningSupervisor]:
    with closing(RunningSupervisor(runtime)) as running:
        running.reach(State.RUNNING)
        yield running


def test_it_runs_stops_and_starts(running: RunningSupervisor) -> None:
    running.supervisor.stop("ada")
    running.reach(State.STOPPED)
    assert running.state.stopped_by() == "ada"

    running.supervisor.start("ada")
    running.reach(State.RUNNING)

    moves = [event.new for event in running.events if isinstance(event, StateChanged)]
    assert moves == [State.RUNNING, State.STOPPING, State.STOPPED, State.STARTING, State.RUNNING]
    assert running.state.stopped_by() is None


def test_another_thread_commits_the_position_and_measures_the_lag(running: RunningSupervisor) -> None:
    running.runtime.engine.run_batches()

    wait_until(lambda: running.runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 1})
    wait_until(lambda: running.supervisor.status().lags == {P0: 0})


def test_close_ends_the_supervisor_and_commits_the_position(running: RunningSupervisor) -> None:
    running.runtime.engine.run_batches()

    running.supervisor.close()

    assert running.supervisor.status().state is State.ENDED
    assert running.runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 1}


def test_a_command_that_the_state_does_not_allow_is_refused(running: RunningSupervisor) -> None:
    running.supervisor.close()

    with pytest.raises(LsqlError) as caught:
        running.supervisor.stop("ada")

    assert caught.value.code == "TRANSITION_REFUSED"
    assert running.state.stopped_by() is None


def test_it_describes_its_program(running: RunningSupervisor) -> None:
    assert "read t" in running.supervisor.description.plan
    assert {"nodes", "edges"} <= running.supervisor.description.topology.keys()
    assert running.supervisor.health().ok
