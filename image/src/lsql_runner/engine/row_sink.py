"""Batches to sinks: the writer in the JVM, and what it says before anything runs."""

from __future__ import annotations

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from lsql_runner.engine.port import RowSinks
from lsql_runner.engine.sink_failures import sink_error
from lsql_runner.engine.sink_rows import row_columns
from lsql_runner.plan.queries import WriteSink


def row_writer(spark: SparkSession, app_id: str, query: str, sink: WriteSink, sinks: RowSinks) -> JavaObject:
    """A com.lsqlrunner.sink.SinkWriter for the batches of a query, whose target is there and takes its rows.

    Raises:
        LsqlError: SINK_UNREACHABLE, SINK_REFUSED, SINK_TABLE_MISMATCH, QUERY_FAILED.
    """
    jvm = spark._jvm
    assert jvm is not None
    target, connection = sink.target, sinks.connections[sink.target.sink]
    names, types = row_columns(sink)
    table = jvm.com.lsqlrunner.sink.SinkWriter.table(
        target.table,
        names,
        types,
        list(target.key),
        target.mode == "upsert",
        target.creates,
        target.batch_rows,
        target.store,
    )
    settings = {
        "url": connection.url,
        "user": connection.user,
        "password": connection.password,
        "client": f"lsql {app_id}",
    }
    writer = jvm.com.lsqlrunner.sink.SinkWriter(f"{app_id}/{query}", connection.kind, str(sinks.jars), settings, table)
    try:
        writer.prepare()
    except Py4JJavaError as error:
        said = sink_error(str(error), sink, sinks.connections)
        raise said or error from None
    return writer
