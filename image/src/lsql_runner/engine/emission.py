"""When a query emits results: with each change, or once, when its watermark has passed them."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lsql_runner.plan.queries import Query

_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"


def output_mode(query: Query) -> str:
    """Spark's output mode for a query. Spark supports its own outer joins of streams in append mode only.

    In append mode Spark's aggregates emit final results. So binding refuses a query with such a join and an aggregate
    that emits with each change.
    """
    return "append" if query.waits_for_watermark and not query.waits_in_spans else "update"


def tune_emission(session: SparkSession, query: Query, *, rebuilds: bool = False) -> None:
    """Set for the next query that starts: whether a batch without records follows a batch that advanced the watermark.

    Only results that wait for the watermark need such a batch, and state that is built again, until records of windows
    that were closed are late. For all others it would be empty.
    """
    session.conf.set(_NO_DATA, "true" if query.waits_for_watermark or rebuilds else "false")
