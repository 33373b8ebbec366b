"""`python -m bench.operators`: the throughput of one core for each operator, of lsql-runner alone."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import Consumer, TopicPartition

from bench.command import end_on_signals, say
from bench.expected import BenchFailed
from bench.inputs import AVRO_CLICKS, CLICKS, PROFILES, USERS, Input, preload
from bench.machine import machine
from bench.measures import RunMeasures, measures_of
from bench.run import PeakMemory, position, watch
from ci.tools.ports import free_port
from devkit.broker import Broker
from devkit.process import Process, ProcessFailed
from devkit.registry import Registry


@dataclass(frozen=True, slots=True)
class MeasuredProgram:
    """A benchmark: a title, the inputs, and SQL with `{target}`."""

    title: str
    inputs: tuple[Input, ...]
    sql: str


_FILTER = "INSERT INTO {{target}} SELECT STREAM user, page, ms FROM `{source}` WHERE ms >= 900"
_GROUPED = (
    "INSERT INTO {{target}} SELECT STREAM COUNT(*) AS n, SUM(bytes) AS s FROM clicks WINDOW BY {window} GROUP BY user"
)
_JOINED = (
    "INSERT INTO {{target}} SELECT {kind} u.points, p.name FROM users AS u JOIN profiles AS p ON u._key = p._key{end}"
)
_TABLE = "INSERT INTO {{target}} SELECT TABLE {calls} FROM users GROUP BY country"

PROGRAMS = {
    "filter-json": MeasuredProgram("filter, JSON", (CLICKS,), _FILTER.format(source=CLICKS.topic)),
    "filter-avro": MeasuredProgram("filter, AVRO to AVRO", (AVRO_CLICKS,), _FILTER.format(source=AVRO_CLICKS.topic)),
    "tumble": MeasuredProgram(
        "COUNT, SUM in TUMBLE 1m",
        (CLICKS,),
        _GROUPED.format(window="TUMBLE 1m"),
    ),
    "session": MeasuredProgram(
        "COUNT, SUM in SESSION 30s",
        (CLICKS,),
        _GROUPED.format(window="SESSION 30s"),
    ),
    "session-closed": MeasuredProgram(
        "COUNT, SUM in SESSION 10s, each of one record",
        (CLICKS,),
        _GROUPED.format(window="SESSION 10s"),
    ),
    "table-sum": MeasuredProgram(
        "COUNT, SUM over a table", (USERS,), _TABLE.format(calls="COUNT(*) AS n, SUM(points) AS s")
    ),
    "table-max": MeasuredProgram("MAX over a table", (USERS,), _TABLE.format(calls="MAX(points) AS m")),
    "stream-table": MeasuredProgram(
        "stream JOIN table",
        (USERS, PROFILES),
        "WITH p AS (SELECT TABLE * FROM profiles); "
        "INSERT INTO {target} SELECT STREAM u.points, p.name FROM users AS u JOIN p ON u._key = p._key",
    ),
    "table-table": MeasuredProgram("table JOIN table", (USERS, PROFILES), _JOINED.format(kind="TABLE", end="")),
    "stream-stream": MeasuredProgram(
        "stream JOIN stream WITHIN 10s",
        (USERS, PROFILES),
        _JOINED.format(kind="STREAM", end=" WITHIN 10s"),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all programs. Returns 1 if a program failed, or after a signal, which also ends all processes that were
    started.
    """
    options = _options(arguments)
    end_on_signals()
    wanted = [PROGRAMS[name] for name in options.program or PROGRAMS]
    try:
        heap = ("-Xms1g", "-Xmx1g", "-XX:TieredStopAtLevel=4")
        with Broker(jvm_options=heap) as broker, Registry() as registry:
            for source in dict.fromkeys(each for program in wanted for each in program.inputs):
                say(f"writing {options.records:,} records to {source.topic}")
                preload(broker, registry, source, options.records, options.partitions)
            measures: dict[str, list[RunMeasures]] = {program.title: [] for program in wanted}
            for number in range(options.runs):
                for place, program in enumerate(wanted):
                    result = _run(program, broker, registry, options, f"bench-{place}-{number}")
                    measures[program.title].append(result)
                    say(_line(program.title, [result]))
    except (BenchFailed, ProcessFailed) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("ended")
        return 1
    print(
        "\n| program | records/s, warm | records/s of one core, warm | seconds to the first commit |\n|---|---|---|---|"
    )
    for title, results in measures.items():
        print(_line(title, results))
    print(f"\n{options.records:,} records of each topic, {options.runs} runs (min / median / max). {machine()}")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.operators", description="The throughput of one core, by operator."
    )
    parser.add_argument("--records", type=int, default=1_000_000, help="records of each topic (default 1000000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program (default 3)")
    parser.add_argument("--partitions", type=int, default=4, help="partitions of each topic (default 4)")
    parser.add_argument("--batch", type=int, default=200_000, help="records in a batch, at most (default 200000)")
    parser.add_argument("--program", choices=sorted(PROGRAMS), action="append", help="only this program")
    return parser.parse_args(arguments)


def _run(
    program: MeasuredProgram, broker: Broker, registry: Registry, options: argparse.Namespace, name: str
) -> RunMeasures:
    """One run with a new application id, output topic and state directory."""
    broker.create_topic(name, options.partitions)
    topics = {
        each.topic: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": dict(each.fields)}}
        for each in program.inputs
        if not each.is_avro  # the schemas of AVRO topics are in the registry
    }
    places = [TopicPartition(each.topic, number) for each in program.inputs for number in range(options.partitions)]
    client = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": name, "enable.auto.commit": False})
    total, memory = options.records * len(program.inputs), PeakMemory()
    with TemporaryDirectory(prefix="lsql-bench-") as state:
        settings = {
            "SQL": program.sql.format(target=f"`{name}`"),
            "SQL_APP_ID": name,
            "SQL_BOOTSTRAP_SERVERS": broker.bootstrap,
            "SQL_SCHEMA_REGISTRY_URL": registry.url,
            "SQL_STATE_STORE_DIR": state,
            "SQL_PORT": str(free_port()),
            "LSQL_TOPICS": json.dumps(topics),
            "LSQL_MAX_RECORDS_PER_BATCH": str(options.batch),
            "ROOT_LOG_LEVEL": "WARN",
        }
        process = Process(
            [Path(sys.prefix, "bin", "lsql"), "run"], name="lsql", probe=lambda: True, env=settings, grace_s=30
        )
        try:
            position(client, places)  # connects, so that the first request of the run is quick
            start = time.monotonic()
            with process:
                samples = watch(process, lambda: position(client, places), start, total, 180 + total / 5_000, memory)
        finally:
            client.close()
    if not sum(broker.end_offsets(name).values()):
        raise BenchFailed(f"{program.title}: nothing was written")
    broker.delete_topic(name)
    return measures_of(samples, total, memory.most_mib)


def _line(title: str, results: Sequence[RunMeasures]) -> str:
    rates = sorted(each.warm_per_s or 0 for each in results)
    cores = sorted(1e6 / each.warm_cpu_us if each.warm_cpu_us else 0 for each in results)
    first = sorted(each.first_commit_s for each in results)
    cells = (_cell(rates, "{:,.0f}"), _cell(cores, "{:,.0f}"), _cell(first, "{:.1f}"))
    return f"| {title} | {' | '.join(cells)} |"


def _cell(values: Sequence[float], written: str) -> str:
    return " / ".join(written.format(values[place]) for place in sorted({0, len(values) // 2, len(values) - 1}))


if __name__ == "__main__":
    sys.exit(main())
