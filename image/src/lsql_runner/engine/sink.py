"""Batches to Kafka. One writer for all targets of a query: each row names its topic.

Every record carries its batch in a header, so that a later run can tell what a batch has already
written. The record's time travels in a second header, which our interceptor in the producer takes out
again and sets as the timestamp: Spark's own sink cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lsql_runner.engine.attempts import room_of
from lsql_runner.engine.codecs.wire import long_be
from lsql_runner.engine.dead_letters import Outlet
from lsql_runner.engine.schema import HEADERS
from lsql_runner.kafka.brokers import TopicLimits
from lsql_runner.kafka.client import KafkaConnection

BATCH_HEADER = "lsql.batch"
"""`<app id>/<query>/<batch id>`, UTF-8: BatchWriter in the JVM adds it."""
TIME_HEADER = "lsql.ts"
"""8 bytes, big-endian, milliseconds since 1970 UTC; never reaches the topic."""

_BATCH_BYTES = 131_072

_REQUEST = "max.request.size"
_REQUEST_BYTES = 1_048_576
"""Kafka's own default, before compression."""
_LETTER_BYTES = 32 * 1024 * 1024
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


@dataclass(frozen=True, slots=True)
class SinkOptions:
    kafka: KafkaConnection
    app_id: str
    producer: tuple[tuple[str, str], ...] = ()
    queue: str | None = None
    """The topic of dead letters."""
    takes: Mapping[str, TopicLimits] = field(default_factory=dict)
    """What the targets take, where the brokers tell."""

    @property
    def largest_batch(self) -> int | None:
        """What every target takes at once. A batch that is larger is split by the producer into batches of its own
        size: were that size too large as well, it would try for minutes, with the good records beside the bad."""
        return min((takes.batch_bytes for takes in self.takes.values() if takes.batch_bytes is not None), default=None)

    @property
    def outlet(self) -> Outlet:
        """What dead letters are made with."""
        sent = dict(self.producer)
        request = int(sent.get(_REQUEST, _REQUEST_BYTES))
        compression = sent.get("compression.type", _TUNED["kafka.compression.type"])
        header = len(f"{BATCH_HEADER}{self.app_id}") + _QUERY_BYTES
        rooms = {
            topic: room_of(
                takes.batch_bytes, self.letter_bytes if topic == self.queue else request, header, compression
            )
            for topic, takes in self.takes.items()
        }
        return Outlet(self.app_id, rooms, frozenset(topic for topic, takes in self.takes.items() if takes.compacted))

    @property
    def letter_bytes(self) -> int:
        """The largest dead letter, before compression."""
        return max(_LETTER_BYTES, int(dict(self.producer).get(_REQUEST, 0)))


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
    size = {"kafka.batch.size": str(min(_BATCH_BYTES, options.largest_batch or _BATCH_BYTES))}
    set_here = {f"kafka.{key}": value for key, value in options.producer}
    if options.queue is not None:
        # What is too large for a target is found before it is sent; a dead letter is as large as a source allows.
        set_here[f"kafka.{_REQUEST}"] = str(options.letter_bytes)
    settings = _TUNED | size | set_here | options.kafka.spark() | FIXED
    jvm = spark._jvm
    assert jvm is not None
    return jvm.com.lsqlrunner.kafka.BatchWriter(f"{options.app_id}/{query}", settings)
