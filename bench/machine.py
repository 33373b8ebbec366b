"""Describes the machine of a benchmark."""

from __future__ import annotations

import os
import platform


def machine() -> str:
    """The processor model, the number of cores, the memory."""
    processor = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        processor = next((line.partition(": ")[2].strip() for line in file if line.startswith("model name")), processor)
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    return f"Machine: {processor}, {cores} cores, {memory_gib:.0f} GiB, the broker on the same cores."
