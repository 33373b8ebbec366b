"""The engines of the comparison: lsql-runner, Kafka Streams and Flink SQL, each as a new process."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import flink_settings, streams_settings
from bench.task import Task
from ci.tools.cache import ROOT, cached_folder, files_below, hash_of
from ci.tools.maven import artifact, copy_dependencies, maven
from ci.tools.ports import free_port
from devkit.broker import write_properties
from devkit.jars import jar_folder
from devkit.process import Process
from devkit.workers import SECRET, free_ports

_LSQL = Path(sys.prefix, "bin", "lsql")


def lsql_runner(task: Task) -> Process:
    """`lsql run` with its defaults, except heap and threads."""
    return Process([_LSQL, "run"], name="lsql", probe=lambda: True, env=_settings(task), grace_s=30)


def on_workers(count: int) -> ComparedEngine:
    """`lsql run` with workers on this machine, which divide the threads of the task, rounded up, among them."""

    def start(task: Task) -> Process:
        workers = {
            "LSQL_WORKERS_HOST": "127.0.0.1",
            "LSQL_WORKERS_PORT": str(free_ports()),
            "LSQL_WORKERS_SECRET": SECRET,
        }
        env = _settings(task) | workers | {"LSQL_THREADS": str(threads_of_worker(task.threads, count))}
        command: list[str | Path] = [sys.executable, Path(__file__).with_name("with_workers.py"), str(count)]
        return Process(command, name="workers", probe=lambda: True, env=env, grace_s=90)

    return ComparedEngine("1 worker" if count == 1 else f"{count} workers", start)


def threads_of_worker(threads: int, workers: int) -> int:
    """The threads of each of these workers, which have at least `threads` together."""
    return math.ceil(threads / workers)


def _settings(task: Task) -> dict[str, str]:
    return {
        "SQL": task.sql,
        "SQL_APP_ID": task.group,
        "SQL_BOOTSTRAP_SERVERS": task.bootstrap,
        "SQL_STATE_STORE_DIR": str(task.state),
        "SQL_PORT": str(task.port or free_port()),
        "LSQL_TOPICS": json.dumps(task.lsql_topics),
        "LSQL_HEAP_MIB": str(task.heap_mib),
        "LSQL_THREADS": str(task.threads),
        "LSQL_GUARANTEE": task.guarantee.name.lower(),
        "ROOT_LOG_LEVEL": "WARN",
        **({"SQL_SCHEMA_REGISTRY_URL": task.registry} if task.registry else {}),
        **dict(task.engine_env),
    }


def kafka_streams(task: Task) -> Process:
    """The Kafka Streams topology of the task, with the heap and the garbage collector of lsql-runner."""
    write_properties(settings := task.state / "streams.properties", streams_settings.of(task))
    command = _java(task, "bench-streams-jars", "com.lsqlrunner.bench.Launcher")
    return Process([*command, settings], name="streams", probe=lambda: True, grace_s=15)


def flink_sql(task: Task) -> Process:
    """The Flink SQL of the task, with the heap and the garbage collector of lsql-runner, as a cluster in one JVM."""
    write_properties(settings := task.state / "flink.properties", flink_settings.of(task))
    (program := task.state / "program.sql").write_text(flink_settings.program(task), encoding="utf-8")
    command = _java(task, "bench-flink-jars", "com.lsqlrunner.bench.flink.Launcher", *flink_settings.JVM_OPTIONS)
    return Process([*command, settings, program, task.ended], name="flink", probe=lambda: True, grace_s=15)


def _java(task: Task, jars: str, main_class: str, *options: str) -> list[str | Path]:
    home = os.environ.get("JAVA_HOME")
    return [
        str(Path(home, "bin", "java")) if home else "java",
        f"-Xmx{task.heap_mib}m",
        "-XX:+UseParallelGC" if len(os.sched_getaffinity(0)) > 1 else "-XX:+UseSerialGC",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        *options,
        "-cp",
        f"{jar_folder(jars)}/*",
        main_class,
    ]


@dataclass(frozen=True, slots=True)
class ComparedEngine:
    """An engine: its name in the tables, and a function that makes its process."""

    name: str
    start: Callable[[Task], Process]


LSQL_RUNNER = ComparedEngine("lsql-runner", lsql_runner)
KAFKA_STREAMS = ComparedEngine("Kafka Streams", kafka_streams)
FLINK_SQL = ComparedEngine("Flink SQL", flink_sql)
ENGINES: Mapping[str, ComparedEngine] = {"lsql": LSQL_RUNNER, "streams": KAFKA_STREAMS, "flink": FLINK_SQL}


def build(names: Iterable[str] = ("streams", "flink")) -> None:
    """Build the programs of Kafka Streams and Flink, unless the cache of jars has them already."""
    for name in names:
        _build(ROOT / "bench" / name, f"bench-{name}-jars")


def _build(module: Path, folder_name: str) -> None:
    pom = module / "pom.xml"

    def build(folder: Path) -> None:
        copy_dependencies(pom, folder)
        with TemporaryDirectory(prefix="lsql-bench-building-") as target:
            maven("-f", pom, "package", f"-Dlsql.target={target}")
            for jar in Path(target).glob(f"{artifact(pom)}-*.jar"):
                (folder / jar.name).write_bytes(jar.read_bytes())

    cached_folder(folder_name, hash_of([pom, *files_below(module / "src")]), build)
