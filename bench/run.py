"""One run: starts a process, observes its consumer group until the end of the input, stops it, checks its output."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from bench.engines import FILTER, Task
from bench.measures import ProgressSample
from bench.usage import peak_mib, processor_s
from bench.vessels import Expected
from devkit.broker import Broker
from devkit.process import Process

_POLL_S = 0.05
_HEAD = 500


class BenchFailed(Exception):
    """An engine was too slow, ended early, or wrote a wrong result."""


@dataclass(frozen=True, slots=True)
class Run:
    """The observations of one run, and its output."""

    samples: tuple[ProgressSample, ...]
    written: int
    """The number of records in the output topic."""
    peak_mib: float
    heads: tuple[tuple[object, ...], ...]
    """The first records of each partition of the output, in order; empty if the order is not defined."""


def run(process: Process, task: Task, broker: Broker, expected: Expected, deadline_s: float) -> Run:
    """Run the process over all of the input.

    Raises:
        BenchFailed: it ended, missed the deadline, or wrote a result that is not the expected one.
    """
    ends = broker.end_offsets(task.source)
    # This consumer reads the position of the group and never joins it.
    client = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": task.group, "enable.auto.commit": False})
    places = [TopicPartition(task.source, partition) for partition in ends]
    try:
        position(client, places)  # connects, so that the first request of the run is quick
        start = time.monotonic()
        with process:
            samples = watch(process, lambda: position(client, places), start, sum(ends.values()), deadline_s)
            memory = peak_mib(process.pid)
    finally:
        client.close()
    written = sum(broker.end_offsets(task.target).values())
    heads: tuple[tuple[object, ...], ...] = ()
    if task.workload is FILTER:
        if written != expected.fast:
            raise BenchFailed(f"{process.name}: {written} records written, {expected.fast} expected")
        heads = _heads(broker, task.target)
    else:
        _check_windows(process.name, broker, task.target, expected)
    return Run(tuple(samples), written, memory, heads)


def watch(
    process: Process, position: Callable[[], int], start: float, count: int, deadline_s: float
) -> list[ProgressSample]:
    """Samples of the group's position, one for each change, until the end."""
    samples = [ProgressSample(0.0, 0, 0.0)]
    while samples[-1].committed < count:
        if not process.running:
            raise BenchFailed(f"{process.name} ended with {process.exit_code}:\n{_tail(process)}")
        at = position()
        now_s = time.monotonic() - start
        if at > samples[-1].committed:
            samples.append(ProgressSample(now_s, at, processor_s(process.pid)))
        if now_s > deadline_s:
            raise BenchFailed(f"{process.name}: at {at} of {count} after {deadline_s:.0f} s:\n{_tail(process)}")
        time.sleep(_POLL_S)
    return samples


def position(client: Consumer, places: list[TopicPartition]) -> int:
    """The number of records of the source that the group has read."""
    try:
        found = client.committed(places, timeout=10)
    except KafkaException as error:
        if error.args[0].retriable() or error.args[0].code() in _TRANSIENT_ERRORS:
            return 0
        raise BenchFailed(f"the position of the group cannot be read: {error}") from error
    return sum(place.offset for place in found if place.offset > 0)


_TRANSIENT_ERRORS = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)


def _check_windows(name: str, broker: Broker, topic: str, expected: Expected) -> None:
    """Check that the last count of each key and window is correct."""
    last: dict[tuple[bytes, int], int] = {}
    for _, key, value, _ in read_topic(broker, topic):
        last[key[:-8], int.from_bytes(key[-8:], "big")] = json.loads(value)["n"]
    if last != expected.windows:
        wrong = Counter({k: n for k, n in expected.windows.items() if last.get(k) != n})
        raise BenchFailed(f"{name}: {len(wrong)} of {len(expected.windows)} windows are wrong, {len(last)} written")


def _heads(broker: Broker, topic: str) -> tuple[tuple[object, ...], ...]:
    found: dict[int, list[object]] = {partition: [] for partition in broker.end_offsets(topic)}
    for partition, key, value, _ in read_topic(broker, topic, _HEAD):
        found[partition].append((key.decode(), json.loads(value)))
    return tuple(tuple(records) for _, records in sorted(found.items()))


def read_topic(broker: Broker, topic: str, limit: int | None = None) -> Iterator[tuple[int, bytes, bytes, int]]:
    """All records of the topic, or the first `limit` of each partition: partition, key, value, timestamp in ms.

    Raises:
        BenchFailed: the broker reports an error, or the records do not arrive in time.
    """
    ends = broker.end_offsets(topic)
    left = {partition: end if limit is None else min(limit, end) for partition, end in ends.items() if end > 0}
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "bench-check",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 20,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in left])
        deadline = time.monotonic() + 60 + sum(left.values()) / 50_000
        while left:
            if time.monotonic() > deadline:
                raise BenchFailed(f"{topic} could not be read in time")
            for message in consumer.consume(10_000, timeout=0.5):
                error = message.error()
                if error is not None:
                    if error.code() != KafkaError._PARTITION_EOF:
                        raise BenchFailed(f"{topic} could not be read: {error}")
                    continue
                partition, offset = message.partition() or 0, message.offset() or 0
                if partition not in left or offset >= left[partition]:
                    continue
                key, value = message.key(), message.value()
                assert isinstance(key, bytes)
                assert isinstance(value, bytes)
                yield partition, key, value, message.timestamp()[1]
                if offset == left[partition] - 1:
                    del left[partition]
    finally:
        consumer.close()


def _tail(process: Process) -> str:
    return "\n".join(process.output().splitlines()[-20:])
