"""Queries of Spark that process batches, and the events of their batches."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lsql_runner.compile.metric_names import OUTPUT_METRIC
from lsql_runner.compile.queries import compile_query, share_frames
from lsql_runner.compile.sink_rows import sink_rows
from lsql_runner.engine.emission import output_mode, tune_emission
from lsql_runner.engine.port import Job, Sinks, qualified_name
from lsql_runner.engine.progress import OpenBatch, batch_ended
from lsql_runner.engine.retention import tune_retention
from lsql_runner.engine.run_all import run_all
from lsql_runner.engine.sink_failures import sink_error
from lsql_runner.engine.source import stream_reader
from lsql_runner.engine.topic_output import open_output
from lsql_runner.engine.topic_writer import output_context, writer_options
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import BATCH_LISTENER, BATCH_TRIGGER, ERROR_CHAIN, TOPIC_SINK
from lsql_runner.jvm.java_error import JavaError, JavaErrors
from lsql_runner.jvm.java_errors import errors_of
from lsql_runner.plan.queries import Query, WriteSink
from lsql_runner.plan.stores import query_stores
from lsql_runner.state.offset_log import run_id

LOG = logging.getLogger(__name__)

_POLL_S = 0.01


def start_for_topics(spark: SparkSession, query: Query, job: Job, reports: BatchReports) -> MicroBatchQuery:
    """Start a query that writes to topics."""
    tune_emission(spark, query, rebuilds=query.name in job.source.rebuilds)
    tune_retention(spark, query, job)
    run = run_id(job.checkpoints / query.name)
    context = replace(output_context(job.output), run=run)
    records = compile_query(query, stream_reader(spark, job.source, query), context)
    name = qualified_name(job.output.app_id, query.name)
    options = writer_options(query.name, job.output, run) | {
        "one.result": str(query.has_one_result).lower(),
        "deletes.rows": str(query.deletes_rows).lower(),
    }
    output = open_output(query, job, options, spark.sparkContext.defaultParallelism)
    try:
        streaming = _stream_writer(records, query, job).format(TOPIC_SINK).options(**options).start()
    except BaseException:
        output.close()
        raise
    return MicroBatchQuery(spark=spark, name=name, streaming=streaming, output=output, reports=reports)


def start_for_sink(
    spark: SparkSession, query: Query, write: WriteSink, output: JavaObject, job: Job, reports: BatchReports
) -> MicroBatchQuery:
    """Start a query that writes to a sink. `output` is its SINK_WRITER."""
    tune_emission(spark, query, rebuilds=query.name in job.source.rebuilds)
    tune_retention(spark, query, job)
    run = run_id(job.checkpoints / query.name)
    rows = sink_rows(write, share_frames(stream_reader(spark, job.source, query)), run)
    writer = _stream_writer(rows, query, job)
    writer._jwrite.foreachBatch(output)  # pyspark's `foreachBatch` takes a Python function
    name = qualified_name(job.output.app_id, query.name)
    return MicroBatchQuery(
        spark=spark,
        name=name,
        streaming=writer.start(),
        output=output,
        reports=reports,
        sink_write=write,
        sinks=job.sinks,
    )


def _stream_writer(records: DataFrame, query: Query, job: Job) -> DataStreamWriter:
    """The writer of a query's records or rows, without a target."""
    return (
        records.observe(OUTPUT_METRIC, F.count(F.lit(1)).alias("records"))
        .writeStream.queryName(query.name)
        .outputMode(output_mode(query))
        .option("checkpointLocation", f"{job.checkpoints}/{query.name}")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatchQuery:
    """A running streaming query of Spark. See `running_query.RunningQuery` for the methods."""

    spark: SparkSession
    name: str
    """Its qualified name."""
    streaming: StreamingQuery
    output: JavaObject
    """A TOPIC_OUTPUT or SINK_WRITER, which writes its batches."""
    reports: BatchReports
    sink_write: WriteSink | None = None
    """The INSERT into a sink that it runs; None for topics."""
    sinks: Sinks = Sinks()

    def death(self) -> JavaErrors | LsqlError | None:
        if self.streaming.isActive:
            return None
        errors = _last_errors(self.streaming)
        of_sink = None if self.sink_write is None else sink_error(errors, self.sink_write, self.sinks.connections)
        return of_sink or errors

    def is_replaced(self) -> bool:
        return self.sink_write is None and bool(self.output.isReplaced())

    def transaction_limit_ms(self) -> int:
        return 0 if self.sink_write is not None else int(self.output.transactionLimitMs())

    def request_stop(self, *, drain: bool) -> None:
        if not drain:
            self.output.stop()
        java_class(BATCH_TRIGGER).stop(self.name)

    def wait_for_stop(self, deadline_s: float) -> None:
        while self.streaming.isActive and time.monotonic() < deadline_s:
            if not self.output.isWriting() and not self.streaming.status["isTriggerActive"]:
                break
            time.sleep(_POLL_S)

    def stop(self) -> None:
        run_all([self.output.stop, self.streaming.stop, self._take_reports, self._close_producer])

    def _take_reports(self) -> None:
        # The listener's reports come through Spark's asynchronous event bus: the last ones may be missing.
        run_all(partial(self.reports.accept, report.json()) for report in self.streaming._jsq.recentProgress())

    def _close_producer(self) -> None:
        if self.sink_write is None:  # the connections to sinks stay open for the next start
            self.output.close()


def _last_errors(query: StreamingQuery) -> JavaErrors:
    """The exception that a query ended with, and its causes."""
    failed = query._jsq.exception()
    if not failed.isDefined():
        return (JavaError(),)
    if LOG.isEnabledFor(logging.DEBUG):
        LOG.debug("the query failed with: %s", java_class(ERROR_CHAIN).stackTrace(failed.get()))
    return errors_of(failed.get())


class BatchReports:
    """Turns Spark's reports of the batches of a job into events.

    It is a Python implementation of a Java interface, which BATCH_LISTENER calls. pyspark's listener is not used: it
    makes hundreds of py4j calls for each report.
    """

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._stores = {query.name: tuple(store.name for store in query_stores(query)) for query in job.plan.queries}
        self._on_batch: Callable[[BatchEnded], None] = job.on_batch
        self._on_processed = job.on_processed
        self.ended: dict[str, int] = {}
        """By name of the query: the id of the last batch that has ended."""
        self._open: dict[tuple[str, int], OpenBatch] = {}
        """By name of the query and id of the batch: Spark reports the end of a batch when the next one may be open."""
        self._lock = Lock()
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
        self._streams = spark._jsparkSession.streams()
        self._listener = java_class(BATCH_LISTENER)(self)
        self._streams.addListener(self._listener)

    def close(self) -> None:
        """Take no more reports."""
        self._streams.removeListener(self._listener)
        # The listener in the JVM refers to this object. Neither side could release the other one.
        del self._listener

    def accept(self, report: str) -> None:
        """Emit the event of a batch, unless it was emitted before. Takes the JSON of a StreamingQueryProgress, or the
        report of an open batch.

        The JVM calls it after each batch, and each second while a batch is open.
        """
        progress = json.loads(report)
        name = progress["name"]
        if "openBatch" in progress:
            batch = (name, int(progress["openBatch"]))
            with self._lock:
                if batch[1] > self.ended.get(name, -1):
                    before = self._open.get(batch, OpenBatch())
                    self._open[batch], processed = before.after(progress, round(time.time() * 1000))
                    self._on_processed(processed)
            return
        ended = batch_ended(progress, self._stores.get(name, ()))
        if ended is None:
            return
        # The lock is held during the callback, which may read the batch again: a stop waits for it.
        with self._lock:
            if ended.batch_id > self.ended.get(ended.query, -1):
                self.ended[ended.query] = ended.batch_id
                self._on_batch(self._open.pop((name, ended.batch_id), OpenBatch()).without(ended))

    class Java:
        implements = ("java.util.function.Consumer",)
