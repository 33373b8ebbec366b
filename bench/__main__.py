"""`python -m bench`: runs both engines and prints a table."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.engines import COMMIT_INTERVAL_MS, ENGINES, STREAMS_VERSION, WORKLOADS, Task, Workload, build_streams
from bench.machine import machine
from bench.measures import Pairs, RunMeasures, measures_of, table
from bench.run import BenchFailed, Run, run
from bench.vessels import Expected, preload
from devkit.broker import Broker
from devkit.process import ProcessFailed

RESULTS = Path(__file__).parent / "results"
_SOURCE = "bench-vessels"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all workloads. Returns 1 if an engine failed or wrote a wrong result, or after a signal."""
    options = _options(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        build_streams()
        heap = ("-Xms1g", "-Xmx1g", "-XX:TieredStopAtLevel=4")
        with Broker({"log.cleaner.enable": "false"}, jvm_options=heap) as broker:
            return _bench(broker, options)
    except (BenchFailed, ProcessFailed) as error:
        print(f"failed: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        _say("ended")
    return 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="The throughput of lsql-runner and of Kafka Streams."
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--records", type=int, default=5_000_000, help="records of input (default 5000000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each engine (default 3)")
    parser.add_argument("--partitions", type=int, default=4, help="partitions of each topic (default 4)")
    parser.add_argument("--threads", type=int, default=cores, help="threads of each engine (default: the cores)")
    parser.add_argument("--heap-mib", type=int, default=512, help="heap of each engine's JVM (default 512)")
    parser.add_argument("--workload", choices=sorted(WORKLOADS), action="append", help="only this workload")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="an environment variable of lsql-runner"
    )
    options = parser.parse_args(arguments)
    for name in ("records", "runs", "partitions", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if any("=" not in pair for pair in options.set):
        parser.error("--set needs NAME=VALUE")
    return options


def _bench(broker: Broker, options: argparse.Namespace) -> int:
    broker.create_topic(_SOURCE, options.partitions)
    _say(f"writing {options.records:,} records of input")
    expected = preload(broker.bootstrap, _SOURCE, options.records)
    if sum(broker.end_offsets(_SOURCE).values()) != options.records:
        raise BenchFailed("the broker does not have all of the input")
    results: list[Pairs] = []
    details: list[dict[str, Any]] = []
    for name in options.workload or WORKLOADS:
        pairs, runs = _compare(broker, WORKLOADS[name], expected, options)
        results.append(pairs)
        details += runs
    on = machine()
    print(f"\n{table(results)}\n\nEach cell: min / median / max of {options.runs}. {on}")
    print(_setup_line(options))
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.json"
    document = {"machine": on, "options": vars(options), "runs": details}
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    _say(f"all samples: {path}")
    return 0


def _compare(
    broker: Broker, workload: Workload, expected: Expected, options: argparse.Namespace
) -> tuple[Pairs, list[dict[str, Any]]]:
    """Run both engines alternately, so that a machine that slows down affects both."""
    found: dict[str, list[RunMeasures]] = {engine: [] for engine in ENGINES}
    details: list[dict[str, Any]] = []
    heads: dict[str, Run] = {}
    for number in range(1, options.runs + 1):
        for engine in ENGINES:
            done = _run_once(broker, workload, expected, options, engine, number)
            if any(other.heads != done.heads for other in heads.values()):
                raise BenchFailed(f"{workload.name}: {engine} wrote other records than {', '.join(heads)}")
            heads[engine] = done
            result = measures_of(done.samples, options.records)
            found[engine].append(result)
            details.append(
                {
                    "workload": workload.name,
                    "engine": engine,
                    "run": number,
                    "written": done.written,
                    "peak_mib": round(done.peak_mib),
                    "measures": asdict(result),
                    "samples": [[round(s.at_s, 3), s.committed, round(s.cpu_s, 2)] for s in done.samples],
                }
            )
            warm = "too short" if result.warm_per_s is None else f"{result.warm_per_s:,.0f}"
            _say(
                f"{workload.name} {number}/{options.runs} {engine}: {warm} records/s warm, "
                f"{result.total_per_s:,.0f} with start-up, {done.written:,} written, peak {done.peak_mib:.0f} MiB"
            )
    lsql_runner, kafka_streams = (tuple(found[engine]) for engine in ENGINES)
    return Pairs(workload.title, lsql_runner, kafka_streams), details


def _run_once(
    broker: Broker, workload: Workload, expected: Expected, options: argparse.Namespace, engine: str, number: int
) -> Run:
    """One run with a new application id, output topic and state directory."""
    name = f"bench-{workload.name}-{list(ENGINES).index(engine)}-{number}"
    broker.create_topic(name, options.partitions)
    with TemporaryDirectory(prefix="lsql-bench-") as state:
        task = Task(
            workload=workload,
            bootstrap=broker.bootstrap,
            source=_SOURCE,
            target=name,
            group=name,
            state=Path(state),
            threads=options.threads,
            heap_mib=options.heap_mib,
            engine_env=tuple((key, value) for key, _, value in (pair.partition("=") for pair in options.set)),
        )
        done = run(ENGINES[engine](task), task, broker, expected, deadline_s=180 + options.records / 10_000)
    broker.delete_topic(name)
    return done


def _setup_line(options: argparse.Namespace) -> str:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    return (
        f"{options.records:,} records, {options.partitions} partitions, lz4; {options.threads} threads and "
        f"{options.heap_mib} MiB of heap each; both at-least-once. lsql-runner {version('lsql-runner')} "
        f"(pyspark {version('pyspark')}), Kafka Streams {STREAMS_VERSION} (commit interval {COMMIT_INTERVAL_MS} ms), "
        f"{shown.splitlines()[0]}."
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
