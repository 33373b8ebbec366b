"""`python -m bench.recovery`: the time from a kill to the next result, by the size of the state.

A program counts records by key. When it has counted each key once, one of its processes is killed with SIGKILL, and one
record for each partition is written. The measured time ends when the consumer group has the position after these
records: their results are visible then, and the state is complete on its volume.

- restart: the processor is killed and started again at once. Kubernetes also needs some seconds to start the container.
- worker: one of two workers is killed. The other one continues with its partitions.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from confluent_kafka import Consumer, TopicPartition

from bench.command import add_variables, print_table
from bench.expected import BenchFailed
from bench.feed import send
from bench.machine import machine
from bench.outputs import results_of
from bench.run import position
from ci.tools.ports import free_port
from devkit.broker import Broker
from devkit.process import Process
from devkit.workers import WorkerProcess, free_ports, worker_environment

KEYS = (1_000, 10_000, 100_000, 1_000_000)
PARTITIONS = 2
_DEADLINE_S = 300
_POLL_S = 0.02
_SQL = "INSERT INTO `{target}` SELECT STREAM COUNT(*) AS n FROM `{source}` WINDOW BY TUMBLE 1d"
_LSQL = Path(sys.prefix, "bin", "lsql")


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: what was killed, with how much state, and the seconds until the position after the new records."""

    killed: str
    keys: int
    seconds: float
    state_mib: float
    """Size of the files of the state directory."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each size `--runs` times. Returns 1 if a run failed, or on a signal."""
    options = _options(arguments)

    def kills() -> Iterator[Kill]:
        with Broker() as broker:
            for keys in options.keys or KEYS:
                for killed in options.killed or list(KILLS):
                    for _ in range(options.runs):
                        yield measure(broker, keys, killed, dict(options.set))

    return print_table(kills(), table)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.recovery", description="Seconds from a kill to the next result, by the size of the state."
    )
    parser.add_argument("--keys", type=int, action="append", help=f"only this number of keys (default {KEYS})")
    parser.add_argument("--killed", choices=list(KILLS), action="append", help="only this process")
    parser.add_argument("--runs", type=int, default=3, help="kills of each size (default 3)")
    add_variables(parser)
    return parser.parse_args(arguments)


@dataclass(frozen=True, slots=True)
class _Started:
    """A processor that runs, and its workers."""

    processor: Process
    workers: Sequence[WorkerProcess]

    def kill_and_restart(self) -> None:
        self.processor.kill()
        self.processor.start()

    def kill_a_worker(self) -> None:
        self.workers[0].kill()


KILLS: dict[str, tuple[int, Callable[[_Started], None]]] = {
    "restart": (0, _Started.kill_and_restart),
    "worker": (2, _Started.kill_a_worker),
}
"""By name: the number of workers, and what is done."""


def measure(broker: Broker, keys: int, killed: str, variables: dict[str, str]) -> Kill:
    """One kill, with new topics, application id and state directory.

    Raises:
        BenchFailed: the position is not reached in time, or a count is wrong.
    """
    name = f"recovery-{time.time_ns()}"
    target = f"{name}-counts"
    workers, kill = KILLS[killed]
    for topic in (name, target):
        broker.create_topic(topic, PARTITIONS)
    send(broker.bootstrap, name, _records(range(keys)), keys)
    with TemporaryDirectory(prefix="lsql-recovery-") as state, ExitStack() as processes:
        settings = {
            "SQL": _SQL.format(source=name, target=target),
            "SQL_APP_ID": name,
            "SQL_BOOTSTRAP_SERVERS": broker.bootstrap,
            "SQL_STATE_STORE_DIR": state,
            "SQL_PORT": str(free_port()),
            "LSQL_TOPICS": json.dumps({name: {"key": {"format": "STRING"}, "value": {"format": "STRING"}}}),
            "LSQL_HEAP_MIB": "512",
            **variables,
        }
        started = processes.enter_context(_started(settings, workers))
        with _position(broker, name) as position_of:
            _await(started, position_of, keys)
            probes = min(keys, 20)
            began = time.monotonic()
            kill(started)
            send(broker.bootstrap, name, _records(range(probes)), probes)
            _await(started, position_of, keys + probes)
            seconds = time.monotonic() - began
        size = sum(file.stat().st_size for file in Path(state).rglob("*") if file.is_file())
    _check(broker, target, keys, probes)
    return Kill(killed, keys, seconds, size / 2**20)


def _records(numbers: Sequence[int]) -> Iterator[tuple[bytes, bytes, int]]:
    now_ms = int(time.time() * 1000)
    return ((f"key-{number}".encode(), b"1", now_ms) for number in numbers)


@contextmanager
def _started(settings: dict[str, str], workers: int) -> Iterator[_Started]:
    """A processor, and its workers, with a thread for each."""
    port = free_ports()
    if workers:
        settings = settings | worker_environment(port)
    with ExitStack() as processes:
        processor = Process([_LSQL, "run"], name="lsql", probe=lambda: True, env=settings, grace_s=30)
        processes.enter_context(processor)
        started = [WorkerProcess(port, LSQL_HEAP_MIB="512", JAVA_OPTS="") for _ in range(workers)]
        for worker in started:
            processes.enter_context(worker)
        yield _Started(processor, started)


@contextmanager
def _position(broker: Broker, name: str) -> Iterator[Callable[[], int]]:
    """A function that returns how many records the consumer group has read."""
    client = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": name, "enable.auto.commit": False})
    places = [TopicPartition(name, partition) for partition in range(PARTITIONS)]
    try:
        yield lambda: position(client, places)
    finally:
        client.close()


def _await(started: _Started, position_of: Callable[[], int], count: int) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while position_of() < count:
        if not started.processor.running or time.monotonic() > deadline:
            raise BenchFailed(f"{position_of()} of {count} records were read:\n{started.processor.output()[-4000:]}")
        time.sleep(_POLL_S)


def _check(broker: Broker, target: str, keys: int, probes: int) -> None:
    """Each key has its count: 2 if it had a record after the kill.

    Raises:
        BenchFailed: the state was lost, or records were counted twice.
    """
    counts = {key: json.loads(value)["n"] for key, value in results_of(broker, target) if value is not None}
    twice = sum(count == 2 for count in counts.values())
    if len(counts) != keys or twice != probes or max(counts.values()) > 2:
        raise BenchFailed(
            f"{len(counts)} of {keys} keys, {twice} of {probes} counted twice, most {max(counts.values())}"
        )


def table(kills: Sequence[Kill]) -> str:
    """Least, median and most seconds of each size, as a table in Markdown."""
    lines = [machine(), "", "| keys | state, MiB | killed | seconds to the next result |", "|---|---|---|---|"]
    for keys, killed in dict.fromkeys((one.keys, one.killed) for one in kills):
        runs = [one for one in kills if (one.keys, one.killed) == (keys, killed)]
        seconds = [one.seconds for one in runs]
        times = f"{min(seconds):.1f} / {median(seconds):.1f} / {max(seconds):.1f}"
        lines.append(f"| {keys:,} | {median(one.state_mib for one in runs):.1f} | {killed} | {times} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
