"""How many tasks the batches of a plan have at the same time."""

from __future__ import annotations

from collections.abc import Iterable

from lsql_runner.plan.late_records import compared_nodes
from lsql_runner.plan.nodes import PlanNode, ReadTopic
from lsql_runner.plan.queries import Plan, Query, WriteTopic
from lsql_runner.plan.tree import inputs, nodes


def most_tasks(plan: Plan, state_partitions: int) -> int:
    """How many tasks the batches of a plan have at most at the same time: more task slots than that are never used.

    A batch has a task for each partition that it reads, then one for each partition of its state. Beside either, it
    has a task for each partition that it reads a second time for late records. All queries may have a batch at the
    same time.

    Args:
        plan: with the partitions of its sources; an unknown number counts as one.
        state_partitions: into how many partitions the state of each operator is divided.
    """
    return sum(_most_tasks(query, state_partitions) for query in plan.queries)


def _most_tasks(query: Query, state_partitions: int) -> int:
    writes = (*query.writes, *query.dead_letters_of)
    reads = _partitions(write.input for write in writes)
    again = (
        side
        for write in writes
        if isinstance(write, WriteTopic)
        for node in compared_nodes(write)
        for side in inputs(node)
    )
    return max(reads, state_partitions if query.stateful else 0) + _partitions(again)


def _partitions(relations: Iterable[PlanNode]) -> int:
    """How many partitions the topics have that relations read."""
    return sum(node.schema.partitions or 1 for top in relations for node in nodes(top) if isinstance(node, ReadTopic))
