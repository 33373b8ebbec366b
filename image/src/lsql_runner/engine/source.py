"""Topics as DataFrames: streams, and ranges of offsets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from lsql_runner.compile.nodes import Reader
from lsql_runner.engine.port import SourceOptions, qualified_name
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.jvm.java_entries import TOPIC_SOURCE
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.plan.clocks import TimedInput, clock_of, timed_inputs
from lsql_runner.plan.queries import Query
from lsql_runner.plan.rebuild import table_topics
from lsql_runner.plan.stores import reads_state
from lsql_runner.state.offset_log import by_topic

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


_OPEN_MS = 30_000
"""How long a query in real time processes records before it saves its state. After a kill, it reads them again."""


_UNMATCHED_MS = 10_000
"""How much event time passes until a query in real time writes records that no later one can match: each time costs two
batches."""


def stream_reader(spark: SparkSession, options: SourceOptions, query: Query, name: str | None = None) -> Reader:
    """A reader of topics as streams, for one query, or for a query like it with another name."""
    name = name or query.name
    timed = timed_inputs(query)

    def read(schema: TopicSchema) -> DataFrame:
        inputs = [each for each in timed if schema.topic in each.streams]
        settings = _source_settings(schema.topic, options, name, _TUNED) | {
            "maxOffsetsPerTrigger": str(options.max_records_per_batch),
            "query": qualified_name(options.app_id, name),
            **({"open.ms": str(_OPEN_MS)} if query.real_time else {}),
            "state.read": str(options.reads_state and reads_state(query)).lower(),
            "open.in.order": str(query.is_lookup).lower(),
            "open.first": str(schema.topic in query.table_topics).lower(),
            **_final(query),
            **_rebuild(query, name, schema.topic, options, inputs),
            "pace.ms": str(options.pace_ms.get(name, 0)),
            "inputs": ",".join(each.name for each in inputs),
            **({} if options.max_future_ms is None else {"max.future.ms": str(options.max_future_ms)}),
        }
        return spark.readStream.format(TOPIC_SOURCE).options(**settings).load()

    return read


def _final(query: Query) -> dict[str, str]:
    """When results that wait for the watermark are due: at the offset, and at times that differ from it by a multiple
    of `every`."""
    if query.waits_in_spans:
        return {"final.every.ms": str(_UNMATCHED_MS)}
    window = query.final_window
    if window is None:
        return {}
    return {"final.every.ms": str(window.advance_ms), "final.offset.ms": str(window.size_ms)}


def _rebuild(
    query: Query, name: str, topic: str, options: SourceOptions, inputs: Sequence[TimedInput]
) -> dict[str, str]:
    """Where batches end that write nothing, and how far they advance the event time of each input and of the clock."""
    rebuild, clock = options.rebuilds.get(name), clock_of(query)
    if rebuild is None:
        return {}
    return {
        "rebuild.ends": json.dumps(by_topic(rebuild.ends)),
        "rebuild.watermark.ms": str(rebuild.watermark_ms),
        "rebuild.waits": str(query.waits_for_watermark).lower(),
        "rebuild.delays.ms": ",".join(str(each.delay_ms) for each in inputs),
        "rebuild.first": str(topic in table_topics(query)).lower(),
        **({"rebuild.blue.topics": ",".join(options.blues[name])} if name in options.blues else {}),
        **({} if clock is None else {"rebuild.clock": clock.name, "rebuild.clock.delay.ms": str(clock.delay_ms)}),
    }


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
        "startingOffsets": options.reset,
        "starts": _starts(topic, options, query),
        "failOnDataLoss": "false" if options.continue_on_data_loss else "true",
    }


_AT_DRIVER = ""
"""Instead of the file for marks: tasks send the places to the driver."""


def _starts(topic: str, options: SourceOptions, query: str) -> str:
    """The JSON of the offsets at which some partitions begin; the others begin at `reset`."""
    of_query = options.start_offsets.get(query, {})
    return json.dumps({topic: {str(p.partition): offset for p, offset in of_query.items() if p.topic == topic}})


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
    settings |= {
        "failOnDataLoss": "false",
        "subscribe": topic,
        "starts": json.dumps({topic: {number: start for number, (start, _) in offsets.items()}}),
        "ends": json.dumps({topic: {number: end for number, (_, end) in offsets.items()}}),
    }
    return spark.read.format(TOPIC_SOURCE).options(**settings).load()
