"""When a query emits results: with each change, or once, when its watermark has passed them."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lsql_runner.plan.nodes import Aggregate, Join, Stateful
from lsql_runner.plan.queries import Query

_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"


def output_mode(query: Query) -> str:
    """Spark's output mode for a query. Spark supports outer joins of streams in append mode only.

    In append mode Spark's aggregates emit final results. So binding refuses a query with such a join and an aggregate
    that emits with each change.
    """
    return "append" if _emits_once(query) else "update"


def tune_emission(session: SparkSession, query: Query) -> None:
    """Set for the next query that starts: whether a batch without records follows a batch that advanced the watermark.

    Only results that wait for the watermark need such a batch; for all others it would be empty.
    """
    session.conf.set(_NO_DATA, "true" if _emits_once(query) else "false")


def _emits_once(query: Query) -> bool:
    return any(_waits_for_watermark(store) for store in query.stores)


def _waits_for_watermark(store: Stateful) -> bool:
    match store:
        case Join():
            return store.emits_unmatched
        case Aggregate():
            return store.final
    return False
