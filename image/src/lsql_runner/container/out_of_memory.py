"""When the container is out of memory: whom the kernel kills first, and how that end is told.

The kernel takes the process with the most points: a thousandth of the limit is one, and `oom_score_adj` adds some.
The JVM goes first, then the worker that holds it, last the master: each is survived by one that can say what happened.
One may fall with the other: while a killed JVM still gives its memory back, the kernel no longer counts it, and takes
the next that asks for a page. The master asks for none until the worker, and what it held, are gone.
"""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

from lsql_runner.container.limits import GROUPS, memory_kills, memory_limit_bytes
from lsql_runner.errors import Detail, DetailTable

BEFORE_ITS_PARENT = 100
"""In thousandths of the container's memory, as all of `oom_score_adj`."""
_MOST = 1000


def offer_to_the_kernel(pid: int) -> None:
    """Out of memory, let the kernel take this process before its parent, whose points it has inherited."""
    score = Path(f"/proc/{pid}/oom_score_adj")
    with suppress(OSError):  # it is a favour, not a need
        score.write_text(str(min(_MOST, int(score.read_text()) + BEFORE_ITS_PARENT)))


_DEATHS = DetailTable(
    {
        "MEMORY_LIMIT": "the kernel killed it because the container reached its memory limit of {limit_mib} MiB",
        "SIGNAL": "killed by signal {signal}",
        "EXIT_CODE": "it exited with code {code}",
    }
)


class Deaths:
    """Tells how processes end that run from now on."""

    def __init__(self, groups: Path = GROUPS) -> None:
        self._groups = groups
        self._kills_before = memory_kills(groups)

    def told(self, code: int) -> Detail:
        """How a process ended whose exit code this is, in words; below zero it is the signal's number."""
        if code == -signal.SIGKILL and memory_kills(self._groups) > self._kills_before:
            limit_mib = (memory_limit_bytes(self._groups) or 0) >> 20
            return _DEATHS("MEMORY_LIMIT", limit_mib=limit_mib)
        return _DEATHS("SIGNAL", signal=-code) if code < 0 else _DEATHS("EXIT_CODE", code=code)
