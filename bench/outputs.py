"""Reads the results of an engine from its topic."""

from __future__ import annotations

import io
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeAlias

import fastavro
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from bench.expected import GAP_MS, SAMPLED, BenchFailed, Window
from devkit.registry import Registry
from devkit.topics import Topics

Result: TypeAlias = tuple[bytes, bytes | None]
"""Key and value; the value of a tombstone is None."""
Decode: TypeAlias = Callable[[bytes], dict[str, Any]]
NO_LEADER_YET = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)
"""Errors of a topic that was just created."""
_NO_RECORD_S = 60
_HEADER_BYTES = 5  # of an AVRO value: a zero byte and the id of the schema


def json_value(value: bytes) -> dict[str, Any]:
    """The fields of a JSON value."""
    return dict(json.loads(value))


def avro_decoder(registry: Registry) -> Decode:
    """A function that decodes AVRO values, whose schemas are in the registry."""
    known: dict[int, Any] = {}

    def decode(value: bytes) -> dict[str, Any]:
        number = int.from_bytes(value[1:_HEADER_BYTES], "big")
        if number not in known:
            known[number] = fastavro.parse_schema(json.loads(registry.schema(number)))
        return dict(fastavro.schemaless_reader(io.BytesIO(value[_HEADER_BYTES:]), known[number], None))  # type: ignore[arg-type]

    return decode


def sampled_rows(results: Iterable[Result], decode: Decode) -> dict[bytes, list[tuple[object, ...]]]:
    """The fields of each result of the sampled keys, in order."""
    rows: dict[bytes, list[tuple[object, ...]]] = defaultdict(list)
    for key, value in results:
        if key in SAMPLED and value is not None:
            rows[key].append(tuple(decode(value).values()))
    return dict(rows)


def last_counts(results: Iterable[Result], window: Callable[[Result], Window]) -> dict[Window, int]:
    """The last count of each key and window; a tombstone removes a window."""
    last: dict[Window, int] = {}
    for result in results:
        if result[1] is None:
            last.pop(window(result), None)
        else:
            last[window(result)] = json.loads(result[1])["n"]
    return last


def window_of_key(size_ms: int) -> Callable[[Result], Window]:
    """The window of a result of Kafka Streams and lsql-runner: the key ends with its start."""

    def window(result: Result) -> Window:
        start_ms = int.from_bytes(result[0][-8:], "big")
        return result[0][:-8], start_ms, start_ms + size_ms

    return window


def session_of_key(result: Result) -> Window:
    """The session of a result of Kafka Streams and lsql-runner: the key ends with its end and its start."""
    key = result[0]
    return key[:-16], int.from_bytes(key[-8:], "big"), int.from_bytes(key[-16:-8], "big")


def window_of_fields(result: Result) -> Window:
    """The window of a result of Flink, which has two fields."""
    value = json.loads(result[1] or b"{}")
    return result[0], _epoch_ms(value["window_start"]), _epoch_ms(value["window_end"])


def session_of_fields(result: Result) -> Window:
    """The session of a result of Flink, whose end includes the gap."""
    key, start_ms, end_ms = window_of_fields(result)
    return key, start_ms, end_ms - GAP_MS


@lru_cache(maxsize=100_000)
def _epoch_ms(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def have_records(broker: Topics, topics: Iterable[str]) -> bool:
    """Whether each topic has a record. False for a topic that was just created."""
    try:
        return all(sum(broker.end_offsets(topic).values()) for topic in topics)
    except KafkaException as error:
        if error.args[0].code() in NO_LEADER_YET:
            return False
        raise


def results_of(broker: Topics, topic: str) -> Iterator[Result]:
    """Key and value of all records of a topic, in order within a partition."""
    return ((key, value) for _, key, value, _ in read_topic(broker, topic))


def read_topic(broker: Topics, topic: str) -> Iterator[tuple[int, bytes, bytes | None, int]]:
    """All records of the topic: partition, key, value, timestamp in ms.

    Raises:
        BenchFailed: the broker reports an error, or no record arrives for a minute.
    """
    left = {partition: end for partition, end in broker.end_offsets(topic).items() if end > 0}
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "bench-check",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in left])
        deadline = time.monotonic() + _NO_RECORD_S
        while left:
            messages = consumer.consume(10_000, timeout=0.5)
            if messages:
                deadline = time.monotonic() + _NO_RECORD_S
            elif time.monotonic() > deadline:
                raise BenchFailed(
                    f"{topic}: no record arrived for {_NO_RECORD_S} s; partitions not read: {sorted(left)}"
                )
            for message in messages:
                partition, error = message.partition() or 0, message.error()
                if error is not None:
                    if error.code() != KafkaError._PARTITION_EOF:
                        raise BenchFailed(f"{topic} could not be read: {error}")
                    left.pop(partition, None)  # the last offsets are markers of transactions
                    continue
                if partition not in left:
                    continue
                key, value = message.key(), message.value()
                assert isinstance(key, bytes)
                assert value is None or isinstance(value, bytes)
                yield partition, key, value, message.timestamp()[1]
                if (message.offset() or 0) >= left[partition] - 1:
                    del left[partition]
    finally:
        consumer.close()
