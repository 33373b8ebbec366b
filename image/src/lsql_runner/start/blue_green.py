"""A blue-green change: the blue query writes the results of a changed INSERT while the state of the green one is built.

After the switch, the green query writes them, from the next record on. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lsql_runner.config.settings import Settings
from lsql_runner.plan.continuation import Continuation, continue_from
from lsql_runner.plan.fingerprint import Fingerprint
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.start.replaced_state import replacing
from lsql_runner.state.saved_state import Blue, Pinned, SavedState

Runs = Literal["both", "blue", "green"]
"""Which queries of a blue-green change run: only the blue ones after a green one has failed, and only the green ones
from the switch on."""


@dataclass(frozen=True, slots=True)
class BlueQuery:
    """A blue query that can run."""

    saved: Blue
    query: Query


def wanted_blues(saved: SavedState, continued: Continuation, settings: Settings) -> dict[str, Blue]:
    """By green query of a program: the blue one."""
    pinned = saved.pinned
    if pinned is None or continued.in_new_generation:
        return {}
    blues = {green: blue for green, blue in pinned.blues.items() if continued.continues(green)}
    if settings.state_on_change == "blue_green":
        for query, old, _ in replacing(saved, continued):
            # If the program changes again before a switch, the same query goes on.
            blues[query.name] = pinned.blues.get(old.name, Blue(query=old.name, sql=pinned.sql))
    return {green: blue for green, blue in blues.items() if (pinned.generation, blue.query) in saved.checkpoints}


def can_switch(saved: SavedState) -> bool:
    """Whether the last batches of all blue queries have ended. Only they can tell which results of another one are in
    the targets."""
    pinned = saved.pinned
    if pinned is None:
        return True
    blues = (saved.checkpoints.get((pinned.generation, blue.query)) for blue in pinned.blues.values())
    return all(checkpoint is None or not checkpoint.has_begun for checkpoint in blues)


def earlier_query(name: str, plan: Plan, pinned: Pinned) -> Query | None:
    """A query with saved state, in the plan of its program; None if that plan does not continue this state."""
    known = Fingerprint((*pinned.fingerprint.queries, *pinned.kept.queries))
    continued = continue_from(plan, known, converts=lambda _: False)
    if not continued.continues(name) or name in continued.new_meanings:
        return None
    return next((query for query in continued.plan.queries if query.name == name), None)


def with_blues(plan: Plan, blues: Mapping[str, BlueQuery]) -> Plan:
    """A plan with the blue queries."""
    return Plan((*plan.queries, *(blue.query for blue in blues.values())))
