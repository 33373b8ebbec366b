"""Topics as DataFrames: as streams, as ranges of offsets, and as rows in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from lsql_runner.engine.compile import Reader
from lsql_runner.engine.port import SourceOptions
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.kafka.client import KafkaConnection

_TUNED = {
    # Measured: more records for each poll and larger fetches are what helped most.
    "kafka.max.poll.records": "5000",
    "kafka.max.partition.fetch.bytes": str(8 * 1024 * 1024),
    "kafka.fetch.max.bytes": str(64 * 1024 * 1024),
    # After each poll Spark's reader asks for the partition's bounds, on the connection on which the consumer has
    # already sent its next fetch: at the end of a partition the brokers hold that for so long, and the question behind
    # it. With Kafka's default of 500 ms that was half a second for each micro-batch. Nobody polls between batches.
    "kafka.fetch.max.wait.ms": "5",
}


def stream_reader(spark: SparkSession, options: SourceOptions) -> Reader:
    """Topics as endless streams."""

    def read(schema: TopicSchema) -> DataFrame:
        settings = _TUNED | options.kafka.spark() | {f"kafka.{key}": value for key, value in options.consumer}
        settings |= {
            "subscribe": schema.topic,
            "startingOffsets": _starting_offsets(schema.topic, options),
            "includeHeaders": "true",
            "failOnDataLoss": "false" if options.continue_on_data_loss else "true",
            "maxOffsetsPerTrigger": str(options.max_records_per_batch),
            "groupIdPrefix": f"{options.app_id}-reader",
        }
        return spark.readStream.format("kafka").options(**settings).load()

    return read


_EARLIEST, _LATEST = -2, -1


def _starting_offsets(topic: str, options: SourceOptions) -> str:
    """Spark wants every partition named as soon as one is."""
    known = {p.partition: offset for p, offset in options.starts.items() if p.topic == topic}
    if not known:
        return options.reset
    fallback = _LATEST if options.reset == "latest" else _EARLIEST
    count = max(options.partitions.get(topic, 0), max(known) + 1)
    return json.dumps({topic: {str(number): known.get(number, fallback) for number in range(count)}})


def range_reader(
    spark: SparkSession,
    kafka: KafkaConnection,
    ranges: Mapping[Partition, tuple[int, int]],
    consumer: tuple[tuple[str, str], ...] = (),
) -> Reader:
    """Topics as batches of the records in `[start, end)` of each partition; other partitions give none."""
    return lambda schema: read_range(spark, kafka, schema.topic, ranges, consumer)


def read_range(
    spark: SparkSession,
    kafka: KafkaConnection,
    topic: str,
    ranges: Mapping[Partition, tuple[int, int]],
    consumer: tuple[tuple[str, str], ...] = (),
) -> DataFrame:
    """The records in `[start, end)` of each partition of a topic, as Spark's Kafka source has them."""
    mine = {str(p.partition): span for p, span in ranges.items() if p.topic == topic}
    settings = _TUNED | kafka.spark() | {f"kafka.{key}": value for key, value in consumer}
    settings |= {"includeHeaders": "true", "failOnDataLoss": "false"}
    if not mine:
        settings |= {"subscribe": topic, "startingOffsets": "earliest", "endingOffsets": "latest"}
        return spark.read.format("kafka").options(**settings).load().limit(0)
    settings |= {
        "assign": json.dumps({topic: [int(number) for number in mine]}),
        "startingOffsets": json.dumps({topic: {number: start for number, (start, _) in mine.items()}}),
        "endingOffsets": json.dumps({topic: {number: end for number, (_, end) in mine.items()}}),
    }
    return spark.read.format("kafka").options(**settings).load()
