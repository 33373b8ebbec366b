"""Rebuilding a plan from changed nodes, bottom-up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lsql_runner.plan.nodes import Node, Plan, Project, ReadTopic


def rewrite_nodes(plan: Plan, change: Callable[[Node], Node]) -> Plan:
    """The plan with `change` applied to every node, inputs before those that read them."""
    queries = tuple(
        replace(
            query,
            sinks=tuple(replace(sink, input=_as_project(_rebuild(sink.input, change))) for sink in query.sinks),
        )
        for query in plan.queries
    )
    return Plan(queries)


def _rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    if isinstance(node, ReadTopic):
        return change(node)
    return change(replace(node, input=_rebuild(node.input, change)))


def _as_project(node: Node) -> Project:
    assert isinstance(node, Project), "a rule may not change what a sink reads into something else"
    return node
