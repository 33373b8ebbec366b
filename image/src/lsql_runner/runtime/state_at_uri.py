"""The state of a processor at a URI: opens it, and checks that its store keeps two processes apart."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.runtime.state_lock import LockHeldError
from lsql_runner.runtime.statedir import StateDir
from lsql_runner.runtime.store_lock import WAIT_S, ExclusiveFolder, StoreLock

LOG = logging.getLogger("lsql_runner.state")

UNREACHABLE_S = 60.0
"""How long a start waits for a store that cannot be reached. Then the process ends, and Kubernetes starts it again."""
_PAUSE_S = 1.0
_CREATORS = 2
_FAULTS = DetailTable(
    {
        "TWICE": "a file was created twice",
        "BOTH": "two processes created the same file",
        "FAILS": "the exclusive creation of a file fails ({reason})",
        "LOST": "a written file was not found",
    }
)


@contextmanager
def state_at_uri(
    state: StateDir,
    folder: ExclusiveFolder,
    on_lost: Callable[[], None],
    *,
    wait_s: float = WAIT_S,
    unreachable_s: float = UNREACHABLE_S,
) -> Iterator[None]:
    """Use a folder at a URI for the state of a processor, with a lock, until the end of the block.

    Args:
        state: the directory of the processor on this machine, which is locked.
        folder: `<uri>/<app id>`.
        on_lost: called once, in a thread, if another process takes the lock, or could take it.
        wait_s: how long to wait for the end of another process.
        unreachable_s: how long to wait for the store.

    Raises:
        LsqlError: STATE_STORE_NOT_ATOMIC, STATE_STORE_UNREACHABLE and other errors of the store, STATE_DIR_IN_USE.
    """
    _wait_for(lambda: check_store(folder), unreachable_s)
    try:
        lock = StoreLock(folder, state.machine(), on_lost, wait_s=wait_s)
    except LockHeldError as error:
        raise LsqlError("STATE_DIR_IN_USE", path=str(folder), pid=error.holder) from None
    try:
        state.folder = folder
        yield
    finally:
        lock.close()


def _wait_for(check: Callable[[], None], unreachable_s: float) -> None:
    deadline = time.monotonic() + unreachable_s
    said = False
    while True:
        try:
            return check()
        except LsqlError as error:
            if error.code != "STATE_STORE_UNREACHABLE" or time.monotonic() > deadline:
                raise
            if not said:
                LOG.warning("waiting for the store of the state", extra={"code": error.code, "error": error.message})
                said = True
        time.sleep(_PAUSE_S)


def check_store(folder: ExclusiveFolder) -> None:
    """Check that the store writes, reads and deletes files, and creates a file once only.

    Raises:
        LsqlError: STATE_STORE_NOT_ATOMIC, or another error of the store.
    """
    names = [f".probe-{uuid.uuid4().hex}" for _ in range(2)]
    try:
        _check(folder, *names)
    finally:
        with suppress(LsqlError, OSError):
            for found in folder.file_names():  # also temporary ones
                if any(name in found for name in names):
                    folder.delete(found)


def _check(folder: ExclusiveFolder, one: str, other: str) -> None:
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
