"""Removes filters like WHERE TRUE: they have no effect, but are evaluated for every record."""

from __future__ import annotations

from lsql_runner.bind.expr import Const
from lsql_runner.plan.nodes import Filter, PlanNode
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.rewrite import rewrite_nodes


def drop_constant_filters(plan: Plan) -> Plan:
    """Remove filters whose condition is the constant true."""

    def change(node: PlanNode) -> PlanNode:
        if isinstance(node, Filter) and isinstance(node.condition, Const) and node.condition.value is True:
            return node.input
        return node

    return rewrite_nodes(plan, change)
