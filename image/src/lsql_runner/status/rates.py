"""How many records a query processes per second: over the last ten seconds, so that short batches do not move it."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.events.batches import BatchEnded, RecordsProcessed

WINDOW_MS = 10_000
"""The rate covers this time before the end of the last batch; it becomes zero this long after it, without lag."""
_LEAST_MS = 1_000
"""A rate is over at least this time, so that one short batch of few records does not count as a high rate."""


@dataclass(frozen=True, slots=True)
class RecordsOverTime:
    """The records of a batch, and the time in which they were processed or awaited: since the batch before."""

    start_ms: int
    end_ms: int
    records_in: int
    records_out: int

    def share(self, from_ms: int, to_ms: int) -> float:
        """The part of the span that is in an interval, from 0 to 1. The records are distributed evenly."""
        within_ms = min(self.end_ms, to_ms) - max(self.start_ms, from_ms)
        return max(0, within_ms) / (self.end_ms - self.start_ms)


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of one query. `spans` has the spans that end within WINDOW_MS before the end of the last one."""

    spans: tuple[RecordsOverTime, ...] = ()

    def after(self, event: BatchEnded | RecordsProcessed) -> Rates:
        """The rates after the next records of the query."""
        start_ms = event.at_ms - max(event.duration_ms, 1)
        if self.spans and event.at_ms - self.end_ms <= WINDOW_MS:  # a longer wait was idle time
            start_ms = min(start_ms, self.end_ms)
        span = RecordsOverTime(start_ms, event.at_ms, event.records_in, event.records_out)
        return Rates((*(s for s in self.spans if s.end_ms > event.at_ms - WINDOW_MS), span))

    @property
    def last(self) -> RecordsOverTime:
        """The span of the last batch."""
        return self.spans[-1]

    @property
    def end_ms(self) -> int:
        return self.last.end_ms

    @property
    def records_in_per_s(self) -> float:
        return sum(span.records_in * span.share(self._from_ms, self.end_ms) for span in self.spans) / self._seconds

    @property
    def records_out_per_s(self) -> float:
        return sum(span.records_out * span.share(self._from_ms, self.end_ms) for span in self.spans) / self._seconds

    @property
    def _from_ms(self) -> int:
        return max(min(span.start_ms for span in self.spans), self.end_ms - WINDOW_MS)

    @property
    def _seconds(self) -> float:
        return max(self.end_ms - self._from_ms, _LEAST_MS) / 1000
