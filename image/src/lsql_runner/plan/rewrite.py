"""Rewrites the nodes of a plan from the bottom up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lsql_runner.plan.nodes import Aggregate, Having, Join, PlanNode, Project, ReadTopic
from lsql_runner.plan.queries import Plan


def rewrite_nodes(plan: Plan, change: Callable[[PlanNode], PlanNode]) -> Plan:
    """The plan with `change` applied to every node, to inputs first."""
    queries = tuple(
        replace(
            query,
            writes=tuple(replace(write, input=rewrite_node(write.input, change)) for write in query.writes),
        )
        for query in plan.queries
    )
    return Plan(queries)


def rewrite_node(node: Project, change: Callable[[PlanNode], PlanNode]) -> Project:
    """The input of a target, with `change` applied to every node, to inputs first."""
    rebuilt = _rebuild(node, change)
    assert isinstance(rebuilt, Project), "a rule must not replace the projection that a target reads"
    return rebuilt


def _rebuild(node: PlanNode, change: Callable[[PlanNode], PlanNode]) -> PlanNode:
    if isinstance(node, ReadTopic):
        return change(node)
    if isinstance(node, Join):
        left = replace(node.left, input=_rebuild(node.left.input, change))
        right = replace(node.right, input=_rebuild(node.right.input, change))
        return change(replace(node, left=left, right=right))
    below = _rebuild(node.input, change)
    if isinstance(node, Having):
        assert isinstance(below, Aggregate), "a rule must not add a node between HAVING and its aggregate"
        return change(replace(node, input=below))
    return change(replace(node, input=below))
