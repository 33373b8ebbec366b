"""How fast a processor reads records that are there already, from its batches."""

from __future__ import annotations

from collections import deque

from lsql_runner.events.batches import BatchEnded

_LEAST_RECORDS = 10_000
_LEAST_MS = 500
"""Smaller and shorter batches had few records to read, and mostly overhead."""
_BATCHES = 20


class BacklogRate:
    """The rate of the last large batches. Batches in real time do not count: they wait for records."""

    def __init__(self) -> None:
        self._batches: deque[tuple[int, int]] = deque(maxlen=_BATCHES)

    def add(self, batch: BatchEnded) -> None:
        """Consider a batch that has ended."""
        if not batch.in_real_time and batch.records_in >= _LEAST_RECORDS and batch.duration_ms >= _LEAST_MS:
            self._batches.append((batch.records_in, batch.duration_ms))

    @property
    def per_second(self) -> float | None:
        """Records per second; None before the first large batch."""
        batches = list(self._batches)  # another thread may add one
        if not batches:
            return None
        return 1000 * sum(records for records, _ in batches) / sum(duration_ms for _, duration_ms in batches)
