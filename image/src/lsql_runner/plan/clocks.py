"""The clock of a query: it advances the event time of inputs that have no records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

from lsql_runner.plan.nodes import Aggregate, Join, PlanNode, Project, ReadTopic
from lsql_runner.plan.queries import Query
from lsql_runner.plan.rewrite import rewrite_node
from lsql_runner.plan.tree import has_watermark, inputs, is_timed, nodes

_SHORTEST_MS = 1_000
_LONGEST_MS = 60_000
_STEPS = 20
"""Steps in the time of one window. Each step may be a micro-batch; a result may be late by one step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedInput:
    """Rows that have a watermark of their own: a side of a join of streams, or the input of windows."""

    name: str
    topics: tuple[str, ...]
    streams: tuple[str, ...]
    """Names of the topics whose records are its rows. The others are tables that they are joined with."""
    delay_ms: int
    """The delay of the watermark behind the newest time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryClock:
    """The clock of a query with results or state that wait for the watermark."""

    name: str
    inputs: tuple[TimedInput, ...]
    stores: tuple[str, ...]
    """The stores whose rows wait for the watermark."""
    pace_ms: int
    """The shortest step."""
    advances_while_idle: bool
    """Whether time also passes while no input has records, because results wait for it."""

    @property
    def delay_ms(self) -> int:
        """The delay of the watermark of the query behind the time of its inputs."""
        return max(each.delay_ms for each in self.inputs)

    @property
    def topics(self) -> dict[str, tuple[str, ...]]:
        """The topics of each input, by its name."""
        return {each.name: each.topics for each in self.inputs}


def with_clock(node: Project) -> Project:
    """The input of a target, whose joins of streams and windows with final results have the name of a clock."""
    timed = next((each for each in nodes(node) if _needs_clock(each)), None)
    if timed is None:
        return node

    def change(each: PlanNode) -> PlanNode:
        return replace(each, clock=timed.store) if has_watermark(each) else each

    return rewrite_node(node, change)


def _needs_clock(node: PlanNode) -> TypeGuard[Aggregate | Join]:
    return node.delay_ms is not None if isinstance(node, Join) else isinstance(node, Aggregate) and node.final


def clock_of(query: Query) -> QueryClock | None:
    """The clock of a query; None if no result and no join of streams waits for the watermark."""
    timed = [node for node in query.stores if isinstance(node, Aggregate | Join)]
    name = next((node.clock for node in timed if node.clock is not None), None)
    if name is None:
        return None
    waiting = [node for node in timed if _needs_clock(node)]
    steps_ms = min(_length_ms(node) for node in waiting) // _STEPS
    return QueryClock(
        name=name,
        inputs=tuple(each for node in timed if node.clock is not None for each in _inputs(node)),
        stores=tuple(node.store for node in waiting),
        pace_ms=min(max(steps_ms, _SHORTEST_MS), _LONGEST_MS),
        advances_while_idle=query.waits_for_watermark,
    )


def timed_inputs(query: Query) -> tuple[TimedInput, ...]:
    """All rows of a query that have a watermark of their own."""
    timed = [node for node in query.stores if isinstance(node, Aggregate | Join) and has_watermark(node)]
    return tuple(each for node in timed for each in _inputs(node))


def _length_ms(node: Aggregate | Join) -> int:
    if isinstance(node, Join):
        assert node.within_ms is not None
        return node.within_ms
    assert node.window is not None
    return node.window.size_ms


def _inputs(node: Aggregate | Join) -> Iterator[TimedInput]:
    if isinstance(node, Aggregate):
        yield _input(node.store, node.input, node.grace_ms)
        return
    if node.delay_ms is None:
        return
    for side, name in ((node.left, node.input_names[0]), (node.right, node.input_names[1])):
        if not is_timed(side.input):
            yield _input(name, side.input, node.delay_ms)


def _input(name: str, rows: PlanNode, delay_ms: int) -> TimedInput:
    return TimedInput(name=name, topics=_topics(rows), streams=_streams(rows), delay_ms=delay_ms)


def _streams(node: PlanNode) -> tuple[str, ...]:
    if isinstance(node, ReadTopic):
        return (node.schema.topic,)
    if isinstance(node, Join):
        return tuple(topic for side in (node.left, node.right) if not side.is_table for topic in _streams(side.input))
    return tuple(topic for below in inputs(node) for topic in _streams(below))


def _topics(node: PlanNode) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.schema.topic for each in nodes(node) if isinstance(each, ReadTopic)))
