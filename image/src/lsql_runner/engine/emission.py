"""When results go out: with each change, or once, when time has gone on far enough."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lsql_runner.plan.nodes import Aggregate, Join, Stateful
from lsql_runner.plan.queries import Query

_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"


def output_mode(query: Query) -> str:
    """What Spark is to call the output of a query: it knows outer joins of streams in append mode only.

    In that mode its aggregates give final results, so that binding refuses such a join and any other aggregate of a
    stream in one query.
    """
    return "append" if _gives_once(query) else "update"


def tune_emission(session: SparkSession, query: Query) -> None:
    """Set, for the next query that starts, whether a batch without records follows one that moved the time.

    Only results that wait for time need it; for all others it would be a batch of nothing.
    """
    session.conf.set(_NO_DATA, "true" if _gives_once(query) else "false")


def _gives_once(query: Query) -> bool:
    return any(_waits(store) for store in query.stores)


def _waits(store: Stateful) -> bool:
    match store:
        case Join():
            return store.emits_unmatched
        case Aggregate():
            return store.final
    return False
