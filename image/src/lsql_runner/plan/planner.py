"""BoundProgram to Plan: the third stage of the line."""

from __future__ import annotations

from lsql_runner.bind.bound import BoundInsert, BoundProgram, BoundSelect, BoundSinkInsert, BoundTopic
from lsql_runner.bind.select import RECORD_TIME
from lsql_runner.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    Plan,
    Project,
    Query,
    ReadTopic,
    Unnest,
    Write,
    WriteSink,
    WriteTopic,
    nodes,
)
from lsql_runner.plan.rules import RULES


def plan_program(program: BoundProgram) -> Plan:
    """The plan of a program, with every rule applied in order."""
    namer = _StoreNamer()
    plan = group_queries(tuple(_plan_insert(insert, namer) for insert in program.inserts))
    for rule in RULES:
        plan = rule(plan)
    return plan


def group_queries(sinks: tuple[Write, ...]) -> Plan:
    """All stateless INSERTs into topics in one query, each stateful one and each into a sink in its own."""
    stateless = tuple(sink for sink in sinks if isinstance(sink, WriteTopic) and not _is_stateful(sink))
    queries = [Query("stateless", stateless)] if stateless else []
    for number, sink in enumerate(sink for sink in sinks if _is_stateful(sink)):
        queries.append(Query(f"stateful-{number}", (sink,)))
    rows = [sink for sink in sinks if isinstance(sink, WriteSink) and not _is_stateful(sink)]
    queries += [Query(f"sink-{number}", (sink,)) for number, sink in enumerate(rows)]
    return Plan(tuple(queries))


def _is_stateful(sink: Write) -> bool:
    return any(isinstance(node, Aggregate) for node in nodes(sink.input))


class _StoreNamer:
    """Names state stores in the order of the program: the names are part of the state's identity."""

    def __init__(self) -> None:
        self._count = 0

    def next(self) -> str:
        self._count += 1
        return f"aggregate-{self._count - 1}"


def _plan_insert(insert: BoundInsert | BoundSinkInsert, namer: _StoreNamer) -> Write:
    node = _plan_select(insert.select, namer)
    if isinstance(insert, BoundSinkInsert):
        return WriteSink(node, insert.target)
    return WriteTopic(
        node,
        insert.target,
        insert.key.format,
        insert.value.format,
        insert.key.schema,
        insert.value.schema,
    )


def _plan_select(select: BoundSelect, namer: _StoreNamer) -> Project:
    node: Node = (
        ReadTopic(select.source.schema) if isinstance(select.source, BoundTopic) else _plan_select(select.source, namer)
    )
    for alias, array in select.laterals:
        node = Unnest(node, alias, array)
    if select.where is not None:
        node = Filter(node, select.where)
    time = select.event_time
    windowed = False
    if select.grouping is not None:
        grouping = select.grouping
        node = Aggregate(node, grouping.keys, grouping.window, grouping.grace_ms, time, grouping.calls, namer.next())
        time = RECORD_TIME
        windowed = grouping.window is not None
    return Project(node, select.key, select.value, time, select.shape.key.type, select.shape.value.type, windowed)
