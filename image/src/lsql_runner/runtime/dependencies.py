"""The objects that a supervised processor uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lsql_runner.config.settings import Settings
from lsql_runner.engine.port import Engine
from lsql_runner.kafka.ports import Brokers
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.lease.ports import Leadership
from lsql_runner.runtime.clock import monotonic_ms, now_ms
from lsql_runner.runtime.port import Identity
from lsql_runner.runtime.position_reporter import PositionReporter, Reporting, ReportingThread
from lsql_runner.start.request import StartRequest
from lsql_runner.state.directory import StateDir


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDependencies:
    """The caller creates them before the supervisor, and closes them after it."""

    request: StartRequest
    identity: Identity
    brokers: Brokers
    registry: SchemaRegistry | None
    engine: Engine
    state: StateDir
    open_state: Callable[[], None] = lambda: None
    """Opens the folder of `state` if it is at a URI and not open. Raises LsqlError if the store cannot be used."""
    python_pids: tuple[int, ...] = ()
    """The Python processes of the processor, whose memory is measured."""
    on_jvm_gone: Callable[[], None] = lambda: None
    """Called once, if the JVM ends without a request."""
    leadership: Leadership | None = None
    """Whether this process leads, if a Lease decides it."""
    start_reporting: Callable[[PositionReporter], Reporting] = ReportingThread
    """Starts to commit positions and to measure the lag while a plan runs."""
    now_ms: Callable[[], int] = now_ms
    """The wall clock: milliseconds since 1970 UTC."""
    monotonic_ms: Callable[[], int] = monotonic_ms
    """A clock that is never set: milliseconds since an unknown time."""

    @property
    def settings(self) -> Settings:
        """The settings of the processor."""
        return self.request.settings
