"""Names the part of an INSERT that fails on a record: a field of a SELECT, or a clause.

Spark's exceptions have no place in the program. Each expression is therefore computed alone for the record that stopped
the processor.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsql_runner.bind.bound import Fields, Part, UnnamedValue
from lsql_runner.bind.expr import Expr
from lsql_runner.compile.expressions import column
from lsql_runner.compile.nodes import Reader, Source, compile_node
from lsql_runner.engine.locate import failure_of
from lsql_runner.plan.nodes import Aggregate, Filter, PlanNode, Project, ReadTopic, Unnest
from lsql_runner.plan.queries import Write
from lsql_runner.plan.tree import keeps_state, nodes


def failing_place(write: Write, read: Reader) -> str | None:
    """For example `field total`, `_key`, `WHERE`; None if no expression over records fails alone.

    Args:
        write: the INSERT that fails.
        read: reads the record.
    """
    for node in reversed(list(nodes(write.input))):
        if isinstance(node, ReadTopic) or any(keeps_state(below) for below in nodes(node) if below is not node):
            continue
        for place, expr in _expressions(node):
            assert isinstance(node, Filter | Unnest | Project | Aggregate)
            below = compile_node(node.input, Source(read=read))
            value = column(expr, below.columns_for([expr]))
            if failure_of(below.frame.select(value.alias("value"))) is not None:
                return place
    return None


def _expressions(node: PlanNode) -> Iterator[tuple[str, Expr]]:
    match node:
        case Filter():
            yield "WHERE", node.condition
        case Unnest():
            yield "LATERAL", node.array
        case Project():
            yield from _of_part("_key", node.key)
            yield from _of_part("_value", node.value)
        case Aggregate():
            yield "EVENTTIME BY", node.event_time
            yield from (("GROUP BY", expr) for _, expr in node.keys)
            yield from ((call.function, call.arg) for _, call in node.calls if call.arg is not None)


def _of_part(name: str, part: Part) -> Iterator[tuple[str, Expr]]:
    match part:
        case UnnamedValue(expr):
            yield name, expr
        case Fields(fields):
            for field, expr in fields:
                yield f"field {field}" if name == "_value" else f"field {name}.{field}", expr
