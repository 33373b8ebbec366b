"""Functions over a node and all nodes below it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from lsql_runner.bind.bound import WindowSpec, keeps_source, part_exprs
from lsql_runner.bind.expr import Expr
from lsql_runner.formats.catalog import Serde
from lsql_runner.plan.nodes import (
    Aggregate,
    Filter,
    Having,
    Join,
    PlanNode,
    Project,
    ReadTopic,
    Stateful,
    Unnest,
    key_serde,
)


def nodes(node: PlanNode) -> Iterator[PlanNode]:
    """A node and all nodes below it, from the top."""
    yield node
    for below in inputs(node):
        yield from nodes(below)


def keeps_state(node: PlanNode) -> bool:
    """Whether a node or one below it keeps state."""
    return any(isinstance(each, Stateful) for each in nodes(node))


def is_timed(node: PlanNode) -> bool:
    """Whether a node or one below it depends on event time: a join of streams, or windows."""
    return next(timed_nodes(node), None) is not None


def timed_nodes(node: PlanNode) -> Iterator[Aggregate | Join]:
    """The joins of streams and windows among a node and all nodes below it, from the top."""
    for each in nodes(node):
        match each:
            case (Join(within_ms=int())) | Aggregate(window=WindowSpec()):
                yield each


def has_watermark(node: PlanNode) -> TypeGuard[Aggregate | Join]:
    """Whether rows can be late for the node: a join of streams, or the lowest windows."""
    if isinstance(node, Join):
        return node.delay_ms is not None
    return isinstance(node, Aggregate) and node.window is not None and not is_timed(node.input)


def inputs(node: PlanNode) -> tuple[PlanNode, ...]:
    """The inputs of a node."""
    match node:
        case ReadTopic():
            return ()
        case Join(left=left, right=right):
            return left.input, right.input
    return (node.input,)


def row_key(node: PlanNode) -> Serde | None:
    """The serde of the encoded keys that identify the rows of a table; None if other columns do."""
    match node:
        case ReadTopic(schema):
            return schema.key
        case Project(as_table=True, key=key):
            return key_serde(node.input) if keeps_source(key) else None
        case Filter() | Project():
            return row_key(node.input)
    return None


def needs_consolidation(join: Join) -> bool:
    """Whether the changes of a join of two tables must be combined: a row may have another join key after a change,
    which another task processes; or a row without a partner has another id than its pairs, as with windowed keys.
    """
    if not join.is_table:
        return False
    sides = (join.left, join.right)
    if join.kind == "INNER":
        return not all(side.by_key for side in sides)
    return not all(side.by_key and _has_one_row(side.input) for side in sides)


def _has_one_row(table: PlanNode) -> bool:
    """Whether the rows of a table are identified by its keys alone, without windows."""
    key = row_key(table)
    return key is not None and not key.format.is_windowed


def all_exprs(node: PlanNode) -> tuple[Expr, ...]:
    """As `node_exprs`; those of a join are over the columns of both inputs."""
    if isinstance(node, Join):
        residual = () if node.residual is None else (node.residual,)
        return (*node.left.keys, *node.right.keys, *residual, node.key)
    return node_exprs(node)


def node_exprs(node: PlanNode) -> tuple[Expr, ...]:
    """The expressions that a node evaluates over the columns of its input."""
    match node:
        case Filter(condition=condition) | Having(condition=condition):
            return (condition,)
        case Unnest(array=array):
            return (array,)
        case Aggregate():
            return (node.event_time, *(expr for _, expr in node.keys), *node.arguments)
        case Project():
            return (node.ts, *part_exprs(node.key), *part_exprs(node.value))
    return ()
