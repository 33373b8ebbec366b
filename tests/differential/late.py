"""Records that both engines call late, or neither: others are left out before anything runs.

Kafka Streams' time goes on with each record, Spark's between batches: a batch is judged by the time that an earlier
batch left. So Kafka Streams calls more late, and which of them depends on how batches were cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.differential.histories import Event, Events, Generator

Ends = Callable[[int], list[int]]
_NEVER = -(1 << 62)
"""Before every time."""


@dataclass(frozen=True, slots=True)
class Grace:
    """Windows, and how long after their end records are still taken."""

    grace_ms: int
    ends: Ends
    """When each window of a record is over, by the record's time."""
    is_final: bool = False
    """Windows have one result, so that here an empty batch ends them after each: time is that of the batch before."""

    @property
    def batches_behind(self) -> int:
        """How many batches back the one is whose time judges a batch here."""
        return 1 if self.is_final else 2

    def over(self, at_ms: int, newest_ms: int | None) -> list[bool]:
        """Of each window whether it takes no more when the newest record is of that time."""
        return [newest_ms is not None and end <= newest_ms - self.grace_ms for end in self.ends(at_ms)]


def hopping(size_ms: int, advance_ms: int) -> Ends:
    """Windows `[n * advance, n * advance + size)`."""

    def ends(at_ms: int) -> list[int]:
        last = at_ms // advance_ms * advance_ms
        return [start + size_ms for start in range(last, at_ms - size_ms, -advance_ms)]

    return ends


def judged_alike(events: Events, graces: Sequence[Grace]) -> list[Event]:
    """The records each of whose windows is over in both engines, or open in both."""
    newest: int | None = None
    by_batch: dict[int, int | None] = {}  # the newest time up to the end of a batch
    found = []
    for event in events:
        theirs = event.at_ms if newest is None else max(newest, event.at_ms)
        if all(
            grace.over(event.at_ms, theirs) == grace.over(event.at_ms, by_batch.get(event.batch - grace.batches_behind))
            for grace in graces
        ):
            found.append(event)
            newest = theirs
        by_batch[event.batch] = newest
    return found


@dataclass(frozen=True, slots=True)
class _Limit:
    """What ended before is closed. If it is still kept, a record that is not late itself goes on with it."""

    before_ms: int
    keeps_closed: bool = False


@dataclass(slots=True)
class _Sessions:
    """The open and closed sessions of a group, as their first and last times."""

    gap_ms: int
    bounds: list[tuple[int, int]]

    def put(self, at_ms: int, limits: Sequence[_Limit]) -> bool | None:
        """Whether a record is taken; None if not by all limits, or not into the same session."""
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
        """The sessions that a record makes one of; None if it is late."""
        joined = frozenset(own for own in near if limit.keeps_closed or own[1] >= limit.before_ms)
        return None if max([at_ms, *(end for _, end in joined)]) < limit.before_ms else joined


def sessions_alike(generate: Generator, gap_ms: int, grace_ms: int, is_final: bool = False) -> Generator:
    """Records that both engines put into the same sessions, or into none.

    A session is closed when its end, the gap and the grace are over, and a record is late by the session that it would
    be part of. Here time goes on with each batch.

    Where each change is told, what ends at the limit itself is left out: to the topology it is open, and out of its
    store. Where results are final its store keeps what is closed, so what would go on with that is left out.
    """

    def chosen(random: Random) -> list[Event]:
        newest: int | None = None
        by_batch: dict[int, int | None] = {}
        groups: dict[str, _Sessions] = {}
        found = []
        for event in generate(random):
            group = (event.value or {}).get("g")
            if group is None:  # of several partitions, so without one order
                continue
            theirs = (event.at_ms if newest is None else max(newest, event.at_ms)) - gap_ms - grace_ms
            before = by_batch.get(event.batch - 1)
            limits = [_Limit(theirs), _Limit(theirs, True) if is_final else _Limit(theirs + 1)]
            limits.append(_Limit(_NEVER if before is None else before - gap_ms - grace_ms))
            sessions = groups.setdefault(group, _Sessions(gap_ms, []))
            if sessions.put(event.at_ms, limits) is not None:
                found.append(event)
                newest = theirs + gap_ms + grace_ms
            by_batch[event.batch] = newest
        return found

    return chosen


def lateness(events: Events, grace: Grace) -> tuple[int, int]:
    """Of the windows of such records how many were over, and how many were not."""
    newest = None
    late: list[bool] = []
    for event in events:
        newest = event.at_ms if newest is None else max(newest, event.at_ms)
        late += grace.over(event.at_ms, newest)
    return sum(late), len(late) - sum(late)
