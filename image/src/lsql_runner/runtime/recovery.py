"""After an error: wait, retry after a delay, or fail until a person starts the processor again."""

from __future__ import annotations

from typing import Literal

from lsql_runner.errors import LsqlError

Recovery = Literal["wait", "retry", "final"]

_WAIT = ("BROKER_UNREACHABLE", "REGISTRY_UNREACHABLE", "SCHEMA_WAITING", "SINK_UNREACHABLE")
"""Errors at a start that end by themselves, without anything being wrong with the program."""
_RETRY = (
    "BROKER_REFUSED",
    "QUERY_FAILED",
    "REGISTRY_ANSWER_INVALID",
    "REGISTRY_REFUSED",
    "SCHEMA_INCOMPATIBLE",
    "SCHEMA_UNKNOWN",
    "SINK_REFUSED",
    "STATE_DIR_UNWRITABLE",
    "TOPIC_REFUSED",
)
"""Errors at a start that somebody may correct elsewhere."""
_FINAL = (
    "RECORD_MALFORMED",
    "RECORD_REFUSED",
    "GROUP_TOO_LARGE",
    "OFFSETS_GONE",
    "SINK_RECORD_REFUSED",
    "SINK_ROW_REFUSED",
)
"""Errors of a running query that a restart would meet again."""

WAIT_MS = 1_000
"""Between two attempts while something is awaited."""
_DELAYS_S = (1, 2, 4, 8, 15, 30, 60)


def recovery_at_start(error: LsqlError) -> Recovery:
    """What to do after an error that prevented a start."""
    if error.code in _WAIT:
        return "wait"
    return "retry" if error.code in _RETRY else "final"


def recovery_of_query(error: LsqlError) -> Recovery:
    """What to do after an error that ended a running query."""
    return "final" if error.code in _FINAL else "retry"


class Backoff:
    """Delays between restarts: each longer than the one before, up to a minute."""

    def __init__(self) -> None:
        self._failures = 0

    def next_delay_s(self) -> int:
        """The delay after one more failure."""
        delay_s = _DELAYS_S[min(self._failures, len(_DELAYS_S) - 1)]
        self._failures += 1
        return delay_s

    def reset(self) -> None:
        """The next failure is a first one."""
        self._failures = 0
