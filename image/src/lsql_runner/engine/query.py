"""A running plan: its streaming queries, the events of their batches, and an orderly stop."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lsql_runner.engine.call import java_class
from lsql_runner.engine.compile import compile_query, shared
from lsql_runner.engine.emission import output_mode, tune_emission
from lsql_runner.engine.java_errors import errors_of
from lsql_runner.engine.nodes import Reader
from lsql_runner.engine.port import OutputOptions, Sinks, qualified_name
from lsql_runner.engine.progress import OUTPUT_METRIC, batch_ended
from lsql_runner.engine.run_all import run_all
from lsql_runner.engine.sink_failures import sink_error
from lsql_runner.engine.sink_rows import sink_rows
from lsql_runner.engine.sink_writer import sink_writer
from lsql_runner.engine.topic_writer import output_context, writer_options
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded
from lsql_runner.jvm.java_entries import BATCH_TRIGGER, TOPIC_OUTPUT, TOPIC_SINK
from lsql_runner.jvm.java_error import JavaError, JavaErrors
from lsql_runner.plan.queries import Plan, Query, WriteSink
from lsql_runner.plan.stores import query_stores

LOG = logging.getLogger(__name__)

_STOP_DEADLINE_S = 30.0


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """A plan, and everything that it needs to run."""

    plan: Plan
    read: Callable[[str], Reader]
    """Returns the reader of the topics of a query, by its name."""
    output: OutputOptions
    checkpoints: Path | str
    """The folder of the checkpoints: that of a query is `<checkpoints>/<query>/`."""
    on_batch: Callable[[BatchEnded], None]
    sinks: Sinks = Sinks()


class RunningPlan:
    """The queries of a plan. They are started and stopped together.

    Raises:
        LsqlError: as `sink_writer`; then no query runs.
    """

    def __init__(self, spark: SparkSession, options: PlanOptions) -> None:
        self._spark = spark
        self._connections = options.sinks.connections
        # All targets are checked before the first batch is written to any of them.
        sink_writers = {
            query.name: sink_writer(spark, options.output.app_id, query.name, query.sink_write, options.sinks)
            for query in options.plan.queries
            if query.sink_write is not None
        }
        self._progress = _Progress(
            {q.name: tuple(s.name for s in query_stores(q)) for q in options.plan.queries}, options.on_batch
        )
        self._listener = _add_listener(spark, self._progress)
        self._queries: list[_Running] = []
        try:
            for query in options.plan.queries:
                tune_emission(spark, query)
                write = query.sink_write
                self._queries.append(
                    _start_for_topics(query, options)
                    if write is None
                    else _start_for_sink(query, write, sink_writers[query.name], options)
                )
        except BaseException:
            with suppress(Exception):  # the cause is reported, not what follows from it
                self._stop_at_once()
            raise

    def death(self) -> JavaErrors | LsqlError | None:
        """Why a query ended without a stop: an exception and its causes, or a sink's error; None if all queries run."""
        for query in self._queries:
            if not query.streaming.isActive:
                errors = _last_errors(self._spark, query.streaming)
                of_sink = None if query.sink_write is None else sink_error(errors, query.sink_write, self._connections)
                return of_sink or errors
        return None

    def stop(self) -> None:
        """Let running batches end, so that written records are committed, then stop.

        An error does not keep the other queries from being stopped; the first one is raised at the end.
        """
        deadline = time.monotonic() + _STOP_DEADLINE_S
        trigger = java_class(BATCH_TRIGGER)
        run_all(
            [
                *(query.output.stop for query in self._queries),
                *(partial(trigger.stop, query.name) for query in self._queries),
                *(partial(query.await_batch, deadline) for query in self._queries),
                self._stop_at_once,
            ]
        )

    def _stop_at_once(self) -> None:
        streams = self._spark._jsparkSession.streams()
        run_all(
            [
                *(partial(self._stop_query, query) for query in self._queries),
                partial(streams.removeListener, self._listener),
            ]
        )

    def _stop_query(self, query: _Running) -> None:
        run_all([query.output.stop, query.streaming.stop, partial(self._take_reports, query), query.close_producer])

    def _take_reports(self, query: _Running) -> None:
        # The listener's reports come through Spark's asynchronous event bus: the last ones may be missing.
        run_all(partial(self._progress.take, report) for report in query.streaming._jsq.recentProgress())


@dataclass(frozen=True, slots=True)
class _Running:
    """A running query."""

    name: str
    """Its qualified name."""
    streaming: StreamingQuery
    output: JavaObject
    """A TOPIC_OUTPUT or SINK_WRITER, which writes its batches."""
    sink_write: WriteSink | None = None
    """The INSERT into a sink that it runs; None for topics."""

    def await_batch(self, deadline_s: float) -> None:
        """Wait until no batch is running or being written, but not longer than until a time of the monotonic clock."""
        while self.streaming.isActive and time.monotonic() < deadline_s:
            if not self.output.isWriting() and not self.streaming.status["isTriggerActive"]:
                break
            time.sleep(0.01)

    def close_producer(self) -> None:
        """Close the producer, after the query has ended. The connections to sinks stay open for the next start."""
        if self.sink_write is None:
            self.output.close()


def _start_for_topics(query: Query, options: PlanOptions) -> _Running:
    records = compile_query(query, options.read(query.name), output_context(options.output))
    name = qualified_name(options.output.app_id, query.name)
    output = java_class(TOPIC_OUTPUT).open(name)
    writer = _stream_writer(records, query, options).format(TOPIC_SINK)
    return _Running(name, writer.options(**writer_options(query.name, options.output)).start(), output)


def _start_for_sink(query: Query, write: WriteSink, output: JavaObject, options: PlanOptions) -> _Running:
    writer = _stream_writer(sink_rows(write, shared(options.read(query.name))), query, options)
    writer._jwrite.foreachBatch(output)  # pyspark's `foreachBatch` takes a Python function
    return _Running(qualified_name(options.output.app_id, query.name), writer.start(), output, write)


def _stream_writer(records: DataFrame, query: Query, options: PlanOptions) -> DataStreamWriter:
    """The writer of a query's records or rows, without a target."""
    return (
        records.observe(OUTPUT_METRIC, F.count(F.lit(1)).alias("records"))
        .writeStream.queryName(query.name)
        .outputMode(output_mode(query))
        .option("checkpointLocation", f"{options.checkpoints}/{query.name}")
    )


def _last_errors(spark: SparkSession, query: StreamingQuery) -> JavaErrors:
    """The exception that a query ended with, and its causes."""
    failed = query._jsq.exception()
    if not failed.isDefined():
        return (JavaError(),)
    if LOG.isEnabledFor(logging.DEBUG):
        jvm = spark._jvm
        assert jvm is not None
        LOG.debug("the query failed with: %s", jvm.org.apache.spark.util.Utils.exceptionString(failed.get()))
    return errors_of(failed.get())


def _add_listener(spark: SparkSession, progress: _Progress) -> JavaObject:
    """Register a listener of Spark's streaming queries; the Java object."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    assert jvm is not None
    assert gateway is not None
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    listener = jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper(progress)
    spark._jsparkSession.streams().addListener(listener)
    return listener


class _Progress:
    """Turns Spark's progress reports of this plan's queries into events.

    A Python implementation of a Java interface. pyspark's listener is not used: it makes hundreds of py4j calls for
    each report.
    """

    def __init__(self, stores: dict[str, tuple[str, ...]], on_batch: Callable[[BatchEnded], None]) -> None:
        self._stores = stores
        self._on_batch = on_batch
        self._seen: dict[str, int] = {}
        self._lock = Lock()

    def take(self, report: JavaObject) -> None:
        """Emit the event of a batch, unless it was emitted before. Takes a StreamingQueryProgress."""
        progress = json.loads(report.json())
        ended = batch_ended(progress, self._stores.get(progress["name"], ()))
        if ended is None:
            return
        # The lock is held during the callback, which may read the batch again: a stop waits for it.
        with self._lock:
            if ended.batch_id > self._seen.get(ended.query, -1):
                self._seen[ended.query] = ended.batch_id
                self._on_batch(ended)

    def onQueryStarted(self, event: JavaObject) -> None:
        """No event: a query has started when `start` returns."""

    def onQueryProgress(self, event: JavaObject) -> None:
        self.take(event.progress())

    def onQueryIdle(self, event: JavaObject) -> None:
        """No event: there is no batch."""

    def onQueryTerminated(self, event: JavaObject) -> None:
        """No event: the runtime calls `death`."""

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)
