"""Waits for what other processes do."""

import time
from collections.abc import Callable

POLL_S = 0.02


def wait_for_equal(read: Callable[[], object], expected: object, deadline_s: float) -> None:
    """Wait until `read` returns a value. AssertionError, with both values, after the deadline."""
    deadline = time.monotonic() + deadline_s
    while (found := read()) != expected:
        assert time.monotonic() < deadline, f"expected: {expected}; found after {deadline_s} s: {found}"
        time.sleep(POLL_S)


def wait_until(condition: Callable[[], bool], what: str, deadline_s: float) -> None:
    """Wait until a condition is true. AssertionError, with `what` was waited for, after the deadline."""
    deadline = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} not within {deadline_s} s"
        time.sleep(POLL_S)
