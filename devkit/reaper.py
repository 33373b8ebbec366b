"""Ends programs whose starter ended without ending them: it was killed, or its terminal was closed.

A reaper is a separate process. It reads the process groups and folders that it guards from a pipe to which only the
starter writes. When the starter ends, for whatever reason, the kernel closes the pipe.

Run as a script this file is the reaper; it imports nothing of this package.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""The signals that a closed terminal, Ctrl-C and a service manager send to all processes of a session."""
_END_S = 10.0
_POLL_S = 0.01


class Reaper:
    """The reaper of this interpreter; its process starts with the first group or folder to guard."""

    def __init__(self) -> None:
        self._pipe: int | None = None
        self._lock = Lock()

    def guard_group(self, group: int) -> None:
        """Kill this process group once this interpreter is dead."""
        self._write(f"+group {group}")

    def release_group(self, group: int) -> None:
        """The group has ended; another group may get its number."""
        self._write(f"-group {group}")

    def guard_folder(self, folder: Path) -> None:
        """Remove this folder once this interpreter is dead."""
        self._write(f"+folder {folder}")

    def release_folder(self, folder: Path) -> None:
        """The folder is gone."""
        self._write(f"-folder {folder}")

    def _write(self, line: str) -> None:
        with self._lock:
            if self._pipe is None:
                self._pipe = _start()
            with suppress(BrokenPipeError):  # the reaper was killed; nothing else depends on it
                os.write(self._pipe, f"{line}\n".encode())


def _start() -> int:
    """Start the process. Its pipe stays open until this interpreter ends."""
    source, target = os.pipe()
    to_null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", __file__],
        {},
        file_actions=[(os.POSIX_SPAWN_DUP2, source, 0), *to_null],
        setsid=True,
    )
    os.close(source)
    return target


def _reap(lines: IO[str]) -> None:
    """Keep track of what is guarded until the pipe ends, then end it."""
    guarded: set[str] = set()
    for line in lines:
        thing = line[1:].rstrip("\n")
        if line.startswith("+"):
            guarded.add(thing)
        else:
            guarded.discard(thing)
    pairs = [thing.split(" ", 1) for thing in guarded]
    groups = [int(value) for kind, value in pairs if kind == "group"]
    folders = [value for kind, value in pairs if kind == "folder"]
    deadline = time.monotonic() + _END_S
    while _kill(groups, folders) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _kill(groups: list[int], folders: list[str]) -> bool:
    """Kill the groups, and every process whose temporary folder is guarded. Returns whether there was one.

    A process may have left its group, as the JVM of a processor does, or may just have started; its folder identifies
    it.
    """
    killed = False
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
            killed = True
    marks = {f"TMPDIR={folder}".encode() for folder in folders}
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if marks & set(environment.read_bytes().split(b"\0")):
                os.kill(int(environment.parent.name), signal.SIGKILL)
                killed = True
    return killed


if __name__ == "__main__":
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    _reap(sys.stdin)
