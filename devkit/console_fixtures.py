"""A console with a fake cluster and fake runners, for tests of its parts, its API and its page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from flask import Flask

from devkit.fake_cluster import FakeCluster
from devkit.fake_runner_server import HEALTHY, stream
from lsql_runner.console.actions import Operations
from lsql_runner.console.app import ConsoleDependencies, create_app
from lsql_runner.console.auth import Authenticator, digest_of, open_authenticator
from lsql_runner.console.document import RunnerReport
from lsql_runner.console.history import History
from lsql_runner.console.runners import RunnerUnavailable, read_report, unreachable
from lsql_runner.console.settings import ConsoleSettings
from lsql_runner.console.watch import ClusterWatch
from lsql_runner.console.workloads import ProcessorWorkload, WorkloadKey
from lsql_runner.errors import LsqlError
from lsql_runner.observe.console_metrics import ConsoleMetrics
from lsql_runner.web.allowed_hosts import AllowedHosts

BEGIN = datetime(2026, 11, 21, 9, 23, tzinfo=UTC)

TOKENS = {"ada": ("operator", "t-ada"), "eve": ("viewer", "t-eve")}
ALL_ON = {"stop": True, "start": True, "scale": True, "delete": True}


def settings(**changes: Any) -> ConsoleSettings:
    """The configuration of a console of two namespaces."""
    usual = {"namespaces": ["streams", "more"], "document": {"namespace": "console"}}
    return ConsoleSettings.model_validate({**usual, **changes})


def token_settings(folder: Path, **changes: Any) -> ConsoleSettings:
    """A configuration with tokens of ada, an operator, and eve, a viewer. All actions are enabled."""
    file = folder / "tokens"
    file.write_text("".join(f"{name} {role} {digest_of(token)}\n" for name, (role, token) in TOKENS.items()))
    auth = {"mode": "token", "token": {"file": str(file)}}
    return settings(**{"auth": auth, "actions": ALL_ON, "logs": {"enabled": True}, **changes})


class Clock:
    """A clock that moves only when a test calls `forward`."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **amount: float) -> None:
        """Advance by an amount in the units of timedelta, such as `minutes=1`."""
        self.now += timedelta(**amount)


@dataclass
class FakeRunners:
    """Runners by the names of processors: the response to GET /stream, or None for a runner that does not respond."""

    streams: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    others: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """The responses of other paths; by default a program without nodes and stores."""
    posted: list[tuple[str, str, str]] = field(default_factory=list)
    """Processor, action and user of each POST that succeeded."""
    tokens: list[str] = field(default_factory=list, kw_only=True)
    """The token of each of them; empty if none was sent."""
    refusal: LsqlError | None = None
    """Raised by each POST while it is set."""

    def fetch_reports(self, processors: Iterable[ProcessorWorkload]) -> dict[WorkloadKey, RunnerReport]:
        return {p.key: self.fetch_report(p) for p in processors}

    def fetch_report(self, processor: ProcessorWorkload) -> RunnerReport:
        if processor.runners == 0:
            return RunnerReport(state="scaled-down")
        said = self.streams.get(processor.name, stream())
        try:
            return unreachable("GET /stream had no response within 2 s") if said is None else read_report(said, HEALTHY)
        except RunnerUnavailable as error:
            return unreachable(error.reason)

    def get(self, processor: ProcessorWorkload, path: str) -> tuple[int, Any]:
        empty = {"/topology": {"nodes": [], "edges": [], "plan": ""}, "/metadata": []}
        return self.others.get(path, (200, empty.get(path, {})))

    def post(self, processor: ProcessorWorkload, action: str, by: str, token: str = "") -> None:
        if self.refusal:
            raise self.refusal
        self.posted.append((processor.name, action, by))
        self.tokens.append(token)
        self.streams[processor.name] = stream(state="stopped" if action == "stop" else "running")


class FakeConsole:
    """The real app with a fake cluster and fake runners. `refresh` refreshes the view."""

    def __init__(self, configured: ConsoleSettings | None = None, authenticator: Authenticator | None = None) -> None:
        self.settings = configured or settings()
        self.cluster = FakeCluster()
        self.runners = FakeRunners()
        self.clock = Clock()
        self.history = History()
        self.metrics = ConsoleMetrics()
        self.watch = ClusterWatch(
            cluster=self.cluster,
            fetch_reports=self.runners.fetch_reports,
            settings=self.settings,
            history=self.history,
            now=self.clock,
            listener=self.metrics,
        )
        operations = Operations(
            cluster=self.cluster,
            runners=self.runners,
            watch=self.watch,
            allowed=self.settings.actions,
            maximum_workers=self.settings.workers.maximum,
            history=self.history,
            now=self.clock,
            listener=self.metrics,
        )
        known = authenticator or open_authenticator(self.settings.auth)
        dependencies = ConsoleDependencies(
            settings=self.settings,
            cluster=self.cluster,
            runners=self.runners,
            watch=self.watch,
            history=self.history,
            operations=operations,
            authenticator=known,
            hosts=AllowedHosts(self.settings.allowed_hosts, "allowedHosts", "console.allowedHosts"),
            listener=self.metrics,
            render_metrics=self.metrics.render,
        )
        self.app: Flask = create_app(dependencies)

    def refresh(self) -> None:
        self.watch.refresh()

    def id_of(self, name: str) -> str:
        """The id of a processor, by its name."""
        assert self.watch.view is not None
        return next(entry.id for entry in self.watch.view.entries.values() if entry.name == name)
