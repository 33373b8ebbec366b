"""Processor time, memory, descriptors and threads of processes, from /proc."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def processor_s(root: int) -> float:
    """Processor time in seconds of the processes below `root`, including children that have ended."""
    return sum(float(sum(map(int, _stat(pid)[11:15]))) for pid in _tree(root)) / _TICKS


def jvm_started_s(root: int) -> float:
    """When the newest JVM below `root` started, in seconds since 1970, to a clock tick; 0 if there is none."""
    ticks = [int(_stat(pid)[19]) for pid in _tree(root) if _name(pid) == "java"]
    booted_s = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted_s + max(ticks) / _TICKS if ticks else 0.0


def private_mib(root: int) -> float:
    """Memory of the processes below `root` that no file backs; a page that processes share is divided among them."""
    return private_mib_of(_tree(root))


def private_mib_of(pids: Iterable[int]) -> float:
    """Memory of these processes that no file backs; a page that processes share is divided among them."""
    return sum(_anonymous_kib(pid) for pid in pids) / 1024


def descriptors(pids: Iterable[int]) -> int:
    """The number of open descriptors of these processes: files, sockets, pipes."""
    return sum(_entries(pid, "fd") for pid in pids)


def threads(pids: Iterable[int]) -> int:
    """The number of threads of these processes."""
    return sum(_entries(pid, "task") for pid in pids)


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat(int(name))
            children[int(fields[1])].append(int(name))
    tree, at = [root], 0
    while at < len(tree):
        tree += children[tree[at]]
        at += 1
    return tree


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat after the name, from the state on; zeros for a process that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ["0"] * 50


def _entries(pid: int, folder: str) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/{folder}"))
    except OSError:  # the process has ended
        return 0


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _anonymous_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:  # the process has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:")), 0)
