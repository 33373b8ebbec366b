"""The child processes of a process, from /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def children_of(pid: int) -> list[int]:
    """The process ids of the children of all threads of a process; none if it has ended."""
    pids: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            pids += [int(child) for child in task.read_text().split()]
    return pids
