"""When a green query is close behind its blue one, so that a switch leaves no gap between their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import QueryUse
from lsql_runner.status.model import Status

CLOSE_MS = 2_000


@dataclass(frozen=True, slots=True)
class _Goal:
    ends: Mapping[Partition, int]
    set_at_ms: int


class GreenQueries:
    """Compares the saved positions of green queries with those that their blue ones had some time ago."""

    def __init__(self) -> None:
        self._goals: dict[str, _Goal] = {}
        self._close: set[str] = set()

    def are_close(self, status: Status, now_ms: int) -> bool:
        """Whether all green queries are less than `CLOSE_MS` behind; called again and again.

        Args:
            status: of the processor.
            now_ms: a monotonic clock.
        """
        greens = [query for query in status.queries if query.blue is not None]
        for green in greens:
            self._update(green, status, now_ms)
        return bool(greens) and all(green.name in self._close for green in greens)

    def _update(self, green: QueryUse, status: Status, now_ms: int) -> None:
        goal = self._goals.get(green.name)
        positions = status.saved_positions.get(green.name, {})
        if goal is not None and any(positions.get(place, end) < end for place, end in goal.ends.items()):
            if now_ms - goal.set_at_ms > CLOSE_MS:
                self._close.discard(green.name)
            return
        if goal is not None and now_ms - goal.set_at_ms <= CLOSE_MS:
            self._close.add(green.name)
        self._goals[green.name] = _Goal(status.rebuild_ends(green), now_ms)
