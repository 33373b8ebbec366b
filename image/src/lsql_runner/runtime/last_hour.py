"""What a processor did in the last hour: one sample for each ten seconds, folded from its events.

Memory is bounded: 360 samples of five numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from lsql_runner.events.processor import BatchEnded, Event
from lsql_runner.runtime.status import Status

INTERVAL_MS = 10_000
SAMPLES = 360


@dataclass(frozen=True, slots=True)
class Sample:
    """One interval of `INTERVAL_MS`."""

    at_ms: int
    """When the interval ends."""
    records_in_per_s: float
    records_out_per_s: float
    lag: int | None
    """Records behind the end when it was last measured in the interval; None where it was not."""
    batch_ms: float | None
    """Mean duration of the batches that ended in the interval; None where none did."""


@dataclass(slots=True)
class _Interval:
    records_in: float = 0.0
    records_out: float = 0.0
    lag: int | None = None
    batches: int = 0
    batches_ms: int = 0

    def sample(self, number: int) -> Sample:
        seconds = INTERVAL_MS / 1000
        return Sample(
            at_ms=(number + 1) * INTERVAL_MS,
            records_in_per_s=self.records_in / seconds,
            records_out_per_s=self.records_out / seconds,
            lag=self.lag,
            batch_ms=self.batches_ms / self.batches if self.batches else None,
        )


class LastHour:
    """Folds events of a process that began at `begun_ms`; they may come from several threads."""

    def __init__(self, begun_ms: int) -> None:
        self._first = begun_ms // INTERVAL_MS
        self._intervals: dict[int, _Interval] = {}
        self._lock = Lock()

    def add(self, event: Event, status: Status) -> None:
        """Take an event into account. `status` is the one after it."""
        with self._lock:
            interval = self._interval(event.at_ms // INTERVAL_MS)
            if status.lags:
                interval.lag = status.lag
            if isinstance(event, BatchEnded):
                interval.batches += 1
                interval.batches_ms += event.duration_ms
                self._spread(event)

    def samples(self, now_ms: int) -> tuple[Sample, ...]:
        """The intervals of the last hour that are over, oldest first; none from before the process began."""
        end = now_ms // INTERVAL_MS
        with self._lock:
            return tuple(
                self._intervals.get(number, _Interval()).sample(number)
                for number in range(max(self._first, end - SAMPLES), end)
            )

    def _spread(self, event: BatchEnded) -> None:
        """Share the records of a batch out over the intervals in which it ran: a long one makes no peak at its end."""
        end_ms, duration_ms = event.at_ms, max(event.duration_ms, 1)
        start_ms = end_ms - duration_ms
        oldest = max(end_ms // INTERVAL_MS - SAMPLES, start_ms // INTERVAL_MS)
        for number in range(oldest, end_ms // INTERVAL_MS + 1):
            within_ms = min(end_ms, (number + 1) * INTERVAL_MS) - max(start_ms, number * INTERVAL_MS)
            interval = self._interval(number)
            interval.records_in += event.records_in * within_ms / duration_ms
            interval.records_out += event.records_out * within_ms / duration_ms

    def _interval(self, number: int) -> _Interval:
        """The interval of a number; those that are over for more than an hour are forgotten."""
        found = self._intervals.get(number)
        if found is None:
            found = self._intervals[number] = _Interval()
            oldest = max(self._intervals) - SAMPLES
            for old in [n for n in self._intervals if n < oldest]:
                del self._intervals[old]
        return found
