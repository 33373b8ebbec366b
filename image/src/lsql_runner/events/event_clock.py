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
    reached_ms: int | None = None
    """The time that all inputs have been advanced to."""
    behind: frozenset[str] = frozenset()
    """The topics with records that the last batch did not read."""

    def after(self, batch: BatchEnded) -> EventClock:
        """The clock after a batch of its query."""
        newest = dict(self.newest_ms)
        for name, time_ms in batch.input_times_ms.items():
            newest[name] = max(time_ms, newest.get(name, time_ms))
        return replace(self, newest_ms=newest, behind=batch.behind).advanced(batch.ticked_ms)

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
        newest = [time for name in self.topics if (time := self._time_of(name)) is not None]
        return max(newest) + idle_ms if newest else None

    def _time_of(self, name: str) -> int | None:
        return _latest(self.newest_ms.get(name), self.reached_ms)


def _latest(one: int | None, other: int | None) -> int | None:
    return max((time for time in (one, other) if time is not None), default=None)


def _earliest(times: Iterable[int | None]) -> int | None:
    known = []
    for time in times:
        if time is None:
            return None
        known.append(time)
    return min(known, default=None)
