"""Event time of idle topics: a window with a final result closes without waiting for the next record.

The event time of a topic is that of its newest record. While the topic is idle, its event time advances with the wall
clock. So the windows of a topic with current records close on time, and a topic with old records keeps its old event
time when its producer pauses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lsql_runner.events.batches import BatchEnded
from lsql_runner.plan.nodes import Aggregate
from lsql_runner.plan.queries import Plan

_SHORTEST_MS = 1_000
_LONGEST_MS = 60_000
_STEPS = 20
"""Steps in the time of one window. Each step is a micro-batch; a result may be late by one step."""


@dataclass(frozen=True, slots=True)
class Step:
    """Advance a clock of the plan to a time, in milliseconds since 1970 UTC."""

    clock: str
    time_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    store: str
    query: str
    pace_ms: int
    time_ms: int | None
    """The newest event time; None before the first record."""
    since_ms: int
    """The wall clock when `time_ms` became known."""
    open: bool = True
    """Whether windows may be open."""


class IdleClocks:
    """The clocks of a plan, one for each store with final results. Not thread-safe."""

    def __init__(self, plan: Plan, newest_ms: dict[str, int], now_ms: int) -> None:
        """
        Args:
            plan: the running plan.
            newest_ms: by query, the newest event time in its checkpoint.
            now_ms: the wall clock.
        """
        self._clocks = [
            _Clock(
                store=node.store,
                query=query.name,
                pace_ms=_pace(node),
                time_ms=newest_ms.get(query.name),
                since_ms=now_ms,
            )
            for query in plan.queries
            for node in query.final_groups
        ]

    def batch_ended(self, event: BatchEnded) -> None:
        """Update the clocks with the event time of a micro-batch, and with whether windows are open after it."""
        self._clocks = [_after(clock, event) if clock.query == event.query else clock for clock in self._clocks]

    def due(self, now_ms: int) -> tuple[Step, ...]:
        """The steps that are due."""
        return tuple(
            Step(clock.store, clock.time_ms + now_ms - clock.since_ms)
            for clock in self._clocks
            if clock.time_ms is not None and clock.open and now_ms - clock.since_ms >= clock.pace_ms
        )


def _pace(node: Aggregate) -> int:
    assert node.window is not None
    return min(max(node.window.size_ms // _STEPS, _SHORTEST_MS), _LONGEST_MS)


def _after(clock: _Clock, event: BatchEnded) -> _Clock:
    rows = {store.name: store.rows for store in event.stores}
    known = [time for time in (clock.time_ms, event.event_time_max_ms) if time is not None]
    return replace(
        clock,
        time_ms=max(known) if known else None,
        since_ms=event.at_ms,
        open=rows.get(clock.store, 1) > 0,
    )
