"""Event time of idle topics: a window with a final result closes without waiting for the next record.

The event time of a topic is that of its newest record. While the topic is idle, its event time advances with a
monotonic clock, which no one can set. So the windows of a topic with current records close on time, and a topic with
old records keeps its old event time when its producer pauses. In a join of streams, an idle topic also takes the event
time of the others.

A topic is idle if all its records have been read: a process that was suspended, or whose brokers did not answer, has
records to read whose time has not come yet. So the ends of the topics are read before time advances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lsql_runner.events.batches import BatchEnded, RecordsProcessed
from lsql_runner.events.event_clock import EventClock
from lsql_runner.plan.clocks import QueryClock, clock_of
from lsql_runner.plan.queries import Plan


@dataclass(frozen=True, slots=True)
class Step:
    """Advance a clock of the plan to a time, in milliseconds since 1970 UTC."""

    clock: str
    time_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    clock: QueryClock
    query: str
    times: EventClock
    since_ms: int
    """The clock when there were records to read, or at the last step after it."""
    rows_wait: bool = True
    """Whether rows of the state may wait for the watermark."""

    def due_ms(self, idle_ms: int) -> int | None:
        """The time to advance to; None if no step is due."""
        if not self.rows_wait:
            return None
        time_ms = self.times.time_ms(idle_ms)
        is_due = time_ms is not None and time_ms - (self.times.least_ms or 0) >= self.clock.pace_ms
        return time_ms if is_due else None

    def after(self, event: BatchEnded, now_ms: int) -> _Running:
        rows = {store.name: store.rows for store in event.stores}
        return replace(
            self,
            times=self.times.after(event),
            since_ms=now_ms if event.records_in else self.since_ms,
            rows_wait=any(rows.get(store, 1) > 0 for store in self.clock.stores),
        )


class IdleClocks:
    """The clocks of a plan, at most one for each query. Not thread-safe."""

    def __init__(self, plan: Plan, newest_ms: dict[str, int], now_ms: int) -> None:
        """
        Args:
            plan: the running plan.
            newest_ms: by query, the event time in its checkpoint.
            now_ms: a monotonic clock, as in the methods.
        """
        self._running = [
            _Running(
                clock=clock,
                query=query.name,
                times=EventClock(topics=clock.topics, reached_ms=newest_ms.get(query.name)),
                since_ms=now_ms,
            )
            for query in plan.queries
            if (clock := clock_of(query)) is not None
        ]

    @property
    def clocks(self) -> tuple[QueryClock, ...]:
        """The clocks that it advances."""
        return tuple(each.clock for each in self._running)

    def batch_ended(self, event: BatchEnded, now_ms: int) -> None:
        """Update the clocks with the event times of a micro-batch, and with whether rows wait after it."""
        self._running = [each.after(event, now_ms) if each.query == event.query else each for each in self._running]

    def processed(self, event: RecordsProcessed, now_ms: int) -> None:
        """Update the clocks with records of a query in real time."""
        if event.records_in:
            self._running = [
                replace(each, since_ms=now_ms) if each.query == event.query else each for each in self._running
            ]

    def take_due(self, now_ms: int, has_read_all: Callable[[str], bool]) -> tuple[Step, ...]:
        """The steps that are due, each once.

        Args:
            now_ms: the clock, before the ends of topics are read.
            has_read_all: whether a query has read all records of its topics, from their ends on the brokers. It is
                called if the topics would be idle.
        """
        steps = []
        for number, before in enumerate(self._running):
            each, time_ms = before, before.due_ms(0)
            if each.clock.advances_while_idle and (idle := each.due_ms(now_ms - each.since_ms)) is not None:
                if has_read_all(each.query):
                    time_ms = idle
                else:
                    each = replace(before, since_ms=now_ms)
            if time_ms is not None:
                steps.append(Step(each.clock.name, time_ms))
                each = replace(each, times=each.times.advanced(time_ms), since_ms=now_ms)
            self._running[number] = each
        return tuple(steps)
