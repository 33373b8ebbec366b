"""Limits how many requests are answered in a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from lsql_runner.errors import LsqlError


class RateLimit:
    """Allows so many requests in each second of a clock."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._second = 0
        self._left = per_second
        self._lock = Lock()

    def take(self) -> None:
        """Count a request.

        Raises:
            LsqlError: QUERIES_LIMITED.
        """
        with self._lock:
            second = int(self._clock())
            if second != self._second:
                self._second, self._left = second, self._per_second
            if not self._left:
                raise LsqlError("QUERIES_LIMITED", limit=self._per_second)
            self._left -= 1
