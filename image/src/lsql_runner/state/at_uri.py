"""The state of a processor at a URI: opens it, and checks that its store keeps two processes apart."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.owner import Owner
from lsql_runner.state.uri_lock import WAIT_S, Holder, StoreLock, owner_of
from lsql_runner.state.volume_lock import LockHeldError

_CREATORS = 2
_FAULTS = DetailTable(
    {
        "TWICE": "a file was created twice",
        "BOTH": "two processes created the same file",
        "FAILS": "the exclusive creation of a file fails ({reason})",
        "LOST": "a written file was not found",
    }
)
_NOT_OPEN = DetailTable({"NOT_OPEN": "it was not asked yet"})


class StateAtUri:
    """A folder at a URI as the state of a processor, with a lock. Until `open` has succeeded, the state has no folder.

    With a Lease, `open` takes no lock: a standby reads the state. The process that has the Lease takes it with `take`,
    and is the owner of the state.

    Args:
        state: the directory of the processor on this machine, which is locked.
        uri: of the folder, for people.
        folder: returns the folder, `<uri>/<app id>`; it may wait.
        on_lost: called once, in a thread, with the error, if another process has the lock or could take it.
        has_lease: whether a Lease decides which process takes the lock.
        wait_s: how long to wait for the end of another process.
    """

    def __init__(
        self,
        state: StateDir,
        uri: str,
        folder: Callable[[], StateFolder],
        on_lost: Callable[[LsqlError], None],
        *,
        has_lease: bool = False,
        wait_s: float = WAIT_S,
    ) -> None:
        self._state = state
        self._folder = folder
        self._on_lost = on_lost
        self._has_lease = has_lease
        self._wait_s = wait_s
        self._lock: StoreLock | None = None
        state.close_folder(LsqlError("STATE_STORE_UNREACHABLE", uri=uri, reason=_NOT_OPEN("NOT_OPEN")))

    def open(self) -> None:
        """Check the store and, without a Lease, take the lock; unless it was done before.

        Raises:
            LsqlError: STATE_STORE_NOT_ATOMIC, STATE_STORE_UNREACHABLE and other errors of the store, STATE_DIR_IN_USE;
                then it may be called again.
        """
        if self._state.is_open:
            return
        try:
            folder = self._folder()
            check_store(folder)
            if not self._has_lease:
                self._lock = self._take_lock(folder, Holder(machine=self._state.machine()))
        except LsqlError as error:
            self._state.close_folder(error)
            raise
        self._state.open_folder(folder, self if self._has_lease else None)

    def _take_lock(self, folder: StateFolder, holder: Holder) -> StoreLock:
        try:
            return StoreLock(folder, holder, self._on_lost, wait_s=self._wait_s)
        except LockHeldError as error:
            raise LsqlError("STATE_DIR_IN_USE", path=str(folder), pid=error.holder) from None

    # --- with a Lease: state.owner.OwnerLock ---

    def take(self, lease: str, term: int, text: str) -> Owner:
        self._lock = self._take_lock(self._state.folder, Holder(lease=lease, term=term, owner=text))
        return self._lock.owner

    def owner_text(self) -> str:
        return owner_of(self._state.folder)

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.close()


def check_store(folder: StateFolder) -> None:
    """Check that the store writes, reads and deletes files, and creates a file once only.

    Raises:
        LsqlError: STATE_STORE_NOT_ATOMIC, or another error of the store.
    """
    names = [f".probe-{uuid.uuid4().hex}" for _ in range(2)]
    try:
        _check(folder, *names)
    except LsqlError as error:
        if error.code != "STATE_STORE_UNREACHABLE":  # another request would wait as long
            _delete_probes(folder, names)
        raise
    _delete_probes(folder, names)


def _delete_probes(folder: StateFolder, names: list[str]) -> None:
    with suppress(LsqlError, OSError):
        for file_name in folder.file_names():  # also temporary ones
            if any(name in file_name for name in names):
                folder.delete(file_name)


def _check(folder: StateFolder, one: str, other: str) -> None:
    folder.write(one, b"1")
    if folder.read(one) != b"1":
        raise LsqlError("STATE_STORE_NOT_ATOMIC", uri=str(folder), reason=_FAULTS("LOST"))
    folder.delete(one)
    try:
        folder.create(one, b"1")
        if folder.create(one, b"2"):
            raise LsqlError("STATE_STORE_NOT_ATOMIC", uri=str(folder), reason=_FAULTS("TWICE"))
        with ThreadPoolExecutor(_CREATORS) as pool:
            created = list(pool.map(lambda number: folder.create(other, b"%d" % number), range(_CREATORS)))
    except LsqlError as error:
        if error.code != "STATE_STORE_FAILED":
            raise
        reason = _FAULTS("FAILS", reason=error.params["reason"])
        raise LsqlError("STATE_STORE_NOT_ATOMIC", uri=str(folder), reason=reason) from None
    if sum(created) > 1:
        raise LsqlError("STATE_STORE_NOT_ATOMIC", uri=str(folder), reason=_FAULTS("BOTH"))
