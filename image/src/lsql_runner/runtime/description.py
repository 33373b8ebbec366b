"""The description of a prepared program for the API, /stream and the log."""

from __future__ import annotations

from collections.abc import Mapping

from lsql_runner.config.settings import Settings
from lsql_runner.events import processor as events
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import BYTES_FORMAT
from lsql_runner.plan.explain import explain
from lsql_runner.plan.number_types import computed
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.plan.stores import query_stores
from lsql_runner.plan.topology import topology
from lsql_runner.runtime.port import ProgramDescription, StoreInfo
from lsql_runner.start.preparation import PreparedProgram
from lsql_runner.types import describe


def description_of(prepared: PreparedProgram) -> ProgramDescription:
    """The plan for the API: its state stores, topology and text."""
    return ProgramDescription(stores_of(prepared.plan), topology(prepared.plan), explain(prepared.plan))


def stores_of(plan: Plan) -> tuple[StoreInfo, ...]:
    """The state stores of a plan."""
    return tuple(
        StoreInfo(store.name, query.name, store.key, store.value)
        for query in plan.queries
        for store in query_stores(query)
    )


def _sink_uses(plan: Plan, settings: Settings) -> tuple[events.SinkUse, ...]:
    urls = {sink.name: sink.url for sink in settings.sinks}
    return tuple(
        events.SinkUse(
            sink=target.sink,
            kind=target.kind,
            table=target.table,
            mode=target.mode,
            key=target.key,
            columns=tuple(events.SinkColumn(name, describe(kind)) for name, kind in target.columns),
            deletes=target.deletes,
            delivery=target.delivery,
            url=urls.get(target.sink, ""),
        )
        for target in (write.target for write in plan.sink_writes)
    )


def planned_event(prepared: PreparedProgram, settings: Settings, now_ms: int) -> events.ProgramPlanned:
    """The event with the topics, stores and sinks of the program, and the positions of its queries."""
    sources = [
        events.TopicUse(
            topic=s.topic,
            role="source",
            key_format=str(s.key.format),
            value_format=str(s.value.format),
            key_type=describe(s.key.type),
            value_type=describe(s.value.type),
            schema_origin=s.origin,
            partitions=s.partitions,
        )
        for s in prepared.plan.sources
    ]
    targets = [
        events.TopicUse(
            topic=write.topic,
            role="target",
            key_format=str(write.key_format),
            value_format=str(write.value_format),
            key_type=describe(write.input.key_type),
            value_type=describe(computed(write.input.value_type)),
            schema_origin="program",
        )
        for write in prepared.plan.topic_writes
    ]
    dead_letter_topic = prepared.plan.dead_letter_topic
    if dead_letter_topic is not None:
        unchanged = str(BYTES_FORMAT)
        targets.append(
            events.TopicUse(
                topic=dead_letter_topic,
                role="target",
                key_format=unchanged,
                value_format=unchanged,
                key_type="bytes",
                value_type="bytes",
                schema_origin="program",
            )
        )
    stores = tuple(store.name for query in prepared.plan.queries for store in query_stores(query))
    return events.ProgramPlanned(
        at_ms=now_ms,
        topics=(*sources, *targets),
        stores=stores,
        generation=prepared.generation,
        stateful=prepared.plan.stateful,
        continuous=prepared.plan.continuous,
        warnings=prepared.warnings,
        positions={query: dict(positions) for query, positions in prepared.positions.items()},
        sinks=_sink_uses(prepared.plan, settings),
        queries=tuple(
            events.QueryUse(
                query.name,
                _mode(query),
                query.only_in_batches,
                rebuild_ends=_rebuild_ends(prepared, query),
                blue=prepared.blues.get(query.name),
            )
            for query in prepared.plan.queries
        ),
    )


def _rebuild_ends(prepared: PreparedProgram, query: Query) -> Mapping[Partition, int]:
    rebuild = prepared.rebuilds.get(query.name)
    return {} if rebuild is None else rebuild.ends


def _mode(query: Query) -> events.QueryMode:
    if query.continuous:
        return "continuous"
    return "real_time" if query.real_time else "batches"
