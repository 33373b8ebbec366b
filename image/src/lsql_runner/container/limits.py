"""The limits of the container: memory and cores of its control group, version 1 or 2.

Source: the kernel's documentation of control groups, `memory.max`, `memory.stat`, `cpu.max`,
`memory.events` and the files of version 1.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
"""The control groups of the container."""


def memory_limit_mib(cgroups: Path = CGROUPS) -> int | None:
    """The memory limit of the container in MiB, rounded down; None if there is no limit."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        text = _read(cgroups / name)
        if text.isdigit():
            limit = int(text)
            return limit >> 20 if limit < 1 << 62 else None  # version 1 has a very large number if there is no limit
    return None


def kernel_memory_bytes(cgroups: Path = CGROUPS) -> int | None:
    """The memory that the kernel uses for the container; None if it does not report it.

    Without a memory limit the group may be the whole machine's, so the result is None.
    """
    if memory_limit_mib(cgroups) is None:
        return None
    for line in _read(cgroups / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key == "kernel" and value.strip().isdigit():
            return int(value)
    text = _read(cgroups / "memory/memory.kmem.usage_in_bytes")
    return int(text) if text.isdigit() else None


def cores(cgroups: Path = CGROUPS) -> int:
    """The number of tasks that can run at the same time: the CPU quota rounded up, at most the cores of the process."""
    usable = len(os.sched_getaffinity(0))
    quota, period = [*_read(cgroups / "cpu.max").split(), "", ""][:2]
    if not quota:
        quota, period = _read(cgroups / "cpu/cpu.cfs_quota_us"), _read(cgroups / "cpu/cpu.cfs_period_us")
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return usable
    return max(1, min(usable, math.ceil(int(quota) / int(period))))


def memory_kills(cgroups: Path = CGROUPS) -> int:
    """How often the kernel has killed a process of the container because it was out of memory."""
    for name in ("memory.events", "memory/memory.oom_control"):
        for line in _read(cgroups / name).splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill" and value.strip().isdigit():
                return int(value)
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
