"""Makes a Plan from a BoundProgram: the third stage of the pipeline."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.bind.bound import (
    BoundInsert,
    BoundJoin,
    BoundProgram,
    BoundSelect,
    BoundSinkInsert,
    BoundTopic,
    keeps_source,
    part_exprs,
)
from lsql_runner.bind.error_policies import ErrorPolicies
from lsql_runner.bind.expr import ColumnRef, Expr, source_column
from lsql_runner.bind.select import RECORD_TIME
from lsql_runner.plan.clocks import with_clock
from lsql_runner.plan.insert_names import with_insert_names
from lsql_runner.plan.late_records import check_late_records
from lsql_runner.plan.meaning import in_stored_order
from lsql_runner.plan.nodes import (
    Aggregate,
    Filter,
    Having,
    Join,
    JoinSide,
    PlanNode,
    Project,
    ReadTopic,
    Unnest,
    compares_decoded,
    key_serde,
)
from lsql_runner.plan.queries import (
    STATELESS,
    Plan,
    Query,
    Write,
    WriteSink,
    WriteTopic,
    with_continuous_queries,
    with_dead_letters,
)
from lsql_runner.plan.random_values import number_random_values
from lsql_runner.plan.rewrite import rewrite_node
from lsql_runner.plan.rules import RULES
from lsql_runner.plan.tree import timed_nodes
from lsql_runner.plan.usage import narrow_type, paths_into
from lsql_runner.types import BYTES


def plan_program(program: BoundProgram, *, only_batches: bool = False) -> Plan:
    """The plan of a program, after all optimizer rules.

    Args:
        program: the bound program.
        only_batches: whether all queries process batches, regardless of the program's mode.
    """
    namer = _StoreNamer()
    errors = program.settings.errors
    plan = group_queries(tuple(_plan_insert(insert, namer, errors) for insert in program.inserts))
    for write in plan.topic_writes:
        check_late_records(write)
    plan = number_random_values(plan)
    for rule in RULES:
        plan = rule(plan)
    if program.settings.guarantee == "at_least_once":
        plan = Plan(tuple(replace(query, at_least_once=True) for query in plan.queries))
    plan = with_insert_names(with_dead_letters(plan))
    if only_batches or program.settings.mode == "batch":
        return plan
    return with_continuous_queries(plan, real_time=program.settings.pace_ms is None)


def group_queries(writes: tuple[Write, ...]) -> Plan:
    """Group INSERTs into queries: all stateless INSERTs into topics share one; every other INSERT has its own query."""
    stateless = tuple(write for write in writes if isinstance(write, WriteTopic) and not write.stateful)
    queries = [Query(STATELESS, stateless)] if stateless else []
    for number, write in enumerate(write for write in writes if write.stateful):
        queries.append(Query(f"stateful-{number}", (write,)))
    rows = [write for write in writes if isinstance(write, WriteSink) and not write.stateful]
    queries += [Query(f"sink-{number}", (write,)) for number, write in enumerate(rows)]
    return Plan(tuple(queries))


class _StoreNamer:
    """Numbers state stores in the order of the program. `continuation` restores the names of continued stores."""

    def __init__(self) -> None:
        self._count = 0

    def next(self, kind: str = "aggregate") -> str:
        self._count += 1
        return f"{kind}-{self._count - 1}"


def _with_spans(node: Project) -> Project:
    """The input of a target, whose join of streams keeps its rows in spans of time. Joins and windows above it may have
    an earlier event time than its result (EVENTTIME BY), which only Spark's join waits for.
    """
    timed = [each.store for each in timed_nodes(node)]

    def change(each: PlanNode) -> PlanNode:
        match each:
            case Join(store=store) if timed == [store]:
                return replace(each, in_spans=True)
        return each

    return rewrite_node(node, change)


def _plan_insert(insert: BoundInsert | BoundSinkInsert, namer: _StoreNamer, errors: ErrorPolicies) -> Write:
    node = _with_spans(with_clock(_plan_select(insert.select, namer)))
    if isinstance(insert, BoundSinkInsert):
        return WriteSink(node, insert.target)
    return WriteTopic(
        input=node,
        topic=insert.target,
        key_format=insert.key.format,
        value_format=insert.value.format,
        key_schema=insert.key.schema,
        value_schema=insert.value.schema,
        errors=errors,
    )


def _plan_select(select: BoundSelect, namer: _StoreNamer) -> Project:
    node = _plan_source(select.source, _source_exprs(select), namer)
    if isinstance(node, Project) and select.reads_table and not node.of_table:
        node = replace(node, as_table=True)
    for alias, array in select.laterals:
        node = Unnest(node, alias, array)
    if select.where is not None:
        node = Filter(node, select.where, select.reads_table)
    time = select.event_time
    windowed = False
    if select.grouping is not None:
        group = select.grouping
        table = select.reads_table
        store = namer.next()
        calls = in_stored_order(group.calls, node)
        groups = Aggregate(
            input=node,
            keys=group.keys,
            window=group.window,
            grace_ms=group.grace_ms,
            event_time=time,
            calls=calls,
            store=store,
            of_table=table,
            final=group.final,
        )
        node = groups if select.having is None else Having(groups, select.having, namer.next("having"))
        time = RECORD_TIME
        windowed = group.window is not None
    key, value = select.shape.key.type, select.shape.value.type
    return Project(
        input=node,
        key=select.key,
        value=select.value,
        ts=time,
        key_type=key,
        value_type=value,
        windowed=windowed,
        of_table=select.is_table,
        keeps_tombstones=select.keeps_tombstones and not keeps_source(select.value),
    )


def _plan_source(source: BoundTopic | BoundSelect | BoundJoin, above: tuple[Expr, ...], namer: _StoreNamer) -> PlanNode:
    match source:
        case BoundTopic(schema):
            return ReadTopic(schema)
        case BoundSelect():
            return _plan_select(source, namer)
    return _plan_join(source, above, namer)


def _source_exprs(select: BoundSelect) -> tuple[Expr, ...]:
    """The expressions of a SELECT that read columns of its source."""
    arrays = tuple(array for _, array in select.laterals)
    where = () if select.where is None else (select.where,)
    if select.grouping is None:
        return (*arrays, *where, select.event_time, *part_exprs(select.key), *part_exprs(select.value))
    group = select.grouping
    arguments = tuple(call.arg for _, call in group.calls if call.arg is not None)
    return (*arrays, *where, select.event_time, *(expr for _, expr in group.keys), *arguments)


def _plan_join(join: BoundJoin, above: tuple[Expr, ...], namer: _StoreNamer) -> Join:
    """A join that stores only the columns in `above`, the expressions of the nodes above it."""
    above = (*above, join.key.expr, *(() if join.residual is None else (join.residual,)))
    below = (*above, *join.left_keys)
    left_number = None if isinstance(join.left, BoundJoin) else 0
    left = _plan_source(join.left, below, namer)
    right = _plan_source(join.right, (), namer)
    raw = _raw_key(join, left, right)
    sides = []
    for node, keys, is_table, by_key, number in (
        (left, join.left_keys, join.left_is_table, join.by_left_key, left_number),
        (right, join.right_keys, join.right_is_table, join.by_right_key, join.number),
    ):
        side = JoinSide(input=node, keys=keys, carried=(), is_table=is_table, by_key=by_key, number=number)
        carried = [
            (name, narrow_type(kind, paths))
            for name, kind in side.columns.items()
            if (paths := paths_into(name, above))
        ]
        if raw is not None and raw in side.columns:
            carried.append((raw, BYTES))
        sides.append(replace(side, carried=tuple(carried)))
    return Join(
        left=sides[0],
        right=sides[1],
        kind=join.kind,
        residual=join.residual,
        within_ms=join.within_ms,
        grace_ms=join.grace_ms,
        key=join.key.expr,
        raw_key=raw,
        store=namer.next("join"),
    )


def _raw_key(join: BoundJoin, left: PlanNode, right: PlanNode) -> str | None:
    """The column with the bytes of the key, if the result has the unchanged key of a source."""
    match join.key.expr:
        case ColumnRef("key", (), source=int(number)):
            raw = source_column("raw_key", number)
            if isinstance(left, Join) and number != join.number:
                return raw if left.raw_key == raw else None
            side = right if number == join.number else left
            # The key of a row of a table must not change its bytes while its value is the same.
            if "raw_key" not in side.columns or (join.is_table and compares_decoded(key_serde(side))):
                return None
            return raw
    return None
