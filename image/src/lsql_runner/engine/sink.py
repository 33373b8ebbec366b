"""Batches to Kafka. One writer for all targets of a query: each row names its topic.

Every record carries its batch in a header, so that a later run can tell what a batch has already
written. The record's time travels in a second header, which our interceptor in the producer takes out
again and sets as the timestamp: Spark's own sink cannot.
"""

from __future__ import annotations

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lsql_runner.engine.attempts import room_of
from lsql_runner.engine.dead_letters import Outlet
from lsql_runner.engine.port import SinkOptions
from lsql_runner.engine.schema import HEADERS
from lsql_runner.engine.wire import long_be

BATCH_HEADER = "lsql.batch"
"""`<app id>/<query>/<batch id>`, UTF-8: BatchWriter in the JVM adds it."""
TIME_HEADER = "lsql.ts"
"""8 bytes, big-endian, milliseconds since 1970 UTC; never reaches the topic."""

_BATCH_BYTES = 131_072

_REQUEST = "max.request.size"
_REQUEST_BYTES = 1_048_576
"""Kafka's own default, before compression."""
_DEAD_LETTER_BYTES = 32 * 1024 * 1024
"""What is larger arrives without its value."""
_QUERY_BYTES = 40
"""The name of a query and the number of a batch, in the header that names them."""

_TUNED = {
    "kafka.linger.ms": "20",
    "kafka.compression.type": "lz4",
    "kafka.buffer.memory": str(64 * 1024 * 1024),
}
FIXED = {
    "kafka.enable.idempotence": "true",
    "kafka.acks": "all",
    "kafka.interceptor.classes": "com.lsqlrunner.kafka.RecordTimestampInterceptor",
}


def outlet_of(options: SinkOptions) -> Outlet:
    """What dead letters are made with."""
    sent = dict(options.producer)
    request = int(sent.get(_REQUEST, _REQUEST_BYTES))
    compression = sent.get("compression.type", _TUNED["kafka.compression.type"])
    header = len(f"{BATCH_HEADER}{options.app_id}") + _QUERY_BYTES
    rooms = {
        topic: room_of(
            limits.batch_bytes, _dead_letter_bytes(options) if topic == options.queue else request, header, compression
        )
        for topic, limits in options.limits.items()
    }
    compacted = frozenset(topic for topic, limits in options.limits.items() if limits.compacted)
    return Outlet(options.app_id, rooms, compacted)


def _dead_letter_bytes(options: SinkOptions) -> int:
    """The largest dead letter, before compression."""
    return max(_DEAD_LETTER_BYTES, int(dict(options.producer).get(_REQUEST, 0)))


def _largest_batch(options: SinkOptions) -> int | None:
    """The largest batch that every target accepts.

    The producer splits a batch that is larger into batches of its own batch size. Were that size too large as well, it
    would retry for minutes, and hold back the good records of the batch.
    """
    return min(
        (limits.batch_bytes for limits in options.limits.values() if limits.batch_bytes is not None), default=None
    )


def sink_records(frame: DataFrame, queue: str | None = None) -> DataFrame:
    """The columns of `compile_query` as those of Spark's Kafka sink: topic, key, value, headers.

    Args:
        frame: those columns.
        queue: the topic of dead letters, which keep every header that they have.
    """
    passed = F.filter("headers", lambda header: header["key"] != F.lit(BATCH_HEADER))
    if queue is not None:
        passed = F.when(F.col("topic") == F.lit(queue), F.col("headers")).otherwise(passed)
    return frame.select("topic", "key", "value", with_time(passed, F.col("ts")).alias("headers"))


def with_time(headers: Column, time_ms: Column) -> Column:
    """Headers, or null for none, with the one that becomes the record's timestamp."""
    time = F.struct(F.lit(TIME_HEADER).alias("key"), long_be(time_ms).alias("value"))
    return F.concat(F.coalesce(headers, F.array().cast(HEADERS)), F.array(time))


def batch_writer(spark: SparkSession, query: str, options: SinkOptions) -> JavaObject:
    """A com.lsqlrunner.kafka.BatchWriter for the batches of a query."""
    size = {"kafka.batch.size": str(min(_BATCH_BYTES, _largest_batch(options) or _BATCH_BYTES))}
    set_here = {f"kafka.{key}": value for key, value in options.producer}
    if options.queue is not None:
        # What is too large for a target is found before it is sent; a dead letter is as large as a source allows.
        set_here[f"kafka.{_REQUEST}"] = str(_dead_letter_bytes(options))
    settings = _TUNED | size | set_here | options.kafka.spark() | FIXED
    jvm = spark._jvm
    assert jvm is not None
    return jvm.com.lsqlrunner.kafka.BatchWriter(f"{options.app_id}/{query}", settings)
