"""What a processor would do with its state if it were started with another program. Changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.config.settings import Settings
from lsql_runner.errors import ErrorReport, LsqlError, report
from lsql_runner.kafka.ports import Brokers
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.plan.fingerprint import NOTHING
from lsql_runner.plan.verdict import InsertVerdict, verdicts
from lsql_runner.start.decision import decide
from lsql_runner.start.preparation import find_situation
from lsql_runner.start.replaced_state import RebuildCost, can_convert, kept_states, rebuild_cost, replacing
from lsql_runner.start.request import request_of
from lsql_runner.state.directory import StateDir


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramVerdict:
    """The verdict on another program of a processor."""

    inserts: tuple[InsertVerdict, ...] = ()
    """Empty if the program, its topics or the state cannot be read."""
    rebuilds: tuple[RebuildCost, ...] = ()
    """For INSERTs whose state cannot be continued: what it takes to build it again."""
    error: ErrorReport | None = None
    """Why a start with this program would be refused; None if it would not."""
    state_partitions: int | None = None
    """Into how many partitions the state of each operator is divided; None without state."""
    records_per_s: float | None = None
    """How fast the processor has read records that were there already; None if it is not known."""

    @property
    def starts(self) -> bool:
        """Whether the processor would start with this program."""
        return self.error is None


def verdict_on(
    sql: str, settings: Settings, brokers: Brokers, registry: SchemaRegistry | None, state: StateDir
) -> ProgramVerdict:
    """The verdict of the stages of a start, up to its decision.

    Positions of the group are not used: the running processor commits them.

    Args:
        sql: the other program.
        settings: of the processor.
        brokers: its brokers.
        registry: its schema registry, if there is one.
        state: its state.
    """
    changed = settings.model_copy(update={"sql": sql})
    inserts: tuple[InsertVerdict, ...] = ()
    rebuilds: tuple[RebuildCost, ...] = ()
    partitions = None
    try:
        saved = state.saved()
        situation = find_situation(request_of(changed), brokers, registry, saved, with_positions=False)
        pinned = NOTHING if saved.pinned is None else saved.pinned.fingerprint
        inserts = verdicts(situation.planned.plan, pinned, kept_states(saved), can_convert(saved, situation.fixed))
        rebuilds = tuple(
            rebuild_cost(query, had, situation.offsets) for query, _, had in replacing(saved, situation.continued)
        )
        if saved.pinned is not None and pinned.stateful:
            partitions = saved.pinned.state_partitions
        decide(situation, changed)
    except LsqlError as error:
        return ProgramVerdict(inserts=inserts, rebuilds=rebuilds, error=report(error, sql), state_partitions=partitions)
    return ProgramVerdict(inserts=inserts, rebuilds=rebuilds, state_partitions=partitions)
