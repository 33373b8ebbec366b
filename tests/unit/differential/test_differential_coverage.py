"""The comparison with Kafka Streams covers every aggregate with every kind of group, and every join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from lsql_runner.bind.functions.table import AGGREGATES
from lsql_runner.plan.nodes import Aggregate, Join
from lsql_runner.plan.queries import Plan
from tests.differential.check import plan_of
from tests.differential.programs import SUITES

CALLS = {*AGGREGATES, "COUNT(*)"}
WINDOWS = ("TUMBLE", "HOP", "SESSION")
JOINS = {
    "stream and stream": {"INNER", "LEFT", "RIGHT", "FULL"},
    "stream and table": {"INNER", "LEFT"},
    "table and table": {"INNER", "LEFT", "RIGHT", "FULL"},
    "table and table, by a foreign key": {"INNER", "LEFT"},
}


@cache
def plans() -> tuple[Plan, ...]:
    return tuple(plan_of(suite) for suite in SUITES)


def aggregates() -> Iterator[Aggregate]:
    for plan in plans():
        for query in plan.queries:
            yield from (node for node in query.stores if isinstance(node, Aggregate))


def joins() -> Iterator[Join]:
    for plan in plans():
        for query in plan.queries:
            yield from (node for node in query.stores if isinstance(node, Join))


def calls(groups: Iterable[Aggregate]) -> set[str]:
    """The functions that are computed, including COUNT(*)."""
    computed = [call for node in groups for _, call in node.calls]
    return {call.function if call.arg is not None else f"{call.function}(*)" for call in computed}


def kinds_of_sources(join: Join) -> str:
    """What is joined: a key of JOINS."""
    if not join.is_table:
        return "stream and stream" if join.within_ms is not None else "stream and table"
    is_foreign = join.left.by_key != join.right.by_key
    return "table and table, by a foreign key" if is_foreign else "table and table"


@pytest.mark.parametrize("final", [False, True], ids=["changes", "final"])
@pytest.mark.parametrize("window", WINDOWS)
def test_every_aggregate_is_compared_in_every_window(window: str, final: bool) -> None:
    groups = [node for node in aggregates() if node.window is not None and node.window.kind == window]
    assert calls(node for node in groups if node.final == final) == CALLS


@pytest.mark.parametrize("of_table", [False, True], ids=["stream", "table"])
def test_every_aggregate_is_compared_without_a_window(of_table: bool) -> None:
    assert calls(node for node in aggregates() if node.window is None and node.of_table == of_table) == CALLS


@pytest.mark.parametrize("sides", JOINS)
def test_every_kind_of_join_is_compared(sides: str) -> None:
    assert {join.kind for join in joins() if kinds_of_sources(join) == sides} >= JOINS[sides]
