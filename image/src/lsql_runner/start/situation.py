"""Everything that determines how a program starts, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsql_runner.events.batches import Partition
from lsql_runner.pipeline import PlannedProgram
from lsql_runner.plan.continuation import Continuation
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.start.blue_green import BlueQuery, Runs, with_blues
from lsql_runner.start.registry_schemas import TargetSchema
from lsql_runner.start.replaced_state import NO_OFFSETS, SourceOffsets
from lsql_runner.state.saved_state import SavedState


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The program, and everything outside it that determines how it starts."""

    planned: PlannedProgram
    continued: Continuation
    """How the program continues the saved state."""
    runs: Runs = "both"
    """Which queries of a blue-green change are to run."""
    blues: Mapping[str, BlueQuery] = field(default_factory=dict)
    """By green query: the blue one."""
    ended_blues: Mapping[str, str] = field(default_factory=dict)
    """By green query whose blue one cannot run any more: why."""
    fixed: frozenset[str] = frozenset()
    """Queries of the last start whose state cannot be converted."""
    earlier: Mapping[str, Query] = field(default_factory=dict)
    """By query whose state is converted: the query that the state belongs to."""
    topics: frozenset[str]
    """The names of all topics on the brokers."""
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """By source topic: its id; empty if the brokers have none."""
    schemas: tuple[TargetSchema, ...]
    """The program's output schemas, with their ids in the registry."""
    committed: Mapping[Partition, int]
    """The consumer group's positions in the source topics."""
    group_ids: Mapping[Partition, str] = field(default_factory=dict)
    """By source partition: the id of the topic that the position of the group belongs to, if it is known."""
    ends: Mapping[Partition, int] = field(default_factory=dict)
    """By source partition: the end of its records."""
    resets: Mapping[Partition, int]
    """By source partition: where `auto.offset.reset` begins."""
    offsets: SourceOffsets = NO_OFFSETS
    """Of the source partitions, if state is replaced, or returns."""
    saved: SavedState
    """The content of the state directory."""
    new_state_partitions: int
    """Into how many partitions new state is divided: see `start.state_partitions`."""
    versions: Mapping[str, str]
    """Versions of the software, by package."""
    needed_mib: int
    """The memory that the program needs (`start.memory_need`)."""
    memory_limit_mib: int | None = None
    """The memory limit of this container; None if it has none, or if the program is only validated."""

    @property
    def plan(self) -> Plan:
        """The queries of the program, with the names of the checkpoints that they continue, and the blue ones."""
        return with_blues(self.continued.plan, self.blues)
