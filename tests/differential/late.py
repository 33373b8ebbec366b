"""Records that both engines call late, or neither: others are left out before anything runs.

Kafka Streams' time goes on with each record, Spark's between batches: a batch is judged by the time that the batch
before the last left. So Kafka Streams calls more late, and which of them depends on how batches were cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.differential.histories import Event, Events, Generator

Ends = Callable[[int], list[int]]


@dataclass(frozen=True, slots=True)
class Grace:
    """Windows, and how long after their end records are still taken."""

    grace_ms: int
    ends: Ends
    """When each window of a record is over, by the record's time."""

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
        ours = by_batch.get(event.batch - 2)
        if all(grace.over(event.at_ms, theirs) == grace.over(event.at_ms, ours) for grace in graces):
            found.append(event)
            newest = theirs
        by_batch[event.batch] = newest
    return found


@dataclass(slots=True)
class _Sessions:
    """The open and closed sessions of a group, as their first and last times."""

    gap_ms: int
    bounds: list[tuple[int, int]]

    def put(self, at_ms: int, *closed_before_ms: int | None) -> bool | None:
        """Whether a record is taken when what ended before one of these times is closed; None: not by all the same."""
        near = [(start, end) for start, end in self.bounds if start - self.gap_ms <= at_ms <= end + self.gap_ms]
        judged = {self._judged(at_ms, near, limit) for limit in closed_before_ms}
        if len(judged) > 1:
            return None
        [(is_late, joined)] = judged
        if not is_late:
            merged = (min(at_ms, *(s for s, _ in joined), at_ms), max(at_ms, *(e for _, e in joined), at_ms))
            self.bounds = [own for own in self.bounds if own not in joined] + [merged]
        return not is_late

    def _judged(
        self, at_ms: int, near: list[tuple[int, int]], limit: int | None
    ) -> tuple[bool, frozenset[tuple[int, int]]]:
        joined = frozenset(own for own in near if limit is None or own[1] >= limit)
        return limit is not None and max([at_ms, *(end for _, end in joined)]) < limit, joined


def sessions_alike(generate: Generator, gap_ms: int, grace_ms: int) -> Generator:
    """Records that both engines put into the same sessions, or into none.

    A session is closed when its end, the gap and the grace are over, and a record is late by the session that it would
    be part of. Here time goes on with each batch. What ends at the limit itself is left out: to the topology it is
    open, and out of its store.
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
            ours = None if before is None else before - gap_ms - grace_ms
            sessions = groups.setdefault(group, _Sessions(gap_ms, []))
            if sessions.put(event.at_ms, theirs, theirs + 1, ours) is not None:
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
