"""Takes snapshots of the state at intervals while a processor runs, and deletes the oldest ones."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Thread

from lsql_runner.errors import LsqlError
from lsql_runner.events.processor import SnapshotTaken, WarningRaised
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.state.snapshots import delete_unfinished, prune_snapshots, snapshots, take_snapshot
from lsql_runner.status.state_machine import StateMachine

PREFIX = "scheduled-"
_RETRY_MS = 600_000
"""After a snapshot that failed."""


class ScheduledSnapshots:
    """Each is `scheduled-<time>`. Snapshots with other names are left alone. Not thread-safe.

    The interval counts from the newest one on the volume, also after a restart.
    """

    def __init__(self, dependencies: RunDependencies, machine: StateMachine) -> None:
        settings = dependencies.settings
        self._every_ms = settings.snapshots_every_s * 1000
        self._keep = settings.snapshots_keep
        self._version = dependencies.identity.version
        self._state = dependencies.state
        self._now_ms = dependencies.now_ms
        self._machine = machine
        self._due_ms: int | None = None
        self._thread: Thread | None = None

    def report(self) -> None:
        """Begin a snapshot if it is due."""
        if not self._every_ms or (self._thread is not None and self._thread.is_alive()):
            return
        now_ms = self._now_ms()
        if self._due_ms is None:
            newest_ms = self._newest_ms()
            self._due_ms = now_ms if newest_ms is None else min(newest_ms, now_ms) + self._every_ms
        if now_ms >= self._due_ms:
            self._due_ms = now_ms + self._every_ms
            self._thread = Thread(target=self._take, args=(now_ms,), name="snapshot", daemon=True)
            self._thread.start()

    def _newest_ms(self) -> int | None:
        try:
            return max(each.at_ms for each in snapshots(self._state.folder) if each.name.startswith(PREFIX))
        except (ValueError, OSError, LsqlError):  # there is none, or the next one will fail and say why
            return None

    def _take(self, now_ms: int) -> None:
        name = f"{PREFIX}{datetime.fromtimestamp(now_ms / 1000, UTC):%Y%m%dT%H%M%SZ}"
        try:
            folder = self._state.folder
            delete_unfinished(folder, PREFIX)
            taken = take_snapshot(folder, name, now_ms, self._version)
            prune_snapshots(folder, self._keep, PREFIX)
        except (LsqlError, OSError) as error:
            self._due_ms = now_ms + min(_RETRY_MS, self._every_ms)
            self._machine.emit(WarningRaised(self._now_ms(), f"No snapshot was taken: {error}"))
            return
        self._machine.emit(SnapshotTaken(self._now_ms(), taken.name, taken.size_bytes))
