"""Functions over a node and all nodes below it."""

from __future__ import annotations

from collections.abc import Iterator

from lsql_runner.formats.catalog import Serde
from lsql_runner.plan.nodes import Aggregate, Join, PlanNode, ReadTopic, Stateful


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
    return any(
        each.delay_ms is not None if isinstance(each, Join) else isinstance(each, Aggregate) and each.window is not None
        for each in nodes(node)
    )


def inputs(node: PlanNode) -> tuple[PlanNode, ...]:
    """The inputs of a node."""
    match node:
        case ReadTopic():
            return ()
        case Join(left=left, right=right):
            return left.input, right.input
    return (node.input,)


def key_serde(node: PlanNode) -> Serde:
    """The serde of a node's raw key, which is that of the source topic."""
    match node:
        case ReadTopic(schema):
            return schema.key
        case Join(left=left, right=right, raw_key=raw_key):
            return key_serde(right.input if raw_key in right.columns else left.input)
    return key_serde(node.input)
