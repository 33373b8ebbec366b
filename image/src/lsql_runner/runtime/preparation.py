"""From a program's text to a job for the engine: topics, schemas, plan, state, positions. No thread, no waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version

from lsql_runner.config.settings import Settings
from lsql_runner.errors import LsqlError
from lsql_runner.events import processor as events
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import BYTES_FORMAT
from lsql_runner.kafka.brokers import Brokers, TopicLimits
from lsql_runner.kafka.choice import open_brokers
from lsql_runner.kafka.java_brokers import BrokersJvm
from lsql_runner.kafka.registry import RestRegistry, SchemaRegistry
from lsql_runner.pipeline import Planned, plan_parsed
from lsql_runner.plan.explain import explain
from lsql_runner.plan.fingerprint import Fingerprint, changes, fingerprint
from lsql_runner.plan.queries import DEAD_LETTERS, Plan
from lsql_runner.plan.stores import query_stores
from lsql_runner.plan.topology import topology
from lsql_runner.runtime.clock import now_ms
from lsql_runner.runtime.port import Described, StoreInfo
from lsql_runner.runtime.registered import registered
from lsql_runner.runtime.resolve import Knowledge, resolve_catalog
from lsql_runner.runtime.statedir import Pinned, StateDir
from lsql_runner.runtime.targets import target_request
from lsql_runner.sql import ast
from lsql_runner.types import describe


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is decided before a plan runs."""

    planned: Planned
    generation: int
    starts: Mapping[Partition, int]
    """Where to begin each source partition when the checkpoint is empty."""
    partitions: Mapping[str, int]
    reset: str
    takes: Mapping[str, TopicLimits]
    """What each target takes, as far as the brokers tell."""
    warnings: tuple[str, ...]

    @property
    def plan(self) -> Plan:
        return self.planned.plan


def brokers_of(settings: Settings, answer_s: float = 10.0) -> Brokers:
    """The brokers that the settings name, through the client that can speak to them. To be closed.

    Args:
        settings: all of them.
        answer_s: the deadline of each question.

    Raises:
        LsqlError: KAFKA_SETTINGS_INVALID, JAVA_MISSING, JARS_MISSING.
    """
    return open_brokers(
        settings.connection, BrokersJvm(settings.jars_dir, tuple(settings.java_options.split())), answer_s
    )


def registry_of(settings: Settings) -> SchemaRegistry | None:
    """The schema registry that the settings name; None where they name none. To be closed."""
    return None if settings.registry is None else RestRegistry(settings.registry)


def plan_on_brokers(
    program: ast.Program,
    settings: Settings,
    brokers: Brokers,
    registry: SchemaRegistry | None,
    pinned: Pinned | None,
) -> Planned:
    """Bind the program to its topics as they are now, and plan it.

    Raises:
        LsqlError: what is wrong with the program or the topics, BROKER_UNREACHABLE, TOPIC_EMPTY.
    """
    known = {} if pinned is None else pinned.schemas
    knowledge = Knowledge(settings.declared, known, settings.sample_records, registry, settings.sink_kinds)
    return plan_parsed(program, resolve_catalog(program, brokers, knowledge))


def prepare(
    program: ast.Program, settings: Settings, brokers: Brokers, registry: SchemaRegistry | None, state: StateDir
) -> Prepared:
    """Decide everything, make missing target topics, register what they are written with, and pin what was decided.

    Raises:
        LsqlError: as `plan_on_brokers` and `registered`; STATE_INCOMPATIBLE, STATE_LOST, TOPIC_REFUSED,
            STATE_DIR_UNWRITABLE.
    """
    pinned = state.pinned()
    planned = plan_on_brokers(program, settings, brokers, registry, pinned)
    planned = replace(planned, plan=registered(planned.plan, registry))
    mark = fingerprint(planned.plan)
    generation, warnings = _generation(planned.plan, mark, pinned, settings, state)
    if pinned is not None and pinned.fingerprint.dead_letters != mark.dead_letters:
        state.drop_checkpoint(generation, DEAD_LETTERS)
    committed = brokers.group_positions(settings.app_id, source_partitions(planned.plan))
    starts = _starts(planned.plan, generation, committed, pinned, settings, state)
    takes = _ready_targets(planned, brokers)
    schemas = {source.topic: source for source in planned.plan.sources}
    versions = {"lsql-runner": version("lsql-runner"), "pyspark": version("pyspark")}
    state.pin(Pinned(settings.sql, mark, schemas, generation, versions))
    state.drop_older(generation)
    partitions = {source.topic: source.partitions or 0 for source in planned.plan.sources}
    reset = planned.bound.settings.auto_offset_reset
    warnings = (*planned.bound.warnings, *warnings)
    return Prepared(planned, generation, starts, partitions, reset, takes, warnings)


def source_partitions(plan: Plan) -> list[Partition]:
    """All partitions of the program's source topics."""
    return [Partition(s.topic, number) for s in plan.sources for number in range(s.partitions or 0)]


def _generation(
    plan: Plan, mark: Fingerprint, pinned: Pinned | None, settings: Settings, state: StateDir
) -> tuple[int, tuple[str, ...]]:
    """The checkpoint generation to run on; a new one where the old state does not fit."""
    if pinned is None:
        return 1, ()
    found = changes(pinned.fingerprint, mark)
    if not found:
        return pinned.generation, ()
    had_stores = any(query.stores for _, query in pinned.fingerprint.queries)
    if (plan.stateful or had_stores) and settings.state_on_change == "fail":
        raise LsqlError("STATE_INCOMPATIBLE", path=str(state.path), change="; ".join(found))
    return pinned.generation + 1, (f"The program changed ({'; '.join(found)}): it starts at the group's position.",)


def _starts(
    plan: Plan,
    generation: int,
    committed: Mapping[Partition, int],
    pinned: Pinned | None,
    settings: Settings,
    state: StateDir,
) -> Mapping[Partition, int]:
    """Where empty checkpoints begin: at the group's position, unless state was lost and is to be rebuilt."""
    lost = [q for q in plan.queries if q.stateful and not state.has_checkpoint(generation, q.name)]
    same_generation = pinned is None or generation == pinned.generation
    if not lost or not committed or not same_generation:
        return committed
    if settings.state_on_loss == "fail":
        raise LsqlError("STATE_LOST", group=settings.app_id, path=str(state.checkpoints(generation)))
    return {} if settings.state_on_loss == "rebuild" else committed


def _ready_targets(planned: Planned, brokers: Brokers) -> Mapping[str, TopicLimits]:
    """Make the targets that are missing; what all of them take."""
    existing = brokers.topics()
    targets = planned.plan.targets
    for topic in targets:
        if topic not in existing:
            brokers.create(target_request(planned, topic))
    told = brokers.limits(targets)
    return {topic: told.get(topic, TopicLimits()) for topic in targets}


def described(prepared: Prepared) -> Described:
    """What the API shows of the plan."""
    stores = tuple(
        StoreInfo(store.name, query.name, store.key, store.value)
        for query in prepared.plan.queries
        for store in query_stores(query)
    )
    return Described(stores, topology(prepared.plan), explain(prepared.plan))


def _positions_before(prepared: Prepared, brokers: Brokers) -> dict[str, dict[Partition, int]]:
    """By query, where its first batch begins as far as the brokers tell: the checkpoint alone knows it for sure."""
    found: dict[str, dict[Partition, int]] = {}
    for query in prepared.plan.queries:
        partitions = [Partition(s.topic, number) for s in query.sources for number in range(s.partitions or 0)]
        ends = brokers.ends(partitions) if prepared.reset == "latest" else brokers.begins(partitions)
        found[query.name] = {p: prepared.starts.get(p, ends[p]) for p in partitions}
    return found


def _sink_uses(plan: Plan, settings: Settings) -> tuple[events.SinkUse, ...]:
    urls = {sink.name: sink.url for sink in settings.sinks}
    return tuple(
        events.SinkUse(
            target.sink,
            target.kind,
            target.table,
            target.mode,
            target.key,
            tuple((name, describe(kind)) for name, kind in target.columns),
            target.deletes,
            target.delivery,
            urls.get(target.sink, ""),
        )
        for target in (sink.target for sink in plan.row_sinks)
    )


def planned_event(prepared: Prepared, settings: Settings, brokers: Brokers) -> events.Planned:
    """The event that tells which topics, stores and sinks the program uses, and where it begins.

    Raises:
        LsqlError: BROKER_UNREACHABLE, BROKER_REFUSED.
    """
    sources = [
        events.TopicUse(
            s.topic,
            "source",
            str(s.key.format),
            str(s.value.format),
            describe(s.key.type),
            describe(s.value.type),
            s.origin,
            s.partitions,
        )
        for s in prepared.plan.sources
    ]
    targets = [
        events.TopicUse(
            sink.topic,
            "target",
            str(sink.key_format),
            str(sink.value_format),
            describe(sink.input.key_type),
            describe(sink.input.value_type),
            "program",
        )
        for sink in prepared.plan.topic_sinks
    ]
    queue = prepared.plan.dead_letter_queue
    if queue is not None:
        as_it_came = str(BYTES_FORMAT)
        targets.append(events.TopicUse(queue, "target", as_it_came, as_it_came, "bytes", "bytes", "program"))
    stores = tuple(store.name for query in prepared.plan.queries for store in query_stores(query))
    return events.Planned(
        at_ms=now_ms(),
        topics=(*sources, *targets),
        stores=stores,
        generation=prepared.generation,
        stateful=prepared.plan.stateful,
        warnings=prepared.warnings,
        starts=_positions_before(prepared, brokers),
        sinks=_sink_uses(prepared.plan, settings),
    )
