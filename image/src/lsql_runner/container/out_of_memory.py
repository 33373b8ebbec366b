"""When the container runs out of memory: which process the kernel kills first, and how that exit is reported.

The kernel kills the process with the highest score: one point for each thousandth of the limit that the process uses,
plus its `oom_score_adj`. The JVM must be killed first, then the process that serves the API, last its parent: so there
is always a process left that reports the cause. The kernel may kill two of them at once: while a killed JVM still
releases its memory, the kernel no longer counts it, and kills the next process that allocates a page. The parent
allocates none until its child and the JVM have ended.
"""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

from lsql_runner.container.limits import CGROUPS, memory_kills, memory_limit_mib
from lsql_runner.errors import Detail, DetailTable

SCORE_ABOVE_PARENT = 100
"""In thousandths of the container's memory, the unit of `oom_score_adj`."""
_MAX_SCORE = 1000


def raise_oom_score(pid: int) -> None:
    """Make the kernel kill this process before its parent, whose `oom_score_adj` it has inherited."""
    score = Path(f"/proc/{pid}/oom_score_adj")
    with suppress(OSError):  # the process runs without it; only the order of kills may differ
        score.write_text(str(min(_MAX_SCORE, int(score.read_text()) + SCORE_ABOVE_PARENT)))


_HEAP, _LIMIT = "HEAP_TOO_SMALL", "MEMORY_LIMIT"

_EXITS = DetailTable(
    {
        _HEAP: "its heap of {heap_mib} MiB is too small for this program",
        _LIMIT: "the kernel killed it because the container reached its memory limit of {limit_mib} MiB",
        "SIGNAL": "killed by signal {signal}",
        "EXIT_CODE": "it exited with code {code}",
    }
)


class ExitReasons:
    """Explains how processes ended that were running when this object was created, or later."""

    def __init__(self, cgroups: Path = CGROUPS) -> None:
        self._cgroups = cgroups
        self._kills_before = memory_kills(cgroups)

    def describe(self, code: int) -> Detail:
        """How a process with this exit code ended. A negative code is the number of a signal."""
        if code == -signal.SIGKILL and memory_kills(self._cgroups) > self._kills_before:
            return _EXITS(_LIMIT, limit_mib=memory_limit_mib(self._cgroups) or 0)
        return _EXITS("SIGNAL", signal=-code) if code < 0 else _EXITS("EXIT_CODE", code=code)


def heap_too_small(heap_mib: int) -> Detail:
    """How a JVM ended that could not allocate an object."""
    return _EXITS(_HEAP, heap_mib=heap_mib)


def is_out_of_memory(reason: str) -> bool:
    """Whether a process ended because its heap or the memory of the container was too small.

    Args:
        reason: a result of `heap_too_small` or `ExitReasons.describe`.
    """
    return isinstance(reason, Detail) and reason.code in (_HEAP, _LIMIT)
