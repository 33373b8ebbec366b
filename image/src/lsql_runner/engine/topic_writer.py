"""Writes batches to topics. One writer serves all targets of a query: each row names its topic.

Every record has a header with its batch, so that a later run can find the records that a batch has already written.
A second header has the record's timestamp, which Spark's sink cannot set. Our interceptor in the producer removes the
header and sets the timestamp.
"""

from __future__ import annotations

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lsql_runner.engine.attempts import size_limits
from lsql_runner.engine.call import java_class
from lsql_runner.engine.codecs.wire import long_be
from lsql_runner.engine.dead_letters import OutputContext
from lsql_runner.engine.port import OutputOptions
from lsql_runner.engine.schema import HEADERS
from lsql_runner.jvm.java_entries import BATCH_WRITER, TIMESTAMP_INTERCEPTOR

BATCH_HEADER = "lsql.batch"
"""`<app id>/<query>/<batch id>`, UTF-8. BatchWriter in the JVM adds it."""
TIME_HEADER = "lsql.ts"
"""8 bytes, big-endian: milliseconds since 1970 UTC. It is never written to the topic."""

_BATCH_BYTES = 131_072

_REQUEST = "max.request.size"
_REQUEST_BYTES = 1_048_576
"""Kafka's default, before compression."""
_DEAD_LETTER_BYTES = 32 * 1024 * 1024
"""A larger dead letter is written without its value."""
_QUERY_BYTES = 40
"""The most bytes of a query's name and a batch id in BATCH_HEADER."""

_TUNED = {
    "kafka.linger.ms": "20",
    "kafka.compression.type": "lz4",
    "kafka.buffer.memory": str(64 * 1024 * 1024),
}
FIXED = {
    "kafka.enable.idempotence": "true",
    "kafka.acks": "all",
    "kafka.interceptor.classes": TIMESTAMP_INTERCEPTOR,
}


def output_context(options: OutputOptions) -> OutputContext:
    """The properties of the processor and its targets, from the options of its output."""
    producer = dict(options.producer)
    request_bytes = int(producer.get(_REQUEST, _REQUEST_BYTES))
    compression = producer.get("compression.type", _TUNED["kafka.compression.type"])
    header_bytes = len(f"{BATCH_HEADER}{options.app_id}") + _QUERY_BYTES
    sizes = {
        topic: size_limits(
            batch_bytes=limits.batch_bytes,
            request_bytes=_dead_letter_bytes(options) if topic == options.dead_letter_topic else request_bytes,
            header_bytes=header_bytes,
            compression=compression,
        )
        for topic, limits in options.limits.items()
    }
    compacted = frozenset(topic for topic, limits in options.limits.items() if limits.compacted)
    return OutputContext(options.app_id, sizes, compacted)


def _dead_letter_bytes(options: OutputOptions) -> int:
    """The maximum size of a dead letter, before compression."""
    return max(_DEAD_LETTER_BYTES, int(dict(options.producer).get(_REQUEST, 0)))


def _largest_batch(options: OutputOptions) -> int | None:
    """The size of a batch that every target accepts; None if no target reports a limit.

    The producer splits a batch that a topic refuses into batches of `batch.size`. If these were too large as well, it
    would retry for minutes and delay the valid records.
    """
    return min(
        (limits.batch_bytes for limits in options.limits.values() if limits.batch_bytes is not None), default=None
    )


def kafka_records(frame: DataFrame, dead_letter_topic: str | None = None) -> DataFrame:
    """The records for Spark's Kafka sink: columns topic, key, value, headers.

    Args:
        frame: a result of `compile_query`.
        dead_letter_topic: its records keep all headers of the record.
    """
    headers = F.filter("headers", lambda header: header["key"] != F.lit(BATCH_HEADER))
    if dead_letter_topic is not None:
        headers = F.when(F.col("topic") == F.lit(dead_letter_topic), F.col("headers")).otherwise(headers)
    return frame.select("topic", "key", "value", with_time(headers, F.col("ts")).alias("headers"))


def with_time(headers: Column, time_ms: Column) -> Column:
    """The headers, which may be null, with TIME_HEADER."""
    time = F.struct(F.lit(TIME_HEADER).alias("key"), long_be(time_ms).alias("value"))
    return F.concat(F.coalesce(headers, F.array().cast(HEADERS)), F.array(time))


def topic_writer(spark: SparkSession, query: str, options: OutputOptions) -> JavaObject:
    """A Java BATCH_WRITER for the batches of a query."""
    size = {"kafka.batch.size": str(min(_BATCH_BYTES, _largest_batch(options) or _BATCH_BYTES))}
    producer = {f"kafka.{key}": value for key, value in options.producer}
    if options.dead_letter_topic is not None:
        # `limit_size` checks the records of other targets. A dead letter may be as large as a record of a source.
        producer[f"kafka.{_REQUEST}"] = str(_dead_letter_bytes(options))
    settings = _TUNED | size | producer | options.kafka.spark() | FIXED
    return java_class(BATCH_WRITER)(f"{options.app_id}/{query}", settings)
