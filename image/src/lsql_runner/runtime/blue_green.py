"""A blue-green change in a running processor: which of its queries run, and when the green ones may take over."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from lsql_runner.errors import ErrorReport
from lsql_runner.events.batches import Partition
from lsql_runner.events.processor import QueryUse
from lsql_runner.start.blue_green import Runs
from lsql_runner.state.directory import StateDir
from lsql_runner.status.model import Status

CLOSE_MS = 2_000
_CLOSE_BATCHES = 2
MOST_FAILURES = 3
"""After so many runs with green queries that have ended with an error, or with the process, only the blue ones run: a
green query must not keep them from running."""


class BlueGreenChange:
    """Which queries run. The number of failures is in the state directory, as the process may end with a green query.

    Attributes:
        runs: which queries of the change the next run has.
        error: why the green queries do not run any more; None if they do.
    """

    def __init__(self, state: StateDir) -> None:
        self._state = state
        self.runs: Runs = "both"
        self.error: ErrorReport | None = None
        self._is_begun_again = False

    def begin(self, greens: Collection[str]) -> bool:
        """Count a run with green queries as failed, until it ends; false if too many have failed.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        if not greens:
            return True
        failures = self._state.green_failures(greens)
        if failures >= MOST_FAILURES and not self._is_begun_again:
            return False
        self._is_begun_again = False
        self._state.set_green_failures(greens, min(failures, MOST_FAILURES - 1) + 1)
        return True

    def end(self, greens: Collection[str]) -> None:
        """A run with green queries has ended without a failure of one.

        Raises:
            LsqlError: STATE_DIR_UNWRITABLE.
        """
        self._state.set_green_failures(greens, 0)

    def switch(self) -> None:
        """Run only the green queries from now on."""
        self.runs = "green"

    def fail(self, error: ErrorReport) -> None:
        """Run only the blue queries from now on."""
        self.runs, self.error = "blue", error

    def begin_again(self) -> None:
        """A person starts the processor: try the green queries again."""
        self.runs, self.error, self._is_begun_again = "both", None, True


@dataclass(frozen=True, slots=True)
class _Goal:
    """Where the blue query was some time ago."""

    ends: Mapping[Partition, int]
    set_at_ms: int
    blue: Mapping[Partition, int]
    """Its saved positions at the last look."""
    batches: int = 0
    """The batches that it has ended since then, at least."""

    def after(self, blue: Mapping[Partition, int]) -> _Goal:
        return self if blue == self.blue else replace(self, blue=blue, batches=self.batches + 1)

    def is_close(self, now_ms: int) -> bool:
        return now_ms - self.set_at_ms <= CLOSE_MS or self.batches <= _CLOSE_BATCHES


class GreenQueries:
    """Compares the saved positions of green queries with those that their blue ones had some time ago."""

    def __init__(self) -> None:
        self._goals: dict[str, _Goal] = {}
        self._close: set[str] = set()

    def are_close(self, status: Status, now_ms: int) -> bool:
        """Whether all green queries are less than `CLOSE_MS`, or two batches, behind; called again and again.

        Args:
            status: of the processor.
            now_ms: a monotonic clock.
        """
        greens = [query for query in status.queries if query.blue is not None]
        for green in greens:
            self._update(green, status, now_ms)
        return bool(greens) and all(green.name in self._close for green in greens)

    def _update(self, green: QueryUse, status: Status, now_ms: int) -> None:
        assert green.blue is not None
        blue = status.saved_positions.get(green.blue, {})
        goal = self._goals[green.name].after(blue) if green.name in self._goals else None
        if goal is None or not status.left_to_rebuild(green.name, goal.ends):
            if goal is not None and goal.is_close(now_ms):
                self._close.add(green.name)
            goal = _Goal(status.rebuild_ends(green), now_ms, blue)
        elif not goal.is_close(now_ms):
            self._close.discard(green.name)
        self._goals[green.name] = goal
