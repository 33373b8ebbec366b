"""Requests to list, take, restore, clone and delete snapshots of the state. See `runtime.port.Snapshots`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Lock

from lsql_runner.runtime.audit import AuditTrail
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.state.at_uri import StateAtUri
from lsql_runner.state.directory import StateDir
from lsql_runner.state.snapshots import Snapshot, clone_snapshot, prune_snapshots, snapshots, take_snapshot


class SnapshotRequests:
    """The snapshots of a processor.

    Args:
        dependencies: of the processor.
        audit: gets a record of each change.
        restore: restores a snapshot, by its name, unless the plan runs.
        check_leads: raises LsqlError if another process writes to the state.
    """

    def __init__(
        self,
        dependencies: RunDependencies,
        audit: AuditTrail,
        restore: Callable[[str], Snapshot],
        check_leads: Callable[[], None],
    ) -> None:
        self._dependencies = dependencies
        self._audit = audit
        self._restore = restore
        self._check_leads = check_leads
        self._lock = Lock()

    def all(self) -> list[Snapshot]:
        return snapshots(self._dependencies.state.folder)

    def take(self, name: str, by: str) -> Snapshot:
        d = self._dependencies
        with self._audit.change("snapshot", by, {"snapshot": name}), self._lock:
            self._check_leads()
            return take_snapshot(d.state.folder, name, d.now_ms(), d.identity.version)

    def restore(self, name: str, by: str) -> Snapshot:
        with self._audit.change("restore", by, {"snapshot": name}), self._lock:
            self._check_leads()
            return self._restore(name)

    def clone(self, name: str, app_id: str, by: str) -> Snapshot:
        with self._audit.change("clone", by, {"snapshot": name, "processor": app_id}), self._lock:
            self._check_leads()
            d = self._dependencies
            with self._state_of(app_id) as other:
                return clone_snapshot(d.state.folder, name, other)

    @contextmanager
    def _state_of(self, app_id: str) -> Iterator[StateDir]:
        """The state of another processor, with its lock."""
        d = self._dependencies
        with closing(StateDir(d.settings.state_dir, app_id, wait_s=0)) as state:
            if d.settings.state_store is None:
                yield state
                return
            folder = d.state.folder.sibling(app_id)
            # Without the lock, nothing is saved any more.
            with closing(StateAtUri(state, str(folder), lambda: folder, state.close_folder, wait_s=0)) as at_uri:
                at_uri.open()
                yield state

    def prune(self, keep: int, by: str) -> list[Snapshot]:
        with self._audit.change("prune", by, {"keep": str(keep)}), self._lock:
            self._check_leads()
            return prune_snapshots(self._dependencies.state.folder, keep)
