"""The event time that the inputs of a query share, although some of them may be idle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lsql_runner.events.batches import BatchEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class EventClock:
    """The event times of the inputs of a query. All times are in milliseconds since 1970 UTC.

    An input that has been read to its end takes the newest time of the others, as in Kafka Streams: else a join of
    streams would wait for an idle topic. An input with records that have not been read keeps its own time, so that none
    of them is late.
    """

    topics: Mapping[str, tuple[str, ...]]
    """The topics of each input, by its name."""
    newest_ms: Mapping[str, int] = field(default_factory=dict)
    """The newest time of the records of each input that has been read."""
    advanced_ms: Mapping[str, int] = field(default_factory=dict)
    """The time that its records have advanced each input to."""
    reached_ms: int | None = None
    """The time that all inputs have been advanced to."""
    behind: frozenset[str] = frozenset()
    """The topics with records that the last batch did not read."""

    def after(self, batch: BatchEnded) -> EventClock:
        """The clock after a batch of its query."""
        return replace(
            self,
            newest_ms=_later(self.newest_ms, batch.input_times_ms),
            advanced_ms=_later(self.advanced_ms, batch.advanced_ms),
            behind=batch.behind,
        ).advanced(batch.ticked_ms)

    def advanced(self, time_ms: int | None) -> EventClock:
        """The clock after all inputs were advanced to a time."""
        return replace(self, reached_ms=_latest(self.reached_ms, time_ms))

    @property
    def least_ms(self) -> int | None:
        """The time of the input with the earliest one; None if an input has none."""
        return _earliest(self._time_of(name) for name in self.topics)

    def time_ms(self, idle_ms: int = 0) -> int | None:
        """The time that all inputs may be advanced to; None before the first record.

        Args:
            idle_ms: the time that has passed since the last record. It counts if all inputs have been read.
        """
        active = [name for name, topics in self.topics.items() if self.behind.intersection(topics)]
        if active:
            return _earliest(self._time_of(name) for name in active)
        newest = _latest(self.reached_ms, *(self.newest_ms.get(name) for name in self.topics))
        return None if newest is None else newest + idle_ms

    def _time_of(self, name: str) -> int | None:
        return _latest(self.advanced_ms.get(name), self.reached_ms)


def _later(times: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    """The later time of each name."""
    return {name: max(of.get(name, 0) for of in (times, others)) for name in times.keys() | others.keys()}


def _latest(*times: int | None) -> int | None:
    return max((time for time in times if time is not None), default=None)


def _earliest(times: Iterable[int | None]) -> int | None:
    known = []
    for time in times:
        if time is None:
            return None
        known.append(time)
    return min(known, default=None)
