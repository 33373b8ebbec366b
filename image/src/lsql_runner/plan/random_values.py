"""Numbers the calls of RANDINT() and UUID() in a program, so that no two of them have equal values for a record."""

from __future__ import annotations

from dataclasses import replace

from lsql_runner.bind.bound import Fields, Part, UnnamedValue
from lsql_runner.bind.expr import AggregateCall, Expr, RandomBits, rewrite, walk
from lsql_runner.plan.nodes import Aggregate, Filter, Having, Join, JoinSide, PlanNode, Project, Unnest
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.rewrite import rewrite_nodes
from lsql_runner.plan.tree import all_exprs, nodes


def number_random_values(plan: Plan) -> Plan:
    """The plan with the number of the call in all RandomBits: their order in the program."""
    exprs = (expr for write in plan.writes for node in nodes(write.input) for expr in all_exprs(node))
    spans = sorted({part.span for expr in exprs for part in walk(expr) if isinstance(part, RandomBits)})
    if not spans:
        return plan
    numbers = {span: number for number, span in enumerate(spans)}

    def visit(expr: Expr) -> Expr | None:
        return replace(expr, call=numbers[expr.span]) if isinstance(expr, RandomBits) else None

    def numbered(expr: Expr) -> Expr:
        return rewrite(expr, visit)

    def numbered_call(call: AggregateCall) -> AggregateCall:
        return call if call.arg is None else replace(call, arg=numbered(call.arg))

    def side(below: JoinSide) -> JoinSide:
        return replace(below, keys=tuple(numbered(key) for key in below.keys))

    def numbered_part(part: Part) -> Part:
        match part:
            case UnnamedValue(expr):
                return UnnamedValue(numbered(expr))
            case Fields(fields, extends):
                return Fields(tuple((name, numbered(expr)) for name, expr in fields), extends)
        return part

    def change(node: PlanNode) -> PlanNode:
        match node:
            case Filter(condition=condition) | Having(condition=condition):
                return replace(node, condition=numbered(condition))
            case Unnest(array=array):
                return replace(node, array=numbered(array))
            case Join():
                residual = None if node.residual is None else numbered(node.residual)
                return replace(
                    node, left=side(node.left), right=side(node.right), residual=residual, key=numbered(node.key)
                )
            case Aggregate():
                keys = tuple((name, numbered(expr)) for name, expr in node.keys)
                calls = tuple((slot, numbered_call(call)) for slot, call in node.calls)
                return replace(node, keys=keys, calls=calls, event_time=numbered(node.event_time))
            case Project():
                return replace(node, key=numbered_part(node.key), value=numbered_part(node.value), ts=numbered(node.ts))
        return node

    return rewrite_nodes(plan, change)
