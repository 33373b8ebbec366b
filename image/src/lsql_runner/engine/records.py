"""Writes and reads records of topics as a running plan does, so that all settings of a connection apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lsql_runner.engine.broker_errors import broker_error
from lsql_runner.engine.rows import Rows, TopicRecord, as_bytes, headers_of
from lsql_runner.engine.source import read_range
from lsql_runner.engine.topic_writer import FIXED
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.java_entries import TOPIC_SINK
from lsql_runner.kafka.connection import KafkaConnection

_SHORT_TIMEOUTS = {
    "kafka.max.block.ms": "30000",
    "kafka.request.timeout.ms": "10000",
    "kafka.delivery.timeout.ms": "30000",
}


def write_records(spark: SparkSession, kafka: KafkaConnection, records: Sequence[TopicRecord]) -> None:
    """Write records to their partitions, in their order and with their timestamps. Returns when all are acknowledged.

    Raises:
        LsqlError: BROKER_REFUSED, QUERY_FAILED.
    """
    # Several tasks would write at the same time, and not keep the order.
    rows = Rows(spark).frame(records).coalesce(1)
    columns = rows.select("topic", "partition", "key", "value", F.col("timestamp").alias("ts"), "headers")
    options = {**_SHORT_TIMEOUTS, **kafka.spark(), **FIXED, "output": f"records/{uuid4()}"}
    try:
        columns.write.format(TOPIC_SINK).options(**options).mode("append").save()
    except (PySparkException, Py4JError) as error:
        raise broker_error(kafka, error) from None


def read_records(
    spark: SparkSession, kafka: KafkaConnection, topic: str, ranges: Mapping[Partition, tuple[int, int]]
) -> list[TopicRecord]:
    """The records in `[start, end)` of each partition of a topic, by partition and offset.

    Raises:
        LsqlError: BROKER_REFUSED, QUERY_FAILED.
    """
    frame = read_range(spark, kafka, topic, ranges)
    columns = ("topic", "key", "value", "partition", "offset", "headers")
    try:
        rows = frame.select(*columns, F.col("timestamp").alias("ts")).collect()
    except (PySparkException, Py4JError) as error:
        raise broker_error(kafka, error) from None
    records = [
        TopicRecord(
            topic=row["topic"],
            key=as_bytes(row["key"]),
            value=as_bytes(row["value"]),
            timestamp_ms=row["ts"],
            partition=row["partition"],
            offset=row["offset"],
            headers=headers_of(row),
        )
        for row in rows
    ]
    return sorted(records, key=lambda record: (record.partition, record.offset))
