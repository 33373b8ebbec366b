"""`python -m bench`: runs the workloads in all engines and prints a table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.check import check
from bench.command import add_mode, add_variables, end_on_signals, say
from bench.engines import ENGINES, FLINK_SQL, KAFKA_STREAMS, ComparedEngine, build, on_workers
from bench.expected import BenchFailed, Expected
from bench.machine import machine, versions
from bench.measures import line, measures_of
from bench.preload import AVRO_TOPIC, JSON_TOPIC, Preloaded, preload, register_results
from bench.report import THROUGHPUT, page, save
from bench.run import Run, run
from bench.task import Guarantee, Task
from bench.vessels import REPORT_SCHEMA
from bench.workloads import WORKLOADS, Workload, records_of
from devkit.broker import Broker
from devkit.process import ProcessFailed
from devkit.registry import Registry

_PEERS = (KAFKA_STREAMS, FLINK_SQL)
BROKER_HEAP = ("-Xms1g", "-Xmx1g", "-XX:TieredStopAtLevel=4")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The servers, and what was written to them."""

    broker: Broker
    registry: Registry
    preloaded: Preloaded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all workloads. Returns 1 if an engine failed or wrote a wrong result, or after a signal."""
    options = _options(arguments)
    end_on_signals()
    try:
        if set(options.engine or ENGINES) - {"lsql"}:
            build()
        with Broker(jvm_options=BROKER_HEAP) as broker, Registry() as registry:
            return _bench(broker, registry, options)
    except (BenchFailed, ProcessFailed) as error:
        print(f"failed: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        say("ended")
    return 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="The throughput of lsql-runner, Kafka Streams and Flink SQL."
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--records", type=int, default=5_000_000, help="reports of input (default 5000000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each engine (default 3)")
    parser.add_argument("--partitions", type=int, default=4, help="partitions of each topic (default 4)")
    parser.add_argument("--threads", type=int, default=cores, help="threads of each engine (default: the cores)")
    parser.add_argument("--heap-mib", type=int, default=512, help="heap of each engine's JVM (default 512)")
    parser.add_argument("--workload", choices=sorted(WORKLOADS), action="append", help="only this workload")
    parser.add_argument("--engine", choices=sorted(ENGINES), action="append", help="only this engine")
    parser.add_argument(
        "--workers", type=int, action="append", default=[], help="also lsql-runner with so many workers on this machine"
    )
    parser.add_argument(
        "--guarantee",
        type=Guarantee,
        choices=sorted(Guarantee),
        default=Guarantee.AT_LEAST_ONCE,
        help="of all engines (default at-least-once)",
    )
    add_mode(parser)
    add_variables(parser)
    options = parser.parse_args(arguments)
    for name in ("records", "runs", "partitions", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if min(options.workers, default=1) < 1:
        parser.error("--workers must be at least 1")
    return options


def _bench(broker: Broker, registry: Registry, options: argparse.Namespace) -> int:
    workloads = [WORKLOADS[name] for name in options.workload or WORKLOADS]
    engines = [engine for name, engine in ENGINES.items() if name in (options.engine or ENGINES)]
    engines += map(on_workers, options.workers)
    say(f"writing {options.records:,} reports")
    inputs = preload(broker, registry, workloads, options.records, options.partitions)
    document: dict[str, Any] = {"kind": THROUGHPUT, "conditions": _conditions(options), "runs": []}
    try:
        for workload in workloads:
            # The runs of a workload are added when all engines have written the expected results.
            document["runs"] += _compare(workload, engines, Inputs(broker, registry, inputs), options)
    finally:
        if document["runs"]:
            say(f"all samples: {save(document)}")
    print(f"\n{page([document])}")
    return 0


def _compare(
    workload: Workload, engines: Sequence[ComparedEngine], inputs: Inputs, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Run the engines in turns, so that a machine that slows down affects all of them."""
    expected = workload.expectation(inputs.preloaded.reports(), options.records)
    records = records_of(workload, options.records)
    results: list[dict[str, Any]] = []
    for number in range(1, options.runs + 1):
        for engine in engines:
            done = _run_once(engine, workload, expected, inputs, options, number)
            result = measures_of(done.samples, records, done.private_mib)
            results.append(
                {
                    "workload": workload.name,
                    "title": workload.title,
                    "engine": engine.name,
                    "run": number,
                    "measures": asdict(result),
                    "samples": [[round(s.at_s, 3), s.committed, round(s.cpu_s, 2)] for s in done.samples],
                }
            )
            say(f"{workload.name} {number}/{options.runs} {engine.name}: {line(result)}")
    return results


def _run_once(
    engine: ComparedEngine,
    workload: Workload,
    expected: Expected,
    inputs: Inputs,
    options: argparse.Namespace,
    number: int,
) -> Run:
    """One run with a new application id, output topic and state directory; its results are checked."""
    broker = inputs.broker
    name = f"bench-{workload.name}-{engine.name.replace(' ', '-')}-{number}"
    broker.create_topic(name, options.partitions)
    with TemporaryDirectory(prefix="lsql-bench-") as state:
        task = _task(engine, workload, inputs, options, name, Path(state))
        done = run(engine.start(task), task, broker, deadline_s=180 + options.records / 5_000)
    check(engine, workload, expected, broker, inputs.registry, name)
    broker.delete_topic(name)
    return done


def _task(
    engine: ComparedEngine, workload: Workload, inputs: Inputs, options: argparse.Namespace, name: str, state: Path
) -> Task:
    source = AVRO_TOPIC if workload.is_avro else JSON_TOPIC
    other = workload.other
    # The schemas of AVRO topics are in the registry.
    declared = {source: REPORT_SCHEMA} if not workload.is_avro else {}
    declared |= {other.topic: dict(other.fields)} if other else {}
    other_topic = other.topic if other else ""
    return Task(
        name=workload.name,
        sql=f"SET processing.mode='{options.mode}';"
        + workload.sql.format(source=f"`{source}`", other=f"`{other_topic}`", target=f"`{name}`"),
        lsql_topics={
            topic: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": fields}}
            for topic, fields in declared.items()
        },
        bootstrap=inputs.broker.bootstrap,
        source=source,
        other=other_topic,
        targets=(name,),
        group=name,
        state=state,
        threads=options.threads,
        heap_mib=options.heap_mib,
        registry=inputs.registry.url if workload.is_avro else "",
        schema_id=register_results(inputs.registry, name) if workload.is_avro and engine in _PEERS else 0,
        engine_env=tuple(options.set),
        guarantee=options.guarantee,
    )


def _conditions(options: argparse.Namespace) -> str:
    return (
        f"Each cell: min / median / max of {options.runs} runs. {options.records:,} reports, {options.partitions} "
        f"partitions, lz4; {options.threads} threads and {options.heap_mib} MiB of heap each; {options.guarantee}. "
        f"{versions()} {machine()}"
    )


if __name__ == "__main__":
    sys.exit(main())
