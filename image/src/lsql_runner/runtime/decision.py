"""What a start does, decided from what was found. Pure: every refusal comes from here or from finding, none later."""

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
from lsql_runner.runtime.registered import TargetSchema, check_schemas
from lsql_runner.runtime.statedir import Pinned, SavedState
from lsql_runner.runtime.targets import target_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What was found before a start."""

    planned: PlannedProgram
    topics: frozenset[str]
    """The names of all topics on the brokers."""
    schemas: tuple[TargetSchema, ...]
    """The schemas that the program writes with, as the registry knows them."""
    committed: Mapping[Partition, int]
    """The consumer group's positions in the source topics."""
    saved: SavedState
    """What the state directory holds."""
    versions: Mapping[str, str]
    """Versions of the software, by package."""


@dataclass(frozen=True, slots=True)
class StartDecision:
    """How the program starts."""

    plan: Plan
    """The plan, with the names of the checkpoints that its queries continue."""
    generation: int
    starts: Mapping[Partition, int]
    """Where source partitions begin when the checkpoint is empty; partitions that it lacks begin at the reset."""
    warnings: tuple[str, ...]
    actions: tuple[Action, ...]
    """What must be changed before the program runs, in this order."""


def decide(found: Situation, settings: Settings) -> StartDecision:
    """Decide how to start, or refuse.

    Raises:
        LsqlError: SCHEMA_INCOMPATIBLE, STATE_INCOMPATIBLE, STATE_LOST.
    """
    check_schemas(found.schemas)
    pinned = found.saved.pinned
    plan = found.planned.plan
    continued = (
        Continuation(plan=plan, fingerprint=fingerprint(plan))
        if pinned is None
        else continue_from(plan, pinned.fingerprint)
    )
    generation, warnings = _generation(found, continued, settings)
    # An added query has no checkpoint until its first batch, which may be after another start.
    before = () if pinned is None or continued.changes else pinned.added
    added = (*continued.added, *(name for name in before if (generation, name) not in found.saved.checkpoints))
    starts = _starts(found, continued.plan, generation, added, settings)
    actions = (*_outside(found), *_in_state_directory(found, continued, generation, added, settings))
    return StartDecision(continued.plan, generation, starts, warnings, actions)


def _generation(found: Situation, continued: Continuation, settings: Settings) -> tuple[int, tuple[str, ...]]:
    """The generation to run on, a new one where there is state that does not fit; and warnings."""
    pinned = found.saved.pinned
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
        raise LsqlError("STATE_INCOMPATIBLE", path=str(found.saved.path), change=change)
    return pinned.generation + 1, (f"The program changed ({change}): it starts at the group's position.",)


def _starts(
    found: Situation, plan: Plan, generation: int, added: Collection[str], settings: Settings
) -> Mapping[Partition, int]:
    """Where empty checkpoints begin: at the group's position, unless state was lost and is to be rebuilt."""
    saved = found.saved
    expected = [query.name for query in plan.queries if query.stateful and query.name not in added]
    lost = any((generation, name) not in saved.checkpoints for name in expected)
    same_generation = saved.pinned is None or generation == saved.pinned.generation
    if not lost or not found.committed or not same_generation:
        return found.committed
    if settings.state_on_loss == "fail":
        raise LsqlError("STATE_LOST", group=settings.app_id, path=str(saved.path / str(generation)))
    return {} if settings.state_on_loss == "rebuild" else found.committed


def _outside(found: Situation) -> tuple[Action, ...]:
    """What is missing at the schema registry and on the brokers."""
    registrations = (RegisterSchema(schema) for schema in found.schemas if schema.id is None)
    missing = (topic for topic in found.planned.plan.targets if topic not in found.topics)
    return (*registrations, *(CreateTopic(target_request(found.planned, topic)) for topic in missing))


def _in_state_directory(
    found: Situation, continued: Continuation, generation: int, added: tuple[str, ...], settings: Settings
) -> tuple[Action, ...]:
    schemas = {source.topic: source for source in continued.plan.sources}
    drops = (DropCheckpoint(generation, query) for query in continued.dropped)
    pinned = Pinned(settings.sql, continued.fingerprint, schemas, generation, dict(found.versions), added)
    old = (DropOldGenerations(generation),) if any(number < generation for number in found.saved.generations) else ()
    return (*drops, PinProgram(pinned), *old)
