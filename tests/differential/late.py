"""Selects records that both engines consider late, or that neither does; all others are removed before a run.

The time of Kafka Streams advances with each record, Spark's time between batches: lateness in a batch depends on the
time after an earlier batch. So Kafka Streams has more late records, and which of them depends on the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.differential.histories import Event, Events, Generator

Ends = Callable[[int], list[int]]
"""Returns the end of each window of a record, from the time of the record; all in milliseconds since 1970 UTC."""
_NEVER = -(1 << 62)
"""Before every time."""


@dataclass(frozen=True, slots=True)
class Grace:
    """Windows, and how long after their end they accept records."""

    grace_ms: int
    ends: Ends
    is_final: bool = False
    """Whether windows have final results. Then an empty batch follows each batch and closes windows."""

    @property
    def batches_behind(self) -> int:
        """Lateness in a batch depends on the newest time of this many batches before."""
        return 1 if self.is_final else 2

    def over(self, at_ms: int, newest_ms: int | None) -> list[bool]:
        """For each window, whether it no longer accepts records when the newest record has that time."""
        return [newest_ms is not None and end <= newest_ms - self.grace_ms for end in self.ends(at_ms)]


def hopping(size_ms: int, advance_ms: int) -> Ends:
    """Windows `[n * advance, n * advance + size)`, for n from 0."""

    def ends(at_ms: int) -> list[int]:
        last = at_ms // advance_ms * advance_ms
        return [start + size_ms for start in range(last, max(at_ms - size_ms, -1), -advance_ms)]

    return ends


def with_equal_lateness(events: Events, graces: Sequence[Grace]) -> list[Event]:
    """The records for which each window is closed in both engines, or open in both. A record without a value is in no
    window, and does not advance the time."""
    newest: int | None = None
    by_batch: dict[int, int | None] = {}  # the newest time up to the end of a batch
    kept = []
    for event in events:
        theirs = event.at_ms if newest is None else max(newest, event.at_ms)
        if event.value is None:
            kept.append(event)
        elif all(
            grace.over(event.at_ms, theirs) == grace.over(event.at_ms, by_batch.get(event.batch - grace.batches_behind))
            for grace in graces
        ):
            kept.append(event)
            newest = theirs
        by_batch[event.batch] = newest
    return kept


@dataclass(frozen=True, slots=True)
class _Limit:
    """Sessions that end before this time are closed."""

    before_ms: int
    keeps_closed: bool = False
    """Whether the store keeps closed sessions. Then a record that is not late can extend one."""


@dataclass(slots=True)
class _Sessions:
    """The open and closed sessions of a group, as their first and last times."""

    gap_ms: int
    bounds: list[tuple[int, int]]

    def put(self, at_ms: int, limits: Sequence[_Limit]) -> bool | None:
        """Whether a record is accepted; None if the limits disagree, or assign it to different sessions."""
        near = [(start, end) for start, end in self.bounds if start - self.gap_ms <= at_ms <= end + self.gap_ms]
        judged = {self._joined(at_ms, near, limit) for limit in limits}
        if len(judged) > 1:
            return None
        joined = judged.pop()
        if joined is None:
            return False
        merged = (min(at_ms, *(s for s, _ in joined), at_ms), max(at_ms, *(e for _, e in joined), at_ms))
        self.bounds = [own for own in self.bounds if own not in joined] + [merged]
        return True

    def _joined(self, at_ms: int, near: list[tuple[int, int]], limit: _Limit) -> frozenset[tuple[int, int]] | None:
        """The sessions that a record merges; None if it is late."""
        joined = frozenset(own for own in near if limit.keeps_closed or own[1] >= limit.before_ms)
        return None if max([at_ms, *(end for _, end in joined)]) < limit.before_ms else joined


def with_equal_sessions(generate: Generator, gap_ms: int, grace_ms: int, is_final: bool = False) -> Generator:
    """Records that both engines assign to the same sessions, or to none.

    A session is closed when its end plus the gap plus the grace is over, and a record is late by the session that it
    would belong to. In this engine the time advances with each batch.

    If each change is a result, records for sessions that end exactly at the limit are excluded: for the topology these
    are open, but its store no longer has them. If results are final, its store keeps closed sessions, so records that
    would extend one are excluded.
    """

    def chosen(random: Random) -> list[Event]:
        newest: int | None = None
        by_batch: dict[int, int | None] = {}
        groups: dict[str, _Sessions] = {}
        kept = []
        for event in generate(random):
            if event.value is None:  # in no session
                kept.append(event)
                continue
            group = event.value.get("g")
            if group is None:  # of several partitions, so their order is not defined
                continue
            theirs = (event.at_ms if newest is None else max(newest, event.at_ms)) - gap_ms - grace_ms
            before = by_batch.get(event.batch - 1)
            limits = [_Limit(theirs), _Limit(theirs, True) if is_final else _Limit(theirs + 1)]
            limits.append(_Limit(_NEVER if before is None else before - gap_ms - grace_ms))
            sessions = groups.setdefault(group, _Sessions(gap_ms, []))
            if sessions.put(event.at_ms, limits) is not None:
                kept.append(event)
                newest = theirs + gap_ms + grace_ms
            by_batch[event.batch] = newest
        return kept

    return chosen


def lateness(events: Events, grace: Grace) -> tuple[int, int]:
    """The number of closed and of open windows of all records with a value, by the newest time so far."""
    newest = None
    late: list[bool] = []
    for event in (event for event in events if event.value is not None):
        newest = event.at_ms if newest is None else max(newest, event.at_ms)
        late += grace.over(event.at_ms, newest)
    return sum(late), len(late) - sum(late)
