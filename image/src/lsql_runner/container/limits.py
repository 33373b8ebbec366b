"""The limits of the container: memory and cores of its control group, version 1 or 2.

Source: the kernel's documentation of control groups, `memory.max`, `cpu.max`, `memory.events` and those of version 1.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
"""The control groups of the container."""

SMALLEST_HEAP_MIB = 320
"""Spark's minimum: one and a half times what it reserves, plus what a collector keeps free."""
UNLIMITED_HEAP_MIB = 512
"""The heap without a memory limit: enough for stateless programs and small state."""

_OUTSIDE_MIB = 288
"""Memory outside the heap, measured in the image: Python 95, classes and compiled code 130; buffers, threads, garbage
collector."""
_HEAP_SHARE = 0.75
"""The heap's share of the memory above the smallest limit. The rest is for the state stores."""
_SMALLEST_LIMIT_MIB = SMALLEST_HEAP_MIB + _OUTSIDE_MIB
_MIB = 1 << 20

BROKERS_JVM_MIB = 128
"""The memory of the JVM with Kafka's Java client, for settings that librdkafka does not support (decision 0009)."""


def memory_limit_bytes(cgroups: Path = CGROUPS) -> int | None:
    """The memory limit of the container; None if there is no limit."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        text = _read(cgroups / name)
        if text.isdigit():
            limit = int(text)
            return limit if limit < 1 << 62 else None  # version 1 has a very large number if there is no limit
    return None


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


def heap_mib(limit_bytes: int | None, others_mib: int = 0) -> int:
    """The JVM's heap in MiB for a container with a memory limit.

    Args:
        limit_bytes: the limit; None if there is none.
        others_mib: the memory of other programs in the container.
    """
    if limit_bytes is None:
        return UNLIMITED_HEAP_MIB
    more = limit_bytes // _MIB - others_mib - _SMALLEST_LIMIT_MIB
    return SMALLEST_HEAP_MIB + max(0, int(more * _HEAP_SHARE))


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
