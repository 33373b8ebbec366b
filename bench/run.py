"""One run: starts a process, observes its consumer group until the end of the input, and stops it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from bench.expected import BenchFailed
from bench.measures import ProgressSample
from bench.task import Task
from bench.usage import private_mib, processor_s
from devkit.process import Process
from devkit.topics import Topics

_POLL_S = 0.05
_MEMORY_S = 1.0


@dataclass(frozen=True, slots=True)
class Run:
    """The observations of one run."""

    samples: tuple[ProgressSample, ...]
    private_mib: float
    """The largest private memory of one sample per second."""


def run(process: Process, task: Task, broker: Topics, deadline_s: float) -> Run:
    """Run the process over all of the input.

    Raises:
        BenchFailed: it ended, or missed the deadline.
    """
    topics = [topic for topic in (task.source, task.other) if topic]
    ends = {(topic, partition): end for topic in topics for partition, end in broker.end_offsets(topic).items()}
    # This consumer reads the position of the group and never joins it.
    client = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": task.group, "enable.auto.commit": False})
    places = [TopicPartition(topic, partition) for topic, partition in ends]
    count, memory = sum(ends.values()), PeakMemory()
    try:
        position(client, places)  # connects, so that the first request of the run is quick
        start = time.monotonic()
        with process:
            samples = watch(
                process,
                lambda: count if task.ended.exists() else position(client, places),
                start,
                count,
                deadline_s,
                memory,
            )
    finally:
        client.close()
    return Run(tuple(samples), memory.most_mib)


class PeakMemory:
    """Keeps the largest private memory of a process, measured once a second."""

    def __init__(self) -> None:
        self.most_mib = 0.0
        self._next_s = 0.0

    def measure(self, process: Process) -> None:
        """Measure, unless the last time was less than a second ago."""
        if time.monotonic() >= self._next_s:
            self.most_mib = max(self.most_mib, private_mib(process.pid))
            self._next_s = time.monotonic() + _MEMORY_S


def watch(
    process: Process,
    position: Callable[[], int],
    start: float,
    count: int,
    deadline_s: float,
    memory: PeakMemory | None = None,
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
        if memory is not None:
            memory.measure(process)
        time.sleep(_POLL_S)
    return samples


def position(client: Consumer, places: list[TopicPartition]) -> int:
    """The number of records of the sources that the group has read."""
    try:
        committed = client.committed(places, timeout=10)
    except KafkaException as error:
        if error.args[0].retriable() or error.args[0].code() in _TRANSIENT_ERRORS:
            return 0
        raise BenchFailed(f"the position of the group cannot be read: {error}") from error
    return sum(place.offset for place in committed if place.offset > 0)


_TRANSIENT_ERRORS = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)


def _tail(process: Process) -> str:
    return "\n".join(process.output().splitlines()[-20:])
