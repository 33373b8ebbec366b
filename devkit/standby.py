"""Two `lsql run` with one state, of which a Lease chooses the one that runs the program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import Signals

from ci.tools.child_processes import children_of
from devkit.broker import Broker
from devkit.lease_server import LeaseServer, lease_server
from devkit.runner import Runner
from devkit.waiting import wait_until

DEADLINE_S = 240


@contextmanager
def pair(
    broker: Broker, sql: str, app: str, folders: tuple[Path, Path], **env: str
) -> Iterator[tuple[Runner, Runner, LeaseServer]]:
    """A leader, a standby that is warm, and their Lease. Each has a state directory."""
    with lease_server() as lease:
        variables = {**lease.environment, "LSQL_LEASE_HOST": "127.0.0.1", **env}
        first, second = (Runner(broker.bootstrap, sql, app, folder, **variables) for folder in folders)
        with first:
            await_state(first, "running")
            with second:
                await_standby(second)
                yield first, second, lease


def await_standby(runner: Runner) -> None:
    """Wait until a process is a standby, and warm."""
    await_state(runner, "standby")


def await_state(runner: Runner, state: str, deadline_s: float = DEADLINE_S) -> None:
    """Wait until GET /health of a process has a state. GET /stream is an error while no process leads."""
    wait_until(lambda: runner.get("/health/ready").body["state"] == state, f"state {state}", deadline_s)


def processes_of(runner: Runner) -> list[int]:
    """The ids of the JVM, the child process and its parent: the first one alone ends itself when it is replaced."""
    child = runner.child_pid()
    return [*children_of(child), child, runner.pid]


def send(pids: list[int], number: Signals) -> None:
    """Send a signal to the processes that exist."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
