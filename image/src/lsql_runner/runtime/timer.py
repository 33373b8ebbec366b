"""When something that is repeated, or tried again, is due."""

from __future__ import annotations


class Timer:
    """A time to wait, by a clock that a person may set back: then it is over at once. It is over before `start`."""

    def __init__(self) -> None:
        self._started_ms = 0
        self._wait_ms = 0

    def start(self, now_ms: int, wait_ms: int) -> None:
        """Wait for `wait_ms` from `now_ms` on."""
        self._started_ms, self._wait_ms = now_ms, wait_ms

    def is_due(self, now_ms: int) -> bool:
        """Whether the time is over."""
        return self.remaining_ms(now_ms) == 0

    def remaining_ms(self, now_ms: int) -> int:
        """How long to wait from `now_ms` on."""
        passed_ms = now_ms - self._started_ms
        return max(0, self._wait_ms - passed_ms) if passed_ms >= 0 else 0
