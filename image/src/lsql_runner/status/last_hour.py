"""Rates, lag and batch durations of the last hour, computed from the events: one sample per ten seconds.

The memory is limited: 360 samples of five numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from lsql_runner.events.processor import (
    BatchEnded,
    Event,
    MemoryMeasured,
    RecordsProcessed,
    VolumeMeasured,
    WorkersChanged,
)
from lsql_runner.status.model import Status
from lsql_runner.status.rates import RecordsOverTime

INTERVAL_MS = 10_000
SAMPLES = 360


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The measurements of one interval of `INTERVAL_MS`."""

    at_ms: int
    """The end of the interval."""
    records_in_per_s: float
    records_out_per_s: float
    lag: int | None
    """The last lag that was measured in the interval, in records; None if it was not measured."""
    batch_ms: float | None
    """The mean duration of the batches that ended in the interval; None if no batch ended."""


@dataclass(slots=True, kw_only=True)
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
    """The samples of a process that started at `started_ms`. Thread-safe."""

    def __init__(self, started_ms: int) -> None:
        self._first = started_ms // INTERVAL_MS
        self._intervals: dict[int, _Interval] = {}
        self._lock = Lock()

    def add(self, event: Event, status: Status) -> None:
        """Add an event. `status` is the status after it."""
        if isinstance(event, MemoryMeasured | VolumeMeasured | WorkersChanged):
            return  # a processor that was stopped has no lag, but its memory and its volume are measured
        with self._lock:
            interval = self._interval(event.at_ms // INTERVAL_MS)
            if status.lags:
                interval.lag = status.lag
            if isinstance(event, BatchEnded):
                interval.batches += 1
                interval.batches_ms += event.duration_ms
            if isinstance(event, BatchEnded | RecordsProcessed):
                self._spread(status.rates[event.query].last)

    def samples(self, now_ms: int) -> tuple[Sample, ...]:
        """The ended intervals of the last hour, oldest first, from the start of the process on."""
        end = now_ms // INTERVAL_MS
        with self._lock:
            return tuple(
                self._intervals.get(number, _Interval()).sample(number)
                for number in range(max(self._first, end - SAMPLES), end)
            )

    def _spread(self, span: RecordsOverTime) -> None:
        """Distribute the records of a batch over the intervals of its span, so that a long batch causes no peak."""
        newest = span.end_ms // INTERVAL_MS
        for number in range(max(newest - SAMPLES, span.start_ms // INTERVAL_MS), newest + 1):
            share = span.share(number * INTERVAL_MS, (number + 1) * INTERVAL_MS)
            interval = self._interval(number)
            interval.records_in += span.records_in * share
            interval.records_out += span.records_out * share

    def _interval(self, number: int) -> _Interval:
        """The interval with a number. A new one deletes intervals that ended more than an hour before."""
        interval = self._intervals.get(number)
        if interval is None:
            interval = self._intervals[number] = _Interval()
            oldest = max(self._intervals) - SAMPLES
            for old in [n for n in self._intervals if n < oldest]:
                del self._intervals[old]
        return interval
