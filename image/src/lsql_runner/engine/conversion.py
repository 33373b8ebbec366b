"""Converts the state of a query that does not run, for a query with other aggregates."""

from __future__ import annotations

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import DataFrame

from lsql_runner.compile.nodes import Reader, compile_node, source_of
from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import STATE_CONVERSION
from lsql_runner.plan.conversion import ConvertedQuery
from lsql_runner.plan.nodes import Aggregate
from lsql_runner.plan.queries import Query, Write
from lsql_runner.plan.stores import operator_number
from lsql_runner.plan.tree import nodes
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import newest_committed, operator_state_ids, set_state_ids

_REASONS = DetailTable({"NO_GROUPS": "its checkpoint has no groups after the batch {batch}"})


def convert_state(query: ConvertedQuery, source: StateFolder, target: StateFolder, read: Reader) -> None:
    """Convert the state of the last batch that has ended. See `port.Engine.convert_state`.

    Args:
        query: see there, as below.
        source: its checkpoint.
        target: a copy of it.
        read: returns the records of a topic, which are not read: the queries are compiled, and do not run.

    Raises:
        LsqlError: STATE_CONVERSION_FAILED.
        PySparkException, Py4JError: the state cannot be read, or is not that of the query.
        OSError: the volume fails.
    """
    batch = newest_committed(target)
    if batch is None:
        (target / "state").delete_all()  # Spark has written its schema, and no rows
        return
    operator = operator_number(query.old, _aggregate(query.old)[1].store)
    stored = operator_state_ids(target, batch, operator)
    if not stored:
        reason = _REASONS("NO_GROUPS", batch=batch)
        raise LsqlError("STATE_CONVERSION_FAILED", query=query.new.name, reason=reason)
    for number in range(len(stored)):
        (target / f"state/{operator}/{number}").delete_all()
    conversion = _conversion(query, (source, target), operator, read)
    conversion.writeSchema()
    ids = [[conversion.convert(number, batch + 1, id)] for number, id in enumerate(stored)]
    set_state_ids(target, batch, str(operator), ids)


def _conversion(
    query: ConvertedQuery, checkpoints: tuple[StateFolder, StateFolder], operator: int, read: Reader
) -> JavaObject:
    before, after = _aggregation(query.old, read), _aggregation(query.new, read)
    # The first result of a group is its newest time, in both.
    results = [0, *(-1 if place is None else place + 1 for place in query.aggregates)]
    folders = [f"{checkpoint}/state" for checkpoint in checkpoints]
    return java_class(STATE_CONVERSION).of(
        before.sparkSession._jsparkSession, before._jdf, after._jdf, results, *folders, operator
    )


def _aggregation(query: Query, read: Reader) -> DataFrame:
    """The groups of a query. Java takes their aggregates from its plan."""
    write, node = _aggregate(query)
    return compile_node(node, source_of(write, read)).frame


def _aggregate(query: Query) -> tuple[Write, Aggregate]:
    """The INSERT of a query, and its aggregate."""
    (write,) = query.writes
    return write, next(each for each in nodes(write.input) if isinstance(each, Aggregate))
