"""What a start does, decided from what was found. Pure: every refusal comes from here or from finding, none later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.pipeline import PlannedProgram
from lsql_runner.plan.fingerprint import Fingerprint, changes, fingerprint
from lsql_runner.plan.queries import DEAD_LETTERS
from lsql_runner.runtime.actions import (
    Action,
    CreateTopic,
    DropCheckpoint,
    DropOldGenerations,
    PinProgram,
    RegisterSchema,
)
from lsql_runner.runtime.registered import OutputSchema, check_schemas
from lsql_runner.runtime.statedir import Pinned, SavedState
from lsql_runner.runtime.targets import target_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What was found before a start."""

    planned: PlannedProgram
    topics: frozenset[str]
    """The names of all topics on the brokers."""
    schemas: tuple[OutputSchema, ...]
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

    generation: int
    starts: Mapping[Partition, int]
    """Where source partitions begin when the checkpoint is empty; partitions that it lacks begin at the reset."""
    warnings: tuple[str, ...]
    actions: tuple[Action, ...]
    """What must be changed before the program runs, in this order."""


def decide(found: Situation, settings: Settings) -> StartDecision:
    """Decide how to start, or refuse.

    Raises:
        LsqlError: SCHEMA_INCOMPATIBLE, STATE_OF_ANOTHER_PROGRAM, STATE_LOST.
    """
    check_schemas(found.schemas)
    mark = fingerprint(found.planned.plan)
    generation, warnings = _generation(found, mark, settings)
    starts = _starts(found, generation, settings)
    actions = (*_outside(found), *_in_state_directory(found, mark, generation, settings))
    return StartDecision(generation, starts, warnings, actions)


def _generation(found: Situation, mark: Fingerprint, settings: Settings) -> tuple[int, tuple[str, ...]]:
    """The generation to run on, a new one where the saved state does not fit; and warnings."""
    pinned = found.saved.pinned
    if pinned is None:
        return 1, ()
    changed = changes(pinned.fingerprint, mark)
    if not changed:
        return pinned.generation, ()
    had_stores = any(query.stores for _, query in pinned.fingerprint.queries)
    if (found.planned.plan.stateful or had_stores) and settings.state_on_change == "fail":
        raise LsqlError("STATE_OF_ANOTHER_PROGRAM", path=str(found.saved.path), change="; ".join(changed))
    return pinned.generation + 1, (f"The program changed ({'; '.join(changed)}): it starts at the group's position.",)


def _starts(found: Situation, generation: int, settings: Settings) -> Mapping[Partition, int]:
    """Where empty checkpoints begin: at the group's position, unless state was lost and is to be rebuilt."""
    saved = found.saved
    lost = any(q.stateful and (generation, q.name) not in saved.checkpoints for q in found.planned.plan.queries)
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


def _in_state_directory(found: Situation, mark: Fingerprint, generation: int, settings: Settings) -> tuple[Action, ...]:
    saved = found.saved
    schemas = {source.topic: source for source in found.planned.plan.sources}
    pin = PinProgram(Pinned(settings.sql, mark, schemas, generation, dict(found.versions)))
    known = None if saved.pinned is None or saved.pinned.generation != generation else saved.pinned.fingerprint
    changed = known is not None and known.dead_letters not in (None, mark.dead_letters)
    drop = (DropCheckpoint(generation, DEAD_LETTERS),) if changed else ()
    old = (DropOldGenerations(generation),) if any(number < generation for number in saved.generations) else ()
    return (*drop, pin, *old)
