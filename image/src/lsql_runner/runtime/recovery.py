"""When the processor starts again after an error.

The recovery of an error is `wait` (try again every second), `retry` (restart after a delay that grows) or `final` (a
person must start the processor).
"""

from __future__ import annotations

from lsql_runner.errors import LsqlError, Recovery

WAIT_MS = 1_000
"""The time between two attempts while the processor is WAITING."""
_DELAYS_S = (1, 2, 4, 8, 15, 30, 60)


def recovery_of_query(error: LsqlError) -> Recovery:
    """What to do after an error of a running query: never wait, because the restart waits if it has to."""
    return Recovery.FINAL if error.kind.recovery is Recovery.FINAL else Recovery.RETRY


class Backoff:
    """Delays between restarts: each is longer than the previous one, up to a minute."""

    def __init__(self) -> None:
        self._failures = 0

    def next_delay_s(self) -> int:
        """The delay in seconds after another failure."""
        delay_s = _DELAYS_S[min(self._failures, len(_DELAYS_S) - 1)]
        self._failures += 1
        return delay_s

    def reset(self) -> None:
        """Start again with the shortest delay."""
        self._failures = 0
