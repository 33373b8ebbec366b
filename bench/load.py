"""`python -m bench.load`: resources and latency of a processor in the default pod, at a constant rate of records.

Runs the image in a container with the limits of a pod, feeds a topic at a constant rate, and prints processor time,
private memory and latency. Needs root and the image (`make image`).
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.error import URLError
from urllib.request import urlopen

from confluent_kafka import Producer

from bench.latency import Appended, Latencies, by_count, by_id
from bench.machine import machine
from bench.run import BenchFailed, read_topic
from ci.tools.image import default_tag
from ci.tools.ports import free_port
from devkit.broker import Broker
from devkit.container import Container, built_image
from devkit.process import ProcessFailed

KEYS = 50
FIELDS = {"id": "long not null", "user": "string not null", "speed": "double not null"}
_START_S = 120
_DRAIN_S = 30
_TICK_S = 0.005


@dataclass(frozen=True, slots=True)
class LoadProgram:
    """INSERTs with `{source}` and `{target}`. Without windows a result has the `id` of its record; with windows the
    INSERTs count the records of each key, and `windows_ms` has the size of each window."""

    title: str
    inserts: tuple[str, ...]
    windows_ms: tuple[int, ...] = ()


PROGRAMS = {
    "filter": LoadProgram(
        "filter and project",
        ("INSERT INTO {target} SELECT STREAM id, user FROM {source} WHERE speed >= 0",),
    ),
    "two-windows": LoadProgram(
        "two windowed counts",
        (
            "INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 10s",
            "INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1m",
        ),
        windows_ms=(10_000, 60_000),
    ),
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources of the container between the end of the warm-up and the last record."""

    cores: float
    """Seconds of processor time per second."""
    private_mib: tuple[float, ...]
    """Memory that no file backs, once a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run. `usage` and `latencies` are None if the container ended before the last result."""

    program: str
    rate: int
    ended_after_s: float | None
    usage: Usage | None
    latencies: Latencies | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each program at each rate. Returns 1 if records were lost, or on a signal."""
    options = _options(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    results: list[Result] = []
    try:
        image = built_image(default_tag())
        with Broker({"log.cleaner.enable": "false"}, jvm_options=("-Xms512m", "-Xmx512m")) as broker:
            for name in options.program or PROGRAMS:
                for rate in options.rate or (10, 100, 1000):
                    results.append(_run(PROGRAMS[name], rate, broker, image, options))
                    print(_line(results[-1]), file=sys.stderr, flush=True)
    except (BenchFailed, ProcessFailed, AssertionError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 1
    print("\n| program | records/s | cores | private MiB, first / last / most | p50 / p99 / p99.9 / most, ms |")
    print("|---|---|---|---|---|")
    print("\n".join(map(_line, results)))
    print(f"\n{options.seconds} s each after {options.warm_up} s, {options.memory_mib} MiB, {options.cpus} CPUs.")
    print(f"{machine()} Latency: from append to append, by the broker's clock.")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description="A processor at a constant rate.")
    parser.add_argument("--program", choices=sorted(PROGRAMS), action="append", help="only this program")
    parser.add_argument("--rate", type=int, action="append", help="records per second (default 10, 100, 1000)")
    parser.add_argument("--seconds", type=int, default=120, help="measured time of each run (default 120)")
    parser.add_argument("--warm-up", type=int, default=30, help="seconds before the measured time (default 30)")
    parser.add_argument("--memory-mib", type=int, default=768, help="the container's limit (default 768, the chart's)")
    parser.add_argument("--cpus", type=float, default=2.0, help="the container's limit (default 2)")
    parser.add_argument("--partitions", type=int, default=4, help="partitions of each topic (default 4)")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="an environment variable of the processor"
    )
    return parser.parse_args(arguments)


def _run(program: LoadProgram, rate: int, broker: Broker, image: str, options: argparse.Namespace) -> Result:
    """One run with its own topics, application id and state directory."""
    name = f"load-{time.time_ns()}"
    source, targets = f"{name}-in", [f"{name}-out-{number}" for number in range(len(program.inserts))]
    for topic in (source, *targets):
        broker.create_topic(topic, options.partitions, {"message.timestamp.type": "LogAppendTime"})
    port = free_port()
    inserts = (
        sql.format(source=f"`{source}`", target=f"`{to}`") for sql, to in zip(program.inserts, targets, strict=True)
    )
    environment = {
        "SQL": ";\n".join(inserts),
        "SQL_APP_ID": name,
        "SQL_BOOTSTRAP_SERVERS": broker.bootstrap,
        "SQL_PORT": str(port),
        "LSQL_TOPICS": json.dumps(
            {source: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": FIELDS}}}
        ),
        **dict(pair.split("=", 1) for pair in options.set),
    }
    container = Container(
        image,
        probe=lambda: _is_ready(port),
        env=environment,
        cpus=options.cpus,
        memory_mib=options.memory_mib,
        deadline_s=_START_S,
    )
    with container:
        usage, ran_s = _feed(container, broker.bootstrap, source, rate, options)
        if usage is None:
            return Result(program=program.title, rate=rate, ended_after_s=ran_s, usage=None, latencies=None)
        try:
            latencies = _latencies(broker, program, source, targets, skip_s=options.warm_up, deadline_s=_DRAIN_S)
        except BenchFailed:
            if container.running:
                raise
            return Result(program=program.title, rate=rate, ended_after_s=ran_s, usage=None, latencies=None)
    return Result(program=program.title, rate=rate, ended_after_s=None, usage=usage, latencies=latencies)


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError):
        return False


def _feed(
    container: Container, bootstrap: str, source: str, rate: int, options: argparse.Namespace
) -> tuple[Usage | None, float]:
    """Write records at the rate for the time of a run.

    Returns the usage (None if the container ended before) and the seconds that it ran.
    """
    # Without linger and a bound on requests in flight, librdkafka queues requests of one record each in the client.
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "max.in.flight": 5, "acks": "all"})
    begin = time.monotonic()
    sent, cpu_s, measured_from, private = 0, 0.0, 0.0, list[float]()
    next_sample_s = float(options.warm_up)
    while (now_s := time.monotonic() - begin) < options.warm_up + options.seconds:
        if not container.running:
            return None, now_s
        while sent < now_s * rate:
            value = {"id": sent, "user": f"user-{sent % KEYS}", "speed": sent % 300 / 10}
            producer.produce(source, json.dumps(value).encode(), b"key-%d" % (sent % KEYS))
            sent += 1
        producer.poll(0)
        if now_s >= next_sample_s:
            if not private:
                cpu_s, measured_from = container.cpu_s(), time.monotonic()
            private.append(container.anonymous_mib())
            next_sample_s += 1
        time.sleep(_TICK_S)
    used, elapsed_s = container.cpu_s() - cpu_s, time.monotonic() - measured_from
    if producer.flush(30):
        raise BenchFailed("the broker did not take all records")
    return Usage(used / elapsed_s, tuple(private)), time.monotonic() - begin


def _latencies(
    broker: Broker, program: LoadProgram, source: str, targets: Sequence[str], skip_s: float, deadline_s: float
) -> Latencies:
    """The latencies of all records but those of the first `skip_s` seconds.

    Raises:
        BenchFailed: a record has no result within the deadline, or more than one.
    """
    records = _appended(broker, source)
    begin_ms = min(record.at_ms for record in records) + 1000 * skip_s
    deadline = time.monotonic() + deadline_s
    while True:
        try:
            found: list[tuple[Appended, int]] = []
            for number, target in enumerate(targets):
                results = _appended(broker, target)
                size_ms = program.windows_ms[number] if program.windows_ms else None
                found += by_id(records, results) if size_ms is None else by_count(records, results, size_ms)
            return Latencies(tuple(sorted(at_ms - record.at_ms for record, at_ms in found if record.at_ms >= begin_ms)))
        except BenchFailed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def _appended(broker: Broker, topic: str) -> list[Appended]:
    """All records of the topic, in order within a partition."""
    return [Appended(key, json.loads(value), at_ms) for _, key, value, at_ms in read_topic(broker, topic)]


def _line(result: Result) -> str:
    start = f"| {result.program} | {result.rate:,} |"
    if result.usage is None or result.latencies is None:
        return f"{start} ended after {result.ended_after_s:.0f} s | | |"
    private, late = result.usage.private_mib, result.latencies
    memory = f"{private[0]:.0f} / {private[-1]:.0f} / {max(private):.0f}"
    times = " / ".join(f"{late.at(share):,.0f}" for share in (0.5, 0.99, 0.999, 1))
    return f"{start} {result.usage.cores:.2f} | {memory} | {times} |"


if __name__ == "__main__":
    sys.exit(main())
