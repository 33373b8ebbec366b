"""Functions over a node and everything below it."""

from __future__ import annotations

from collections.abc import Iterator

from lsql_runner.formats.catalog import Serde
from lsql_runner.plan.nodes import Aggregate, Join, PlanNode, ReadTopic, Stateful


def nodes(node: PlanNode) -> Iterator[PlanNode]:
    """A node and everything below it, from the top."""
    yield node
    for below in inputs(node):
        yield from nodes(below)


def keeps_state(node: PlanNode) -> bool:
    """Whether a node or one below it keeps state."""
    return any(isinstance(part, Stateful) for part in nodes(node))


def is_timed(node: PlanNode) -> bool:
    """Whether a node or one below it depends on event time: a join of streams, or windows."""
    return any(
        part.delay_ms is not None if isinstance(part, Join) else isinstance(part, Aggregate) and part.window is not None
        for part in nodes(node)
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
    """The serde of the raw key that a node passes on: that of the source topic."""
    match node:
        case ReadTopic(schema):
            return schema.key
        case Join(left=left, right=right, raw_key=raw_key):
            return key_serde(right.input if raw_key in right.columns else left.input)
    return key_serde(node.input)


def watermark_delay_ms(node: Aggregate) -> int:
    """How far the watermark of an aggregate's windows is behind the newest time: the grace, or what joins of streams
    below wait for."""
    joins = (part for part in nodes(node.input) if isinstance(part, Join))
    return max((join.delay_ms for join in joins if join.delay_ms is not None), default=node.grace_ms)
