"""Into how many partitions the state of a program is divided."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.config.settings import Settings
from lsql_runner.pipeline import PlannedProgram
from lsql_runner.plan.queries import Plan
from lsql_runner.state.saved_state import Pinned

MOST_BY_DEFAULT = 2
"""More are slower in the chart's default pod: each batch writes files of each partition (decision 0034)."""


@dataclass(frozen=True, slots=True)
class StatePartitions:
    """The number of partitions of each stateful operator, and what determines it."""

    number: int
    reason: str
    """For explain: the name of the setting, or a phrase."""


def wanted_partitions(program: ProgramSettings, settings: Settings) -> int | None:
    """`SET state.partitions`, else LSQL_STATE_PARTITIONS; None if neither is set."""
    return program.state_partitions or settings.state_partitions or None


def state_partitions(planned: PlannedProgram, settings: Settings, pinned: Pinned | None = None) -> StatePartitions:
    """Into how many partitions the state of each operator is divided.

    State that exists keeps its partitions, whatever the partitions of the sources are now.

    Args:
        planned: the program.
        settings: of the processor.
        pinned: the program to which the state belongs, if there is state; None for new state.
    """
    program = planned.bound.settings
    if program.state_partitions:
        return StatePartitions(program.state_partitions, "SET state.partitions")
    if settings.state_partitions:
        return StatePartitions(settings.state_partitions, "LSQL_STATE_PARTITIONS")
    if pinned is not None and pinned.fingerprint.stateful:
        return StatePartitions(pinned.state_partitions, "as the existing state")
    reason = f"as many as the largest source topic, but not more than {MOST_BY_DEFAULT}"
    return StatePartitions(_default(planned.plan), reason)


def _default(plan: Plan) -> int:
    """The partitions of the largest source topic with state, bounded; the bound if they are not known."""
    sources = [source for query in plan.queries if query.stateful for source in query.sources]
    return min(MOST_BY_DEFAULT, max((source.partitions or MOST_BY_DEFAULT for source in sources), default=1))
