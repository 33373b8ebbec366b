"""The state stores of a query: their names and types, in the order of the operators in the engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsql_runner.plan.nodes import Aggregate, Having, Join, JoinSide, PlanNode
from lsql_runner.plan.queries import Plan, Query
from lsql_runner.plan.text import show
from lsql_runner.plan.tree import inputs, needs_consolidation, nodes
from lsql_runner.types import DataType, describe


@dataclass(frozen=True, slots=True)
class StoreDescription:
    name: str
    key: str
    """The type of the keys as LSQL text."""
    value: str
    """The type of the values as LSQL text."""


def query_stores(query: Query) -> tuple[StoreDescription, ...]:
    """The state stores of a query, from the targets down."""
    return tuple(store for write in query.writes for store in _stores(write.input))


def operator_number(query: Query, store: str) -> int:
    """The number of the operator of a store in the checkpoint of its query: Spark counts from the target down.

    Raises:
        ValueError: the query has no such store.
    """
    return [each.name for each in query_stores(query)].index(store)


def reads_state(query: Query) -> bool:
    """Whether the query can run with state stores that are read meanwhile: it has groups, and Spark accepts our class
    for their stores, which it checks for each branch of a join. In real time, our class is used in any case."""
    below = [node for write in query.writes for node in nodes(write.input)]
    return any(isinstance(node, Aggregate) for node in below) and (
        query.real_time or not any(isinstance(node, Join) for node in below)
    )


def store_count(plan: Plan) -> int:
    """The number of state stores of a plan, each counted once for all its partitions."""
    return sum(len(query_stores(query)) for query in plan.queries)


def _stores(node: PlanNode) -> Iterator[StoreDescription]:
    match node:
        case Aggregate():
            yield from _aggregate_stores(node)
        case Having():
            yield StoreDescription(node.store, _group_type(node.input), _result_type(node.input))
        case Join():
            yield from _join_stores(node)
            return
    for below in inputs(node):
        yield from _stores(below)


def _aggregate_stores(node: Aggregate) -> Iterator[StoreDescription]:
    yield StoreDescription(node.store, _group_type(node), _result_type(node))
    if node.of_table:
        arguments = [(f"arg_{slot}", call.arg.type) for slot, call in node.calls if call.arg is not None]
        yield StoreDescription(f"{node.store}-rows", "bytes", _struct([(n, e.type) for n, e in node.keys] + arguments))


def _group_type(node: Aggregate) -> str:
    if "raw_key" in node.groups:
        return "bytes"
    return _struct([(name, expr.type) for name, expr in node.keys] or [*node.groups.items()])


def _result_type(node: Aggregate) -> str:
    return _struct([(call.function.lower(), call.type) for _, call in node.calls])


def _join_stores(node: Join) -> Iterator[StoreDescription]:
    both = _struct([*node.left.carried, *node.right.carried])
    on = _struct([(show(key), key.type) for key in node.left.keys])
    if needs_consolidation(node):
        yield StoreDescription(f"{node.store}-moves", "bytes", both)
    yield StoreDescription(node.store, on, both)
    for side, name in ((node.left, "left"), (node.right, "right")):
        if is_tracked(side):
            yield StoreDescription(f"{node.store}-{name}", "bytes", _struct([*side.carried]))
        yield from _stores(side.input)


def is_tracked(side: JoinSide) -> bool:
    """Whether the rows of a side have a separate store: a table whose join key is not the record key."""
    return side.is_table and not side.by_key


def _struct(fields: list[tuple[str, DataType]]) -> str:
    return "struct<" + ", ".join(f"{name}: {describe(kind)}" for name, kind in fields) + ">"
