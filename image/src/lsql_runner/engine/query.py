"""A plan that runs: its streaming queries, their batches, and a stop that lets the batch end."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from lsql_runner.engine.compile import Reader, compile_query, shared
from lsql_runner.engine.emission import output_mode, tune_emission
from lsql_runner.engine.java_errors import errors_of
from lsql_runner.engine.port import RowSinks, SinkOptions
from lsql_runner.engine.progress import OUTPUT_METRIC, batch_ended
from lsql_runner.engine.row_sink import row_writer
from lsql_runner.engine.sink import batch_writer, outlet_of, sink_records
from lsql_runner.engine.sink_failures import sink_error
from lsql_runner.engine.sink_rows import sink_rows
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded
from lsql_runner.jvm.java_error import JavaError, JavaErrors
from lsql_runner.plan.queries import Plan, Query, WriteSink
from lsql_runner.plan.stores import query_stores

LOG = logging.getLogger(__name__)

_STOP_DEADLINE_S = 30.0


@dataclass(frozen=True, slots=True)
class Launch:
    """What a plan needs to run. Each query keeps its checkpoint in `checkpoints / <name>`."""

    plan: Plan
    read: Reader
    sink: SinkOptions
    checkpoints: Path | str
    on_batch: Callable[[BatchEnded], None]
    row_sinks: RowSinks = RowSinks()


class RunningPlan:
    """All queries of a plan. They live and die together: a program has one lifecycle.

    Raises:
        LsqlError: as `row_writer`; nothing runs then.
    """

    def __init__(self, spark: SparkSession, launch: Launch) -> None:
        self._spark = spark
        self._connections = launch.row_sinks.connections
        # All targets are looked at before the first batch of any of them.
        row_writers = {
            query.name: row_writer(spark, launch.sink.app_id, query.name, query.row_sink, launch.row_sinks)
            for query in launch.plan.queries
            if query.row_sink is not None
        }
        self._progress = _Progress(
            {q.name: tuple(s.name for s in query_stores(q)) for q in launch.plan.queries}, launch.on_batch
        )
        self._listener = _listening(spark, self._progress)
        self._queries: list[_Running] = []
        try:
            for query in launch.plan.queries:
                self._queries.append(self._start(query, launch, row_writers.get(query.name)))
        except BaseException:
            self.abandon()
            raise

    def _start(self, query: Query, launch: Launch, rows: JavaObject | None) -> _Running:
        tune_emission(self._spark, query)
        sink = query.row_sink
        if sink is not None:
            records = sink_rows(sink, shared(launch.read))
        else:
            records = sink_records(compile_query(query, launch.read, outlet_of(launch.sink)), launch.sink.queue)
        writer = (
            records.observe(OUTPUT_METRIC, F.count(F.lit(1)).alias("records"))
            .writeStream.queryName(query.name)
            .outputMode(output_mode(query))
            .option("checkpointLocation", f"{launch.checkpoints}/{query.name}")
        )
        batches = rows or batch_writer(self._spark, query.name, launch.sink)
        writer._jwrite.foreachBatch(batches)  # pyspark's own takes a function of Python's
        return _Running(writer.start(), batches, sink)

    def death(self) -> JavaErrors | LsqlError | None:
        """Why a query ended by itself: an exception and its causes, or a sink's error; None while all run."""
        for query in self._queries:
            if not query.streaming.isActive:
                errors = _last_errors(self._spark, query.streaming)
                of_sink = None if query.sink is None else sink_error(errors, query.sink, self._connections)
                return of_sink or errors
        return None

    def stop(self) -> None:
        """Let the batches under way end, then stop. Nothing that was written is left uncommitted."""
        deadline = time.monotonic() + _STOP_DEADLINE_S
        for query in self._queries:
            query.batches.stop()
        for query in self._queries:
            while query.streaming.isActive and time.monotonic() < deadline:
                if not query.batches.isWriting() and not query.streaming.status["isTriggerActive"]:
                    break
                time.sleep(0.01)
        self.abandon()

    def abandon(self) -> None:
        """Stop at once."""
        for query in self._queries:
            query.batches.stop()
            query.streaming.stop()
            for report in query.streaming._jsq.recentProgress():  # the listener's travel on a bus, and may be late
                self._progress.take(report)
        self._spark._jsparkSession.streams().removeListener(self._listener)


@dataclass(frozen=True, slots=True)
class _Running:
    """A query at work, what writes its batches in the JVM (a BatchWriter or SinkWriter), and the sink that it has."""

    streaming: StreamingQuery
    batches: JavaObject
    sink: WriteSink | None = None


def _last_errors(spark: SparkSession, query: StreamingQuery) -> JavaErrors:
    """The exception that a query ended with, and its causes."""
    failed = query._jsq.exception()
    if not failed.isDefined():
        return (JavaError(),)
    if LOG.isEnabledFor(logging.DEBUG):
        jvm = spark._jvm
        assert jvm is not None
        LOG.debug("the engine's own words: %s", jvm.org.apache.spark.util.Utils.exceptionString(failed.get()))
    return errors_of(failed.get())


def _listening(spark: SparkSession, progress: _Progress) -> JavaObject:
    """A listener that Spark has begun to tell of its batches."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    assert jvm is not None
    assert gateway is not None
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    listener = jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper(progress)
    spark._jsparkSession.streams().addListener(listener)
    return listener


class _Progress:
    """Turns Spark's reports of this plan's queries into events.

    A listener in Python's terms, whose names are Java's. pyspark's own asks for each part of a report by itself:
    hundreds of questions after every batch.
    """

    def __init__(self, stores: dict[str, tuple[str, ...]], on_batch: Callable[[BatchEnded], None]) -> None:
        self._stores = stores
        self._on_batch = on_batch
        self._seen: dict[str, int] = {}
        self._lock = Lock()

    def take(self, report: JavaObject) -> None:
        """Tell of a batch, once. Takes a StreamingQueryProgress."""
        progress = json.loads(report.json())
        ended = batch_ended(progress, self._stores.get(progress["name"], ()))
        if ended is None:
            return
        # Held during the callback: it may read the batch again, and stopping the plan must wait for that.
        with self._lock:
            if ended.batch_id > self._seen.get(ended.query, -1):
                self._seen[ended.query] = ended.batch_id
                self._on_batch(ended)

    def onQueryStarted(self, event: JavaObject) -> None:
        """Nothing to tell: a query has started when `start` returns."""

    def onQueryProgress(self, event: JavaObject) -> None:
        self.take(event.progress())

    def onQueryIdle(self, event: JavaObject) -> None:
        """Nothing to tell: no batch stands behind it."""

    def onQueryTerminated(self, event: JavaObject) -> None:
        """Nothing to tell: the runtime watches for the end of a query."""

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)
