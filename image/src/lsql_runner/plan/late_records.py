"""SET late.records='dlq': the nodes of an INSERT whose late records are dead letters."""

from __future__ import annotations

from lsql_runner.plan.nodes import Aggregate, Filter, Having, Join, PlanNode, Project, Stateful, Unnest
from lsql_runner.plan.queries import WriteTopic
from lsql_runner.plan.tree import has_watermark, inputs, nodes
from lsql_runner.sql.unsupported import unsupported

_NAMES = {Filter: "a filter", Having: "HAVING", Aggregate: "an aggregate", Join: "a join", Unnest: "LATERAL"}


def late_nodes(write: WriteTopic) -> tuple[Aggregate | Join, ...]:
    """The nodes whose late records are dead letters: joins of streams, and windows. Their inputs are records."""
    if write.errors.late == "drop":
        return ()
    return tuple(node for node in nodes(write.input) if has_watermark(node))


def compared_nodes(write: WriteTopic) -> tuple[Aggregate | Join, ...]:
    """Those whose inputs are read a second time, and compared with the watermark. Sessions emit late records
    themselves, among their results.
    """
    return tuple(node for node in late_nodes(write) if isinstance(node, Join) or not node.is_session)


def check_late_records(write: WriteTopic) -> None:
    """Check that the rows that can be late are records of topics, and that they can be told from results.

    Raises:
        LsqlError: FEATURE_UNSUPPORTED, at the value of SET late.records.
    """
    for node in late_nodes(write):
        below = next((each for side in inputs(node) for each in nodes(side) if isinstance(each, Stateful)), None)
        if below is not None:
            raise unsupported("late records of results", write.errors.late_span, below=_NAMES[type(below)])
        if isinstance(node, Aggregate) and node.is_session:
            above = _other_than_project(write.input, node)
            if above is not None:
                raise unsupported("late records of sessions", write.errors.late_span, above=_NAMES[type(above)])


def _other_than_project(top: PlanNode, bottom: Aggregate) -> PlanNode | None:
    """The first node between two nodes that is no projection; None without one."""
    node: PlanNode = top
    while node is not bottom:
        if not isinstance(node, Project):
            return node
        node = node.input
    return None
