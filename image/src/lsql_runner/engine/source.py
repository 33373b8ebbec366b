"""Topics as DataFrames: streams, and ranges of offsets."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from lsql_runner.compile.nodes import Reader
from lsql_runner.engine.port import SourceOptions, qualified_name
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.jvm.java_entries import TOPIC_SOURCE
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.plan.clocks import timed_inputs
from lsql_runner.plan.queries import Query

_TUNED = {
    "kafka.isolation.level": "read_committed",
    # Measured: more records in a poll and larger fetches had the largest effect.
    "kafka.max.poll.records": "5000",
    "kafka.max.partition.fetch.bytes": str(8 * 1024 * 1024),
    "kafka.fetch.max.bytes": str(16 * 1024 * 1024),
    # A consumer requests the next records before it returns those that it has. At the end of a partition the broker
    # holds this request, and the consumer's next one to this broker waits for it: with Kafka's default of 500 ms, half
    # a second for each micro-batch. There are no polls between batches.
    "kafka.fetch.max.wait.ms": "5",
}


def stream_reader(spark: SparkSession, options: SourceOptions, query: Query, name: str | None = None) -> Reader:
    """A reader of topics as streams, for one query, or for a query like it with another name."""
    name = name or query.name
    inputs = timed_inputs(query)

    def read(schema: TopicSchema) -> DataFrame:
        settings = _source_settings(schema.topic, options, name, _TUNED) | {
            "maxOffsetsPerTrigger": str(options.max_records_per_batch),
            "query": qualified_name(options.app_id, name),
            "pace.ms": str(options.pace_ms.get(name, 0)),
            "inputs": ",".join(each.name for each in inputs if schema.topic in each.streams),
            **({} if options.max_future_ms is None else {"max.future.ms": str(options.max_future_ms)}),
        }
        return spark.readStream.format(TOPIC_SOURCE).options(**settings).load()

    return read


def continuous_settings(topic: str, options: SourceOptions, query: str) -> dict[str, str]:
    """The options of TOPIC_SOURCE for a topic that a query reads without batches."""
    # Between records, a fetch waits at the broker as long as a poll waits for it.
    return _source_settings(topic, options, query, _TUNED | {"kafka.fetch.max.wait.ms": "1000"})


def _source_settings(topic: str, options: SourceOptions, query: str, tuned: Mapping[str, str]) -> dict[str, str]:
    consumer = {f"kafka.{key}": value for key, value in options.consumer}
    mark = options.marking
    return {
        **tuned,
        **({} if mark is None else {"mark": str(mark.file or _AT_DRIVER), "mark.offsets": str(mark.offsets)}),
        "kafka.fetch.max.bytes": str(options.fetch_bytes),
        **options.kafka.spark(),
        **consumer,
        "subscribe": topic,
        "topic.id": options.topic_ids.get(topic, ""),
        "startingOffsets": _starting_offsets(topic, options, query),
        "includeHeaders": "true",
        "failOnDataLoss": "false" if options.continue_on_data_loss else "true",
        "groupIdPrefix": f"{options.app_id}-reader",
    }


_AT_DRIVER = ""
"""Instead of the file for marks: tasks send the places to the driver."""

_EARLIEST, _LATEST = -2, -1


def _starting_offsets(topic: str, options: SourceOptions, query: str) -> str:
    """The value of `startingOffsets`. Spark needs an offset for every partition if it gets one for any."""
    of_query = options.start_offsets.get(query, {})
    starts = {p.partition: offset for p, offset in of_query.items() if p.topic == topic}
    if not starts:
        return options.reset
    reset = _LATEST if options.reset == "latest" else _EARLIEST
    count = max(options.partitions.get(topic, 0), max(starts) + 1)
    return json.dumps({topic: {str(number): starts.get(number, reset) for number in range(count)}})


def range_reader(
    spark: SparkSession,
    kafka: KafkaConnection,
    ranges: Mapping[Partition, tuple[int, int]],
    consumer: tuple[tuple[str, str], ...] = (),
) -> Reader:
    """A reader of the records in `[start, end)` of each partition; other partitions have no records."""
    return lambda schema: read_range(spark, kafka, schema.topic, ranges, consumer)


def read_range(
    spark: SparkSession,
    kafka: KafkaConnection,
    topic: str,
    ranges: Mapping[Partition, tuple[int, int]],
    consumer: tuple[tuple[str, str], ...] = (),
) -> DataFrame:
    """The records in `[start, end)` of each partition of a topic, with the columns of TOPIC_SOURCE."""
    offsets = {str(p.partition): bounds for p, bounds in ranges.items() if p.topic == topic}
    settings = _TUNED | kafka.spark() | {f"kafka.{key}": value for key, value in consumer}
    settings |= {"includeHeaders": "true", "failOnDataLoss": "false"}
    if not offsets:
        settings |= {"subscribe": topic, "startingOffsets": "earliest", "endingOffsets": "latest"}
        return spark.read.format(TOPIC_SOURCE).options(**settings).load().limit(0)
    settings |= {
        "assign": json.dumps({topic: [int(number) for number in offsets]}),
        "startingOffsets": json.dumps({topic: {number: start for number, (start, _) in offsets.items()}}),
        "endingOffsets": json.dumps({topic: {number: end for number, (_, end) in offsets.items()}}),
    }
    return spark.read.format(TOPIC_SOURCE).options(**settings).load()
