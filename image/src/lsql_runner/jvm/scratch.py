"""A temporary folder that does not remain if its process is killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from lsql_runner.errors import LsqlError

_PREFIX = "lsql-jvm-"
_LOCK = "lock"


class ScratchFolder:
    """A new temporary folder, which exists until `close`.

    Before, it deletes the folders of processes that have ended without `close`: in a pod, /tmp is kept when the
    container is started again, and each folder has a copy of the state stores. A running process holds a lock on a file
    in its folder, and so does a JVM that inherits `lock_file`, the descriptor of the file.
    """

    def __init__(self) -> None:
        _delete_abandoned(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
        self.path = Path(self._folder.name)
        # The file has its name when it is locked: without it, the folder is not deleted by others.
        unlocked = self.path / f"{_LOCK}.new"
        self.lock_file = os.open(unlocked, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self.lock_file, fcntl.LOCK_EX)
        unlocked.rename(self.path / _LOCK)

    def close(self) -> None:
        """Delete the folder. A second call changes nothing."""
        self._folder.cleanup()
        if self.lock_file >= 0:
            os.close(self.lock_file)
            self.lock_file = -1


def check_executable(folder: Path) -> None:
    """Check that files in a folder can be executed. The JVM unpacks native libraries into its temporary folder: those
    of RocksDB, Zstandard and Snappy.

    Raises:
        LsqlError: TEMPORARY_FOLDER_NOEXEC.
    """
    with suppress(OSError):  # it does not exist: the JVM reports it
        if os.statvfs(folder).f_flag & os.ST_NOEXEC:
            raise LsqlError("TEMPORARY_FOLDER_NOEXEC", path=str(folder))


def _delete_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it has no lock file, another user owns it, or its process runs
            lock = os.open(folder / _LOCK, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
