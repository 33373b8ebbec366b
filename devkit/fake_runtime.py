"""The control loop of a processor with fake brokers, engine, registry and clock. Only the state directory is real."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from devkit.fake_brokers import SERVERS, FakeBrokers
from devkit.fake_engine import FakeEngine
from devkit.fake_registry import FakeRegistry
from devkit.memory_store import MemoryStore
from lsql_runner.config.settings import Settings, read_settings
from lsql_runner.errors import LsqlError
from lsql_runner.events.processor import Event, QueryDied
from lsql_runner.events.state import State
from lsql_runner.lease.ports import Leadership
from lsql_runner.runtime.control_loop import ControlLoop
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.port import Identity
from lsql_runner.runtime.position_reporter import PositionReporter
from lsql_runner.start.request import request_of
from lsql_runner.state.at_uri import StateAtUri
from lsql_runner.state.directory import StateDir
from lsql_runner.status.health import assess
from lsql_runner.status.lifecycle import Cause
from lsql_runner.status.model import Status

E = TypeVar("E", bound=Event)
APP_ID = "app"
BEGIN_MS = 1_795_252_980_000


class FakeRuntime:
    """What outlives a process: the data of brokers and registry, the state directory, and a clock.

    With `leadership`, processes run at the same time. With `store`, the state is there.
    `jvm_gone` counts the reports that the JVM has ended. A turn of the loop waits for nothing, so tests may repeat it.
    """

    def __init__(self, folder: Path, sql: str, **env: str) -> None:
        self.folder = folder
        self.sql = sql
        self.env = env
        self.brokers = FakeBrokers()
        self.registry = FakeRegistry()
        self.engine = FakeEngine(self.brokers)
        self.now_ms = BEGIN_MS
        self.jvm_gone = 0
        self.reporting: InlineReporting | None = None
        self.leadership: Leadership | None = None
        self.store: MemoryStore | None = None

    def settings(self, **env: str) -> Settings:
        return read_settings(
            {
                "SQL": self.sql,
                "SQL_APP_ID": APP_ID,
                "SQL_BOOTSTRAP_SERVERS": SERVERS,
                "SQL_STATE_STORE_DIR": str(self.folder),
                **self.env,
                **env,
            }
        )

    @contextmanager
    def process(self, **env: str) -> Iterator[FakeProcess]:
        """One process of the processor, from its preparation to its end.

        Raises:
            LsqlError: the error with which `lsql run` would end before anything runs.
        """
        settings = self.settings(**env)
        identity = Identity(app_id=APP_ID, sql=settings.sql, user="", version="0", guarantee="at_least_once")
        shared = self.leadership is not None
        with (
            closing(StateDir(settings.state_dir, settings.app_id, wait_s=0, shared=shared)) as state,
            self._opener(state) as open_state,
        ):
            loop = ControlLoop(
                RunDependencies(
                    request=request_of(settings),
                    identity=identity,
                    brokers=self.brokers,
                    registry=self.registry,
                    engine=self.engine,
                    state=state,
                    open_state=open_state,
                    python_pids=(os.getpid(),),
                    on_jvm_gone=self._on_jvm_gone,
                    leadership=self.leadership,
                    start_reporting=self._start_reporting,
                    now_ms=lambda: self.now_ms,
                    monotonic_ms=lambda: self.now_ms,
                )
            )
            running = FakeProcess(self, loop, state)
            loop.open_state()
            loop.prepare_first()
            try:
                yield running
            finally:
                loop.turn(Cause.END)

    @contextmanager
    def _opener(self, state: StateDir) -> Iterator[Callable[[], None]]:
        store = self.store
        if store is None:
            yield lambda: None
            return
        with closing(state_in(store, state, self.leadership is not None)) as at_uri:
            yield at_uri.open

    def _start_reporting(self, reporter: PositionReporter) -> InlineReporting:
        self.reporting = InlineReporting(reporter)
        return self.reporting

    def _on_jvm_gone(self) -> None:
        self.jvm_gone += 1


def state_in(store: MemoryStore, state: StateDir, has_lease: bool = False) -> StateAtUri:
    """The state of a processor in a store in memory. Nobody may take its lock, unless its test ends within seconds."""

    def lost(error: LsqlError) -> None:
        raise AssertionError(error)

    folder = store.root() / APP_ID
    return StateAtUri(state, str(folder), lambda: folder, lost, has_lease=has_lease, wait_s=0)


class InlineReporting:
    """Reports to the brokers in the thread of the test."""

    def __init__(self, reporter: PositionReporter) -> None:
        self._reporter = reporter
        self._closed = False

    def report(self) -> None:
        if not self._closed:
            self._reporter.report()

    def batch_ended(self) -> None:
        self.report()

    def close(self) -> None:
        self._reporter.report(measure=False)
        self._closed = True


class FakeProcess:
    """A control loop whose turns a test runs. `events` has all events so far."""

    def __init__(self, runtime: FakeRuntime, loop: ControlLoop, state: StateDir) -> None:
        self.runtime = runtime
        self.loop = loop
        self.state_dir = state
        self.events: list[Event] = []
        loop.machine.listen(self.events.append)

    @property
    def status(self) -> Status:
        return self.loop.machine.status

    @property
    def state(self) -> State:
        return self.status.state

    def events_of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def restart_delays(self) -> list[float | None]:
        """The seconds to the restart after each failed query; None if it is not restarted."""
        return [event.retry_in_s for event in self.events_of(QueryDied)]

    @property
    def reason(self) -> str | None:
        """The code of the state's reason."""
        return None if self.status.reason is None else self.status.reason.code

    def health(self, stuck_after_ms: int = 60_000) -> list[str]:
        """The codes of the reasons of /health."""
        return [reason.code for reason in assess(self.status, self.runtime.now_ms, stuck_after_ms).reasons]

    def turn(self, command: Cause | None = None) -> bool:
        """Run one turn of the loop, and one report to the brokers. Returns whether the loop continues."""
        goes_on = self.loop.turn(command)
        if self.runtime.reporting is not None:
            self.runtime.reporting.report()
        return goes_on

    def advance_s(self, seconds: float) -> None:
        """Advance the clock, then run a turn."""
        self.runtime.now_ms += int(seconds * 1000)
        self.turn()

    def run(self) -> FakeProcess:
        """Run the turn that starts the plan, then a batch of each query."""
        self.turn()
        assert self.state is State.RUNNING, self.status.reason
        self.runtime.engine.run_batches(self.runtime.now_ms)
        return self

    def until(self, done: Callable[[], bool], turns: int = 20) -> None:
        """Run turns, a second apart, until `done`. AssertionError after `turns` turns."""
        for _ in range(turns):
            if done():
                return
            self.advance_s(1)
        raise AssertionError(self.status)
