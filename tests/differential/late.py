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


def sessions_alike(generate: Generator, gap_ms: int, grace_ms: int) -> Generator:
    """Records that both take into a session, or neither.

    A record is late by the session that it would be part of. That ends no earlier than any record that is at most a gap
    away: one of these in time lets both take it. One that is late by itself, with none beside it, is dropped by both.
    """

    def chosen(random: Random) -> list[Event]:
        newest: int | None = None
        by_batch: dict[int, int | None] = {}
        groups: dict[str | None, list[int]] = {}
        found = []
        for event in generate(random):
            theirs = event.at_ms if newest is None else max(newest, event.at_ms)
            ours = by_batch.get(event.batch - 1)
            beside = groups.setdefault((event.value or {}).get("g"), [])
            near = [at for at in beside if abs(at - event.at_ms) <= gap_ms]
            in_time = max(event.at_ms, *near, event.at_ms) + gap_ms >= theirs - grace_ms
            dropped = not near and ours is not None and event.at_ms + gap_ms < ours - grace_ms
            if in_time or dropped:
                found.append(event)
                newest = theirs
            if in_time:
                beside.append(event.at_ms)
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
