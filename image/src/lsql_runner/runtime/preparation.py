"""The stages of a start: find what there is, decide, carry out. No thread, no waiting.

Only the last stage changes anything: whatever can be refused is refused before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version

from lsql_runner.config.settings import Settings
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.ports import Brokers, TopicAdmin, TopicLimits, TopicReader
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.pipeline import PlannedProgram, plan_parsed
from lsql_runner.plan.queries import Plan
from lsql_runner.runtime.actions import (
    Action,
    CreateTopic,
    DropCheckpoint,
    DropOldGenerations,
    PinProgram,
    RegisterSchema,
)
from lsql_runner.runtime.decision import Situation, StartDecision, decide
from lsql_runner.runtime.registered import TargetSchema, output_schemas, with_schema_ids
from lsql_runner.runtime.resolve import KnownSchemas, resolve_catalog
from lsql_runner.runtime.statedir import Pinned, SavedState, StateDir
from lsql_runner.runtime.targets import target_request
from lsql_runner.sql import ast


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedProgram:
    """A program that is ready to run: planned, with everything that it needs in place."""

    planned: PlannedProgram
    generation: int
    starts: Mapping[Partition, int]
    """Where to begin each source partition when the checkpoint is empty."""
    limits: Mapping[str, TopicLimits]
    """Which records each target accepts, as far as the brokers say."""
    warnings: tuple[str, ...]

    @property
    def plan(self) -> Plan:
        return self.planned.plan

    @property
    def partitions(self) -> dict[str, int]:
        """The number of partitions by source topic."""
        return {source.topic: source.partitions or 0 for source in self.plan.sources}

    @property
    def reset(self) -> str:
        """Where partitions without a position begin: `earliest` or `latest`."""
        return self.planned.bound.settings.auto_offset_reset


def prepare(
    program: ast.Program, settings: Settings, brokers: Brokers, registry: SchemaRegistry | None, state: StateDir
) -> PreparedProgram:
    """Find, decide, carry out.

    Raises:
        LsqlError: as `find_situation`, `decide` and `carry_out`.
    """
    found = find_situation(program, settings, brokers, registry, state.saved())
    decision = decide(found, settings)
    registered = carry_out(decision.actions, brokers, registry, state)
    return _prepared(found, decision, registered, brokers)


def plan_on_brokers(
    program: ast.Program,
    settings: Settings,
    brokers: TopicReader,
    registry: SchemaRegistry | None,
    pinned: Pinned | None,
) -> PlannedProgram:
    """Bind the program to its topics as they are now, and plan it.

    Raises:
        LsqlError: what is wrong with the program or the topics, BROKER_UNREACHABLE, TOPIC_EMPTY.
    """
    schemas = {} if pinned is None else pinned.schemas
    known = KnownSchemas(settings.declared, schemas, settings.sample_records, registry, settings.sink_kinds)
    return plan_parsed(program, resolve_catalog(program, brokers, known))


def find_situation(
    program: ast.Program,
    settings: Settings,
    brokers: Brokers,
    registry: SchemaRegistry | None,
    saved: SavedState,
    *,
    with_positions: bool = True,
) -> Situation:
    """Ask the brokers and the registry all that the decision needs; nothing is changed.

    Args:
        program: the program's syntax tree.
        settings: all of them.
        brokers: to ask.
        registry: to ask, if there is one.
        saved: what the state directory holds.
        with_positions: whether the group's positions are of interest.

    Raises:
        LsqlError: as `plan_on_brokers`; REGISTRY_MISSING, REGISTRY_UNREACHABLE and the like; TOPIC_REFUSED where the
            brokers would not create a target.
    """
    planned = plan_on_brokers(program, settings, brokers, registry, saved.pinned)
    schemas = output_schemas(planned.plan, registry)
    topics = frozenset(brokers.topics())
    for topic in planned.plan.targets:
        if topic not in topics:
            brokers.check_create(target_request(planned, topic))
    places = source_partitions(planned.plan) if with_positions else []
    committed = brokers.group_positions(settings.app_id, places)
    return Situation(
        planned=planned, topics=topics, schemas=schemas, committed=committed, saved=saved, versions=versions()
    )


def versions() -> dict[str, str]:
    """The versions that program.json names."""
    return {name: version(name) for name in ("lsql-runner", "pyspark")}


def carry_out(
    actions: Iterable[Action], brokers: TopicAdmin, registry: SchemaRegistry | None, state: StateDir
) -> tuple[TargetSchema, ...]:
    """Carry out actions in their order; the schemas that were registered, with their ids.

    Raises:
        LsqlError: what changed since the decision: SCHEMA_INCOMPATIBLE, TOPIC_REFUSED, BROKER_UNREACHABLE and the like;
            STATE_DIR_UNWRITABLE.
    """
    registered: list[TargetSchema] = []
    for action in actions:
        match action:
            case RegisterSchema(schema):
                assert registry is not None
                schema_id = registry.register(schema.subject, schema.kind, schema.text)
                registered.append(replace(schema, id=schema_id))
            case CreateTopic(request):
                brokers.create(request)
            case DropCheckpoint(generation, query):
                state.drop_checkpoint(generation, query)
            case PinProgram(pinned):
                state.pin(pinned)
            case DropOldGenerations(before):
                state.drop_older(before)
    return tuple(registered)


def source_partitions(plan: Plan) -> list[Partition]:
    """All partitions of the program's source topics."""
    return [Partition(s.topic, number) for s in plan.sources for number in range(s.partitions or 0)]


def _prepared(
    found: Situation, decision: StartDecision, registered: tuple[TargetSchema, ...], brokers: TopicAdmin
) -> PreparedProgram:
    known = [schema for schema in found.schemas if schema.id is not None]
    planned = replace(found.planned, plan=with_schema_ids(decision.plan, (*known, *registered)))
    targets = planned.plan.targets
    limits = brokers.limits(targets)
    return PreparedProgram(
        planned=planned,
        generation=decision.generation,
        starts=decision.starts,
        limits={topic: limits.get(topic, TopicLimits()) for topic in targets},
        warnings=(*planned.bound.warnings, *decision.warnings),
    )
