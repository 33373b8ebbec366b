"""When a program continues to write results after a fault, from the times at which they arrive. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

LEAST_MS = 1_000
"""A shorter pause may be between two batches or commits."""
SETTLED_MS = 3_000
"""For how long results have to arrive until the longest pause counts as the pause of the fault."""


def resumed_ms(arrivals_ms: Sequence[int], fault_ms: int, now_ms: int) -> int | None:
    """The time from a fault to the first result after the longest pause since then; None if it is not known yet.

    A process that gets SIGTERM may write for some seconds more, so the first result after the fault may be its own.

    Args:
        arrivals_ms: when each result arrived, in order.
        fault_ms: when the fault began.
        now_ms: until when results were observed.
    """
    times = [fault_ms, *(at for at in arrivals_ms if at > fault_ms)]
    pauses = [(later - earlier, later) for earlier, later in pairwise(times)]
    longest_ms, ended_ms = max(pauses, default=(0, now_ms))
    is_pause_over = now_ms - times[-1] < longest_ms and now_ms - ended_ms >= SETTLED_MS
    return ended_ms - fault_ms if longest_ms > LEAST_MS and is_pause_over else None


def longest_pause_ms(arrivals_ms: Sequence[int]) -> int:
    """The longest time between two results; 0 if there are fewer than two."""
    return max((later - earlier for earlier, later in pairwise(arrivals_ms)), default=0)
