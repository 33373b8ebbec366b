"""`python -m bench.partitions`: what partitions cost the processor and its worker, for each batch.

A filter, and a windowed count, read topics of more and more partitions, into which one record for each partition is
written every second. The processor has one worker, so its own processor time is for planning: it schedules a task
for each partition with new records and for each partition of the state, and tells Kafka and the checkpoint about them.
The worker's is for the tasks.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import Producer

from bench.background import Background
from bench.command import add_variables, print_table
from bench.machine import machine
from bench.usage import private_mib, processor_s
from devkit.broker import Broker
from devkit.runner import Runner
from devkit.workers import WorkerProcess, free_ports, worker_environment

PARTITIONS = (10, 100, 1_000)
MOST_STATE_PARTITIONS = 256
PROGRAMS = {
    "filter": "INSERT INTO {target} SELECT STREAM * FROM {source} WHERE LENGTH(_value) > 0",
    "windowed count": "INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 10s",
}
_HEAP_MIB = "512"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A program on a number of partitions."""

    program: str
    partitions: int
    state_partitions: int
    """0 without state."""
    batches_per_s: float
    batch_ms: float
    """The mean time of a batch."""
    processor_ms: float
    """Processor time of the processor for each batch, in ms."""
    worker_ms: float
    """Processor time of the worker for each batch, in ms."""
    processor_mib: float
    worker_mib: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each program with each number of partitions. Returns 1 if a run failed, or on a signal."""
    options = _options(arguments)

    def costs() -> Iterator[Cost]:
        with Broker() as broker:
            for partitions in options.partitions or PARTITIONS:
                for program in options.program or list(PROGRAMS):
                    yield measure(broker, program, partitions, options)

    return print_table(costs(), table)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.partitions", description="What partitions cost in each batch, with one worker."
    )
    parser.add_argument("--partitions", type=int, action="append", help=f"only this number (default {PARTITIONS})")
    parser.add_argument("--program", choices=list(PROGRAMS), action="append", help="only this program")
    parser.add_argument("--warm-up", type=float, default=40, help="seconds before the measured time (default 40)")
    parser.add_argument("--seconds", type=float, default=40, help="measured seconds (default 40)")
    add_variables(parser)
    return parser.parse_args(arguments)


def measure(broker: Broker, program: str, partitions: int, options: argparse.Namespace) -> Cost:
    """One run, with new topics, application id and state directory.

    Raises:
        ProcessFailed: the processor or its worker does not start.
    """
    source = f"partitions-{time.time_ns()}"
    target = f"{source}-out"
    broker.create_topic(source, partitions)
    broker.create_topic(target, 4)
    state_partitions = min(partitions, MOST_STATE_PARTITIONS)
    sql = PROGRAMS[program].format(source=f"`{source}`", target=f"`{target}`")
    topics = f'{{"{source}": {{"key": {{"format": "STRING"}}, "value": {{"format": "STRING"}}}}}}'
    port = free_ports()
    env = {
        "JAVA_OPTS": "",
        "LSQL_TOPICS": topics,
        "LSQL_HEAP_MIB": _HEAP_MIB,
        "LSQL_STATE_PARTITIONS": str(state_partitions),
        **worker_environment(port),
        **dict(options.set),
    }
    with (
        TemporaryDirectory(prefix="lsql-partitions-") as state,
        Runner(broker.bootstrap, f"SET processing.mode='batch'; {sql}", source, Path(state), **env) as runner,
        WorkerProcess(port, JAVA_OPTS="", LSQL_HEAP_MIB=_HEAP_MIB, LSQL_THREADS="2") as worker,
        _Feed(broker.bootstrap, source, partitions),
    ):
        runner.read_to(partitions)
        time.sleep(options.warm_up)
        before, driver_s, worker_s = runner.metrics(), processor_s(runner.pid), processor_s(worker.pid)
        time.sleep(options.seconds)
        after, memory = runner.metrics(), (private_mib(runner.pid), private_mib(worker.pid))
        driver_s, worker_s = processor_s(runner.pid) - driver_s, processor_s(worker.pid) - worker_s
    batches = after["lsql_batches_total"] - before["lsql_batches_total"]
    duration_s = after["lsql_batch_duration_seconds_sum"] - before["lsql_batch_duration_seconds_sum"]
    return Cost(
        program=program,
        partitions=partitions,
        state_partitions=0 if program == "filter" else state_partitions,
        batches_per_s=batches / options.seconds,
        batch_ms=duration_s / batches * 1e3,
        processor_ms=driver_s / batches * 1e3,
        worker_ms=worker_s / batches * 1e3,
        processor_mib=memory[0],
        worker_mib=memory[1],
    )


class _Feed(Background):
    """Writes one record into each partition every second, until the end of the block."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
        self._topic = topic
        self._partitions = partitions
        super().__init__("feed")

    def _work(self) -> None:
        while not self._is_ended.is_set():
            until = time.monotonic() + 1
            for number in range(self._partitions):
                self._producer.produce(self._topic, b"value", b"key-%d" % number, partition=number)
            self._producer.flush(10)
            self._is_ended.wait(max(0.0, until - time.monotonic()))


def table(costs: Sequence[Cost]) -> str:
    """All runs as a table in Markdown."""
    titles = (
        "program",
        "partitions",
        "of the state",
        "batches/s",
        "ms a batch",
        "processor time of the processor, ms a batch",
        "of the worker, ms a batch",
        "private MiB, processor and worker",
    )
    lines = [machine(), "", f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    lines += (
        f"| {c.program} | {c.partitions:,} | {c.state_partitions or ''} | {c.batches_per_s:.1f} | {c.batch_ms:,.0f} "
        f"| {c.processor_ms:,.0f} | {c.worker_ms:,.0f} | {c.processor_mib:.0f}, {c.worker_mib:.0f} |"
        for c in costs
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
