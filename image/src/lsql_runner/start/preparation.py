"""The stages of a start: find the situation, decide, carry out. They use no thread and never wait.

Only the last stage makes changes. A start is refused before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version

from lsql_runner.bind.source_formats import source_topics
from lsql_runner.config.settings import Settings
from lsql_runner.container.limits import memory_limit_mib
from lsql_runner.errors import LsqlError, Recovery
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.ports import Brokers, TopicAdmin, TopicLimits, TopicReader
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.pipeline import PlannedProgram, plan_parsed
from lsql_runner.plan.continuation import Continuation
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.start.actions import (
    Action,
    BeginCheckpoints,
    ChangeMeaning,
    ConvertStates,
    CreateTopic,
    DropCheckpoint,
    DropOtherGenerations,
    PinProgram,
    RegisterSchema,
    RewindCheckpoint,
)
from lsql_runner.start.blue_green import BlueQuery, Runs, can_switch, earlier_query, wanted_blues, with_blues
from lsql_runner.start.decision import StartDecision, decide, partitions_of
from lsql_runner.start.memory_need import needed_mib
from lsql_runner.start.needed_acls import check_acls, needed_acls
from lsql_runner.start.policies import check_topic_policies
from lsql_runner.start.registry_schemas import TargetSchema, output_schemas, with_schema_ids
from lsql_runner.start.replaced_state import NO_OFFSETS, SourceOffsets, continuation, open_times
from lsql_runner.start.request import StartRequest, request_of
from lsql_runner.start.resolve import KnownSchemas, resolve_catalog
from lsql_runner.start.saved_program import saved_plan
from lsql_runner.start.situation import Situation
from lsql_runner.start.state_partitions import state_partitions
from lsql_runner.start.targets import target_request
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.group_claims import GroupClaims, topic_id_of
from lsql_runner.state.saved_state import Pinned, Rebuild, SavedState
from lsql_runner.state.topic_ids import deleted_topic, ids_of

ConvertState = Callable[[ConvertedQuery, StateFolder, StateFolder], None]
"""Converts the state in a checkpoint, which is the first folder, in a copy of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedProgram:
    """A program that is ready to run: its topics and schemas exist."""

    planned: PlannedProgram
    generation: int
    state_partitions: int
    start_offsets: Mapping[str, Mapping[Partition, int]]
    """By query and source partition: the first offset for an empty checkpoint."""
    positions: Mapping[str, Mapping[Partition, int]]
    """By query and source partition: the next offset to read."""
    first_batches: frozenset[str]
    """The queries that have not ended a batch yet, with their present state."""
    rebuilds: Mapping[str, Rebuild]
    """By query that builds the state that replaces another one: how."""
    blues: Mapping[str, str]
    """By green query: the blue one, which writes the results."""
    later: tuple[Action, ...]
    """What is carried out when each of them has ended its first batch."""
    topic_ids: Mapping[str, str]
    """By source topic: its id; empty if the brokers have none."""
    limits: Mapping[str, TopicLimits]
    """By target topic: which records it accepts, if the brokers report it."""
    warnings: tuple[str, ...]

    @property
    def plan(self) -> Plan:
        return self.planned.plan

    @property
    def reset(self) -> str:
        """Where partitions without a position begin: `earliest` or `latest`."""
        return self.planned.bound.settings.auto_offset_reset


def prepare(
    request: StartRequest,
    brokers: Brokers,
    registry: SchemaRegistry | None,
    state: StateDir,
    claims: GroupClaims,
    *,
    convert: ConvertState,
    runs: Runs = "both",
) -> PreparedProgram:
    """Run all stages of a start.

    Args:
        request: the settings of the processor, and its program.
        brokers: the brokers.
        registry: the schema registry, if there is one.
        state: the state of the processor.
        claims: on the consumer group.
        convert: converts the state of a query: `port.Engine.convert_state`.
        runs: which queries of a blue-green change are to run.

    Raises:
        LsqlError: APP_ID_IN_USE; as `find_situation`, `decide` and `carry_out`.
    """
    fixed: frozenset[str] = frozenset()
    while True:
        situation = find_situation(request, brokers, registry, state.saved(), runs=runs, fixed=fixed)
        situation = replace(situation, memory_limit_mib=memory_limit_mib())
        claims.check_start(partitions_of(situation.plan.sources))
        decision = decide(situation, request.settings)
        try:
            registered = carry_out(decision.actions, brokers, registry, state, convert)
            return _prepared_program(situation, decision, registered, brokers)
        except LsqlError as error:
            if error.code != "STATE_CONVERSION_FAILED" or request.settings.state_on_change == "fail":
                raise
            fixed = situation.fixed | {str(error.params["query"])}  # it gets new state


def prepare_without_changes(
    request: StartRequest, brokers: Brokers, registry: SchemaRegistry | None, saved: SavedState
) -> PreparedProgram:
    """Run the stages of a start that change nothing, while another process runs the program.

    Positions of the group are not used: the other process commits them, and `saved` may be older.

    Raises:
        LsqlError: as `find_situation` and `decide`.
    """
    situation = find_situation(request, brokers, registry, saved, with_positions=False)
    return _prepared_program(situation, decide(situation, request.settings), (), brokers)


def plan_on_brokers(
    request: StartRequest, brokers: TopicReader, registry: SchemaRegistry | None, pinned: Pinned | None
) -> PlannedProgram:
    """Bind the program to the current topics, and plan it.

    Raises:
        LsqlError: TOPIC_NOT_ALLOWED, an error of the program or its topics, BROKER_UNREACHABLE, TOPIC_EMPTY.
    """
    check_topic_policies(request)
    settings = request.settings
    schemas = {} if pinned is None else pinned.schemas
    known = KnownSchemas(
        declared=settings.declared,
        pinned=schemas,
        sample_records=settings.sample_records,
        registry=registry,
        sinks=settings.sink_kinds,
        functions=settings.functions,
    )
    catalog = resolve_catalog(request.program, request.program_settings, brokers, known)
    return plan_parsed(request.program, request.program_settings, catalog, only_batches=settings.has_workers)


def find_situation(
    request: StartRequest,
    brokers: Brokers,
    registry: SchemaRegistry | None,
    saved: SavedState,
    *,
    with_positions: bool = True,
    runs: Runs = "both",
    fixed: frozenset[str] = frozenset(),
) -> Situation:
    """Read everything that the decision needs from brokers and registry; changes nothing.

    Args:
        request: the settings of the processor, and its program.
        brokers: the brokers.
        registry: the schema registry, if there is one.
        saved: the content of the state directory.
        with_positions: whether to use the positions of the consumer group.
        runs: which queries of a blue-green change are to run.
        fixed: queries of the last start whose state cannot be converted.

    Raises:
        LsqlError: as `plan_on_brokers`; TOPIC_DELETED if saved positions are in a topic that does not exist;
            REGISTRY_MISSING and other errors of the registry; TOPIC_REFUSED if the brokers would not create a target;
            BROKER_REFUSED, also if a right is missing that only the running program needs.
    """
    if (deleted := deleted_topic(saved.pinned, source_topics(request.program), brokers)) is not None:
        raise LsqlError("TOPIC_DELETED", topic=deleted)
    settings = request.settings
    planned = plan_on_brokers(request, brokers, registry, saved.pinned)
    continued = continuation(planned, saved, settings, fixed=fixed)
    earlier, unknown = _find_conversions(saved, continued, settings)
    if unknown:
        fixed |= unknown
        continued = continuation(planned, saved, settings, fixed=fixed)
    if runs == "green" and not can_switch(saved):
        runs = "both"
    blues, ended = ({}, {}) if runs == "green" else _find_blues(request, brokers, registry, saved, continued)
    # The schemas of blue queries are registered, and come before their next versions.
    schemas = output_schemas(Plan((*(each.query for each in blues.values()), *planned.plan.queries)), registry)
    topics = frozenset(brokers.topics())
    for topic in planned.plan.targets:
        if topic not in topics:
            brokers.check_create(target_request(planned, topic))
    check_acls(needed_acls(planned, settings, topics), brokers)
    both = with_blues(planned.plan, blues)
    sources = partitions_of(both.sources)
    committed = brokers.group_positions(settings.app_id, sources)
    group_ids = {place: topic_id_of(text) for place, text in brokers.group_metadata(settings.app_id, sources).items()}
    brokers.check_group(settings.app_id)
    partitions = sources
    if not with_positions:
        committed, group_ids, partitions = {}, {}, []
    ends = brokers.ends(partitions)
    from_end = planned.bound.settings.auto_offset_reset == "latest"
    offsets = NO_OFFSETS
    if continued.changes or continued.returned:
        since = {time_ms: brokers.since(sources, time_ms) for time_ms in open_times(saved, continued)}
        offsets = SourceOffsets(brokers.begins(sources), brokers.ends(sources), since)
    return Situation(
        planned=planned,
        continued=continued,
        runs=runs,
        blues=blues,
        ended_blues=ended,
        fixed=fixed,
        earlier=earlier,
        topics=topics,
        topic_ids=ids_of([source.topic for source in both.sources], brokers),
        schemas=schemas,
        committed=committed,
        group_ids=group_ids,
        ends=ends,
        resets=ends if from_end else brokers.begins(partitions),
        offsets=offsets,
        saved=saved,
        versions=versions(),
        new_state_partitions=state_partitions(planned, settings).number,
        needed_mib=needed_mib(both, settings, state_partitions(planned, settings, saved.pinned).number),
    )


def _find_conversions(
    saved: SavedState, continued: Continuation, settings: Settings
) -> tuple[dict[str, Query], frozenset[str]]:
    """By query whose state is converted: the one that it belongs to; and those of which nobody can tell any more what
    is in the state."""
    if not continued.conversions or saved.pinned is None:
        return {}, frozenset()
    try:
        plan = saved_plan(settings, saved.pinned)
    except LsqlError:
        return {}, frozenset(continued.conversions)
    return {query.name: query for query in plan.queries if query.name in continued.conversions}, frozenset()


def _find_blues(
    request: StartRequest, brokers: Brokers, registry: SchemaRegistry | None, saved: SavedState, continued: Continuation
) -> tuple[dict[str, BlueQuery], dict[str, str]]:
    """By green query: the blue one, or why it cannot run any more."""
    blues, ended = {}, {}
    plans: dict[str, Plan | LsqlError] = {}
    for green, blue in wanted_blues(saved, continued, request.settings).items():
        assert saved.pinned is not None
        if blue.sql not in plans:
            plans[blue.sql] = _earlier_plan(blue.sql, request.settings, brokers, registry, saved.pinned)
        plan = plans[blue.sql]
        query = None if isinstance(plan, LsqlError) else earlier_query(blue.query, plan, saved.pinned)
        if query is not None:
            blues[green] = BlueQuery(blue, query)
        else:
            ended[green] = str(plan) if isinstance(plan, LsqlError) else "its topics or settings have changed"
    return blues, ended


def _earlier_plan(
    sql: str, settings: Settings, brokers: TopicReader, registry: SchemaRegistry | None, pinned: Pinned
) -> Plan | LsqlError:
    """The plan of an earlier program, or why it cannot be planned any more."""
    try:
        earlier = request_of(settings.model_copy(update={"sql": sql}))
        return plan_on_brokers(earlier, brokers, registry, pinned).plan
    except LsqlError as error:
        if error.kind.recovery is not Recovery.FINAL:
            raise
        return error


def versions() -> dict[str, str]:
    """The software versions for program.json."""
    return {name: version(name) for name in ("lsql-runner", "pyspark")}


def carry_out(
    actions: Iterable[Action],
    brokers: TopicAdmin,
    registry: SchemaRegistry | None,
    state: StateDir,
    convert: ConvertState | None = None,
) -> tuple[TargetSchema, ...]:
    """Carry out actions in their order. Returns the schemas that were registered, with their ids.

    Args:
        actions: in their order.
        brokers: the brokers.
        registry: the schema registry, if there is one.
        state: the state of the processor.
        convert: converts the state of a query; None if no action needs it.

    Raises:
        LsqlError: SCHEMA_INCOMPATIBLE, TOPIC_REFUSED, or an error of brokers or registry, if the situation has changed
            since the decision; STATE_DIR_UNWRITABLE, STATE_CONVERSION_FAILED.
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
            case BeginCheckpoints(generation, queries, runs_of):
                for query in queries:
                    state.begin_checkpoint(generation, query, runs_of.get(query))
            case RewindCheckpoint(generation, query, positions):
                state.rewind_checkpoint(generation, query, positions)
            case ConvertStates(generation, to, queries):
                assert convert is not None
                state.copy_generation(generation, to)
                try:
                    _convert(state.checkpoints(generation), state.checkpoints(to), queries, convert)
                except BaseException:
                    state.drop_generation(to)
                    raise
            case ChangeMeaning(generation, query):
                state.keep_opened(generation, query)
            case PinProgram(pinned):
                state.pin(pinned)
            case DropOtherGenerations(generation):
                state.drop_others(generation)
    return tuple(registered)


def _convert(
    source: StateFolder, target: StateFolder, queries: Iterable[ConvertedQuery], convert: ConvertState
) -> None:
    for query in queries:
        convert(query, source / query.new.name, target / query.new.name)
    target.sync_all()


def _prepared_program(
    situation: Situation, decision: StartDecision, registered: tuple[TargetSchema, ...], brokers: TopicAdmin
) -> PreparedProgram:
    known = [schema for schema in situation.schemas if schema.id is not None]
    planned = replace(situation.planned, plan=with_schema_ids(decision.plan, (*known, *registered)))
    targets = planned.plan.targets
    limits = brokers.limits(targets)
    return PreparedProgram(
        planned=planned,
        generation=decision.generation,
        state_partitions=decision.state_partitions,
        start_offsets=decision.start_offsets,
        positions=decision.positions,
        first_batches=decision.first_batches,
        rebuilds=decision.rebuilds,
        blues=decision.blues,
        later=decision.later,
        topic_ids=situation.topic_ids,
        limits={topic: limits.get(topic, TopicLimits()) for topic in targets},
        warnings=(*planned.bound.warnings, *decision.warnings),
    )
