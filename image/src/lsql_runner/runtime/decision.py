"""Decides what a start does. Pure. A start is refused here or while its situation is read, before any change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.pipeline import PlannedProgram
from lsql_runner.plan.continuation import Continuation, continue_from
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.plan.queries import Plan
from lsql_runner.runtime.actions import (
    Action,
    CreateTopic,
    DropCheckpoint,
    DropOldGenerations,
    PinProgram,
    RegisterSchema,
)
from lsql_runner.runtime.registry_schemas import TargetSchema, check_schemas
from lsql_runner.runtime.statedir import Pinned, SavedState
from lsql_runner.runtime.targets import target_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The program, and everything outside it that determines how it starts."""

    planned: PlannedProgram
    topics: frozenset[str]
    """The names of all topics on the brokers."""
    schemas: tuple[TargetSchema, ...]
    """The program's output schemas, with their ids in the registry."""
    committed: Mapping[Partition, int]
    """The consumer group's positions in the source topics."""
    saved: SavedState
    """The content of the state directory."""
    versions: Mapping[str, str]
    """Versions of the software, by package."""
    needed_mib: int
    """The memory that the program needs (`runtime.memory_need`)."""
    memory_limit_mib: int | None = None
    """The memory limit of this container; None if it has none, or if the program is only validated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDecision:
    """How the program starts."""

    plan: Plan
    """The plan, with the names of the checkpoints that its queries continue."""
    generation: int
    start_offsets: Mapping[Partition, int]
    """By source partition: the first offset for an empty checkpoint. Other partitions begin at `auto.offset.reset`."""
    warnings: tuple[str, ...]
    actions: tuple[Action, ...]
    """The changes before the program runs, in this order."""


def decide(situation: Situation, settings: Settings) -> StartDecision:
    """Decide how to start.

    Raises:
        LsqlError: the start is refused: SCHEMA_INCOMPATIBLE, STATE_INCOMPATIBLE, STATE_LOST.
    """
    check_schemas(situation.schemas)
    pinned = situation.saved.pinned
    plan = situation.planned.plan
    continued = (
        Continuation(plan=plan, fingerprint=fingerprint(plan))
        if pinned is None
        else continue_from(plan, pinned.fingerprint)
    )
    generation, warnings = _generation(situation, continued, settings)
    # A query that an earlier start added has no checkpoint before its first batch: it still counts as added.
    added_earlier = () if pinned is None or continued.changes else pinned.added
    added = (
        *continued.added,
        *(name for name in added_earlier if (generation, name) not in situation.saved.checkpoints),
    )
    start_offsets = _start_offsets(situation, continued.plan, generation, added, settings)
    actions = (*_missing_resources(situation), *_state_changes(situation, continued, generation, added, settings))
    return StartDecision(
        plan=continued.plan,
        generation=generation,
        start_offsets=start_offsets,
        warnings=(*warnings, *_memory_warnings(situation)),
        actions=actions,
    )


def _memory_warnings(situation: Situation) -> tuple[str, ...]:
    """A warning if the container is too small for the program. The start goes on: at a low rate the program may run."""
    if situation.memory_limit_mib is None or situation.memory_limit_mib >= situation.needed_mib:
        return ()
    need = f"The program needs about {situation.needed_mib} MiB of memory"
    return (f"{need}; the container has {situation.memory_limit_mib} MiB. Raise resources.limits.memory.",)


def _generation(situation: Situation, continued: Continuation, settings: Settings) -> tuple[int, tuple[str, ...]]:
    """The generation to run with, a new one if the state does not fit the program; and warnings."""
    pinned = situation.saved.pinned
    if pinned is None:
        return 1, ()
    if not continued.changes:
        added = [query for query in continued.fingerprint.stateful if query.name in continued.added]
        return pinned.generation, tuple(
            f"INSERT INTO {', '.join(query.targets)} is new: it starts at the group's position with empty state."
            for query in added
        )
    change = "; ".join(str(each) for each in continued.changes)
    if settings.state_on_change == "fail":
        raise LsqlError("STATE_INCOMPATIBLE", path=str(situation.saved.path), change=change)
    return pinned.generation + 1, (
        f"The program changed ({change}): it starts with empty state at the group's position.",
    )


def _start_offsets(
    situation: Situation, plan: Plan, generation: int, added: Collection[str], settings: Settings
) -> Mapping[Partition, int]:
    """The first offsets of empty checkpoints: the positions of the group, or none if lost state is rebuilt.

    Without an offset, `auto.offset.reset` applies.
    """
    saved = situation.saved
    expected = [query.name for query in plan.queries if query.stateful and query.name not in added]
    # A start makes the folders. A query whose folder is empty has not begun: the previous process ended before its
    # first batch, and the group has the positions at which it begins, or those of other queries.
    lost = any((generation, name) not in saved.folders for name in expected)
    same_generation = saved.pinned is None or generation == saved.pinned.generation
    if not lost or not situation.committed or not same_generation:
        return situation.committed
    if settings.state_on_loss == "fail":
        raise LsqlError("STATE_LOST", group=settings.app_id, path=str(saved.path / str(generation)))
    return {} if settings.state_on_loss == "rebuild" else situation.committed


def _missing_resources(situation: Situation) -> tuple[Action, ...]:
    """The actions that register missing schemas and create missing target topics."""
    registrations = (RegisterSchema(schema) for schema in situation.schemas if schema.id is None)
    missing = (topic for topic in situation.planned.plan.targets if topic not in situation.topics)
    return (*registrations, *(CreateTopic(target_request(situation.planned, topic)) for topic in missing))


def _state_changes(
    situation: Situation, continued: Continuation, generation: int, added: tuple[str, ...], settings: Settings
) -> tuple[Action, ...]:
    """The actions on the state directory: delete checkpoints, save the program, delete old generations."""
    schemas = {source.topic: source for source in continued.plan.sources}
    drops = (DropCheckpoint(generation, query) for query in continued.dropped)
    pinned = Pinned(
        sql=settings.sql,
        fingerprint=continued.fingerprint,
        schemas=schemas,
        generation=generation,
        versions=dict(situation.versions),
        added=added,
    )
    has_older = any(number < generation for number in situation.saved.generations)
    old = (DropOldGenerations(generation),) if has_older else ()
    return (*drops, PinProgram(pinned), *old)
