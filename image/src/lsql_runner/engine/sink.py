"""Batches to Kafka. One writer for all targets of a query: each row names its topic.

Every record carries its batch in a header, so that a later run can tell what a batch has already
written. The record's time travels in a second header, which our interceptor in the producer takes out
again and sets as the timestamp: Spark's own sink cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lsql_runner.engine.schema import HEADERS
from lsql_runner.engine.wire import long_be
from lsql_runner.kafka.client import KafkaConnection

BATCH_HEADER = "lsql.batch"
"""`<app id>/<query>/<batch id>`, UTF-8: BatchWriter in the JVM adds it."""
TIME_HEADER = "lsql.ts"
"""8 bytes, big-endian, milliseconds since 1970 UTC; never reaches the topic."""

_BATCH_BYTES = 131_072

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


@dataclass(frozen=True, slots=True)
class SinkOptions:
    kafka: KafkaConnection
    app_id: str
    producer: tuple[tuple[str, str], ...] = ()
    largest_batch: int | None = None
    """Bytes that every target takes at once. A batch that is larger is split by the producer into batches of its own
    size: were that size too large as well, it would try for minutes, with the good records beside the bad."""


def sink_records(frame: DataFrame) -> DataFrame:
    """The columns of `compile_query` as those of Spark's Kafka sink: topic, key, value, headers."""
    passed = F.filter("headers", lambda header: header["key"] != F.lit(BATCH_HEADER))
    return frame.select("topic", "key", "value", with_time(passed, F.col("ts")).alias("headers"))


def with_time(headers: Column, time_ms: Column) -> Column:
    """Headers, or null for none, with the one that becomes the record's timestamp."""
    time = F.struct(F.lit(TIME_HEADER).alias("key"), long_be(time_ms).alias("value"))
    return F.concat(F.coalesce(headers, F.array().cast(HEADERS)), F.array(time))


def batch_writer(spark: SparkSession, query: str, options: SinkOptions) -> JavaObject:
    """A com.lsqlrunner.kafka.BatchWriter for the batches of a query."""
    size = {"kafka.batch.size": str(min(_BATCH_BYTES, options.largest_batch or _BATCH_BYTES))}
    settings = (
        _TUNED | size | {f"kafka.{key}": value for key, value in options.producer} | options.kafka.spark() | FIXED
    )
    jvm = spark._jvm
    assert jvm is not None
    return jvm.com.lsqlrunner.kafka.BatchWriter(f"{options.app_id}/{query}", settings)
