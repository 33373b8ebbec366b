"""Moves conditions below LATERAL, so that they are evaluated once per record, not once per element."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.bind.expr import ColumnRef, Expr, OperatorCall, RandomBits, walk
from lsql_runner.bind.scope import lateral_column
from lsql_runner.plan.nodes import Filter, PlanNode, Unnest
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.rewrite import rewrite_nodes
from lsql_runner.types import BOOLEAN


def filter_before_unnest(plan: Plan) -> Plan:
    """Move the AND-ed conditions that are the same for all elements of an array below the Unnest."""
    return rewrite_nodes(plan, _push)


def _push(node: PlanNode) -> PlanNode:
    if not (isinstance(node, Filter) and isinstance(node.input, Unnest)):
        return node
    unnest = node.input
    column = lateral_column(unnest.alias)
    above = [c for c in conjuncts(node.condition) if _reads(c, column)]
    below = [c for c in conjuncts(node.condition) if not _reads(c, column)]
    if not below:
        return node
    moved = replace(unnest, input=_push(Filter(unnest.input, conjunction(below))))
    return Filter(moved, conjunction(above)) if above else moved


def conjuncts(condition: Expr) -> tuple[Expr, ...]:
    """The conditions that AND connects; the condition itself if it is not an AND."""
    if isinstance(condition, OperatorCall) and condition.op == "AND":
        return condition.args
    return (condition,)


def conjunction(conditions: list[Expr]) -> Expr:
    """The conditions joined by AND."""
    if len(conditions) == 1:
        return conditions[0]
    return OperatorCall("AND", tuple(conditions), BOOLEAN, any(c.nullable for c in conditions))


def _reads(expr: Expr, column: str) -> bool:
    """Whether an expression depends on the element: it reads the LATERAL alias, or is random."""
    return any(
        isinstance(part, RandomBits) or (isinstance(part, ColumnRef) and part.name == column) for part in walk(expr)
    )
