"""Which state can be divided into another number of partitions."""

from __future__ import annotations

from lsql_runner.errors.details import Detail, DetailTable
from lsql_runner.plan.fingerprint import QueryFingerprint, described_nodes
from lsql_runner.plan.meaning import Value

FIXED_OPERATORS = DetailTable(
    {
        "STREAM_JOIN": "the join of two streams below windows or other joins",
        "TABLE_JOIN": "the join of two tables by a field, or an outer join of tables with windowed keys",
    }
)
"""The values of the parameter `operator` of PARTITIONS_FIXED."""


def fixed_operator(query: QueryFingerprint) -> Detail | None:
    """The first operator whose state Spark 4.3 cannot repartition; None if it can repartition all.

    Of its own join of streams, Spark writes a state that the join cannot read. It does not find one store of a join of
    tables by a field, and stops.
    """
    for node in described_nodes(query.state):
        if node.get("operator") == "join":
            return FIXED_OPERATORS("STREAM_JOIN")
        if node.get("operator") == "table-join" and not _is_inner_by_key(node):
            return FIXED_OPERATORS("TABLE_JOIN")
    return None


def _is_inner_by_key(node: Value) -> bool:
    return bool(node["kind"] == "INNER" and node["left"]["by_key"] and node["right"]["by_key"])
