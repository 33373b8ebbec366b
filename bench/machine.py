"""Describes the machine of a benchmark, and the versions of the engines."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from bench import flink_settings, streams_settings


def machine() -> str:
    """The processor model, the number of cores, the memory."""
    processor = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        processor = next((line.partition(": ")[2].strip() for line in file if line.startswith("model name")), processor)
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    return f"Machine: {processor}, {cores} cores, {memory_gib:.0f} GiB, the broker on the same cores."


def versions() -> str:
    """The versions of the engines and of Java."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    return (
        f"lsql-runner {version('lsql-runner')} (pyspark {version('pyspark')}), Kafka Streams "
        f"{streams_settings.VERSION}, Flink {flink_settings.VERSION} (connector {flink_settings.CONNECTOR_VERSION}, "
        f"state in RocksDB), {shown.splitlines()[0]}."
    )
