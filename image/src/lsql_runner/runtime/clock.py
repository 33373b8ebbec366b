"""Clocks in milliseconds, the unit of all times in the runtime."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Milliseconds since an unknown time, by a clock that is never set."""
    return time.monotonic_ns() // 1_000_000
