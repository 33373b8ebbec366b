"""`python -m bench.start`: the time from `lsql run` to the first output record.

Starts each program several times, in turns, on a topic that has records, and prints the medians of: the starts of the
JVM, the end of the planning and the start of the queries (log lines), and the first record of the last target (the time
at which the broker appends it). All times are seconds from the start of the process.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from confluent_kafka import Producer

from bench.command import add_variables
from bench.expected import BenchFailed
from bench.load_programs import PROGRAMS, LoadProgram
from bench.machine import machine
from bench.outputs import have_records, read_topic
from bench.usage import jvm_started_s, processor_s
from ci.tools.ports import free_port
from devkit.broker import Broker
from devkit.process import Process

STARTED = {
    "filter": PROGRAMS["filter"],
    "filter, continuous": replace(PROGRAMS["filter"], mode="continuous"),
    "two windowed counts": PROGRAMS["two-windows"],
}
RECORDS = 100
_DEADLINE_S = 60
_POLL_S = 0.02
_APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Times of one start, in seconds from the start of the process."""

    jvm_s: float
    """The JVM's process starts."""
    planned_s: float
    """The program is checked and planned on the brokers, and what it needs is created."""
    running_s: float
    """The queries are started."""
    first_s: float
    """Each target has a record."""
    processor_s: float
    """Processor time of all processes until then."""


MEASURES = {
    "JVM started": lambda start: start.jvm_s,
    "planned": lambda start: start.planned_s,
    "queries started": lambda start: start.running_s,
    "first record": lambda start: start.first_s,
    "processor time": lambda start: start.processor_s,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Start each program `--runs` times. Returns 1 if a start failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.start", description="Seconds to the first output record.")
    parser.add_argument("--program", choices=sorted(STARTED), action="append", help="only this program")
    parser.add_argument("--runs", type=int, default=5, help="starts of each program (default 5)")
    add_variables(parser)
    options = parser.parse_args(arguments)
    names = options.program or list(STARTED)
    variables = dict(options.set)
    runs: dict[str, list[Start]] = {name: [] for name in names}
    try:
        with Broker() as broker:
            for _ in range(options.runs):
                for name in names:
                    runs[name].append(measure(STARTED[name], broker, variables))
                    print(f"{name}: {runs[name][-1]}", file=sys.stderr, flush=True)
    except (BenchFailed, AssertionError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    print(table(runs))
    return 0


def measure(program: LoadProgram, broker: Broker, variables: dict[str, str]) -> Start:
    """One start, with its own topics, application id and state directory.

    Raises:
        BenchFailed: a target has no record in time.
    """
    name = f"start-{time.time_ns()}"
    targets = [f"{name}-out-{number}" for number in range(len(program.inserts))]
    for topic in (name, *targets):
        broker.create_topic(topic, 2, _APPEND_TIME)
    _fill(broker, name)
    with TemporaryDirectory(prefix="lsql-start-") as state:
        settings = {
            "SQL": program.sql(name, targets),
            "SQL_APP_ID": name,
            "SQL_BOOTSTRAP_SERVERS": broker.bootstrap,
            "SQL_STATE_STORE_DIR": state,
            "SQL_PORT": str(free_port()),
            **variables,
        }
        process = Process(
            [Path(sys.prefix, "bin", "lsql"), "run"], name="lsql", probe=lambda: True, env=settings, grace_s=30
        )
        began_s = time.time()
        with process:
            used_s = _wait(process, broker, targets)
            jvm_s = jvm_started_s(process.pid)
        log = process.output()
    firsts_s = [min(record[3] for record in read_topic(broker, target)) / 1000 for target in targets]
    return Start(
        jvm_s=jvm_s - began_s,
        planned_s=_logged_s(log, "planned") - began_s,
        running_s=_logged_s(log, "state changed", "running") - began_s,
        first_s=max(firsts_s) - began_s,
        processor_s=used_s,
    )


def _fill(broker: Broker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(RECORDS):
        value = {"id": number, "user": f"user-{number % 7}", "speed": number / 2}
        producer.produce(topic, json.dumps(value).encode(), b"key-%d" % (number % 7))
    if producer.flush(30):
        raise BenchFailed("the broker did not take the records")


def _wait(process: Process, broker: Broker, targets: Sequence[str]) -> float:
    """Wait until each target has a record; returns the processor time until then."""
    deadline = time.monotonic() + _DEADLINE_S
    while process.running and time.monotonic() < deadline:
        if have_records(broker, targets):
            return processor_s(process.pid)
        time.sleep(_POLL_S)
    raise BenchFailed(f"no result:\n{process.output()}")


def _logged_s(log: str, event: str, new: str | None = None) -> float:
    """The time of the first log line of an event, in seconds since 1970."""
    for line in log.splitlines():
        fields = json.loads(line) if line.startswith("{") else {}
        if fields.get("message") == event and new in (None, fields.get("new")):
            return datetime.fromisoformat(fields["timestamp"]).timestamp()
    raise BenchFailed(f"no log line {event!r}:\n{log}")


def table(runs: dict[str, list[Start]]) -> str:
    """The medians of all programs, as a table in Markdown."""
    lines = [f"{machine()}", "", f"| seconds | {' | '.join(runs)} |", "|---" * (len(runs) + 1) + "|"]
    for title, of in MEASURES.items():
        cells = [f"{median(map(of, starts)):.2f}" for starts in runs.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
