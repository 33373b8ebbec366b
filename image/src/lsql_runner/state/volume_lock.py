"""The lock on a processor's directory. The JVM of the processor inherits it.

When a Python process is killed, its JVM ends some time later and writes until then. The lock belongs to the open file
(`F_OFD_SETLK`), not to the process: it is released when the last process that has the file open ends. It conflicts with
the locks of processes (`lockf`) that earlier versions used, and works on the same file systems.

Processes of which a Lease chooses the leader share the lock: one that is suspended, or whose machine is lost, would
keep it. It still excludes processes without the Lease, such as `lsql state repartition`.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from pathlib import Path

_POLL_S = 0.05


def _whole_file(kind: int) -> bytes:
    """A `struct flock` of a 64-bit Linux."""
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, 0, 0, 0)


_HELD = (errno.EACCES, errno.EAGAIN)


class LockHeldError(Exception):
    """Another process has the lock. `holder` is the process that took it, which may have ended before its JVM."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class StateLock:
    """A lock on a file, which is created. Waits up to `wait_s` seconds for its release.

    Args:
        path: of the file.
        wait_s: the longest wait, in seconds.
        shared: whether other processes may share it.

    Attributes:
        file: the descriptor of the file; a child process that inherits it also holds the lock.

    Raises:
        LockHeldError: the lock is not released in time.
        OSError: the file cannot be opened, or its file system has no locks.
    """

    def __init__(self, path: Path, wait_s: float, *, shared: bool = False) -> None:
        self._flock = _whole_file(fcntl.F_RDLCK if shared else fcntl.F_WRLCK)
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._take(time.monotonic() + wait_s)
            os.ftruncate(self.file, 0)
            os.pwrite(self.file, str(os.getpid()).encode(), 0)
        except BaseException:
            os.close(self.file)
            raise

    def _take(self, deadline: float) -> None:
        while True:
            try:
                fcntl.fcntl(self.file, fcntl.F_OFD_SETLK, self._flock)
                return
            except OSError as error:
                if error.errno not in _HELD:
                    raise
            if time.monotonic() >= deadline:
                raise LockHeldError(os.pread(self.file, 20, 0).decode(errors="replace").strip() or "unknown")
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Release the lock, unless a child process has inherited it and still runs."""
        os.close(self.file)
