"""The two engines of the comparison: lsql-runner and Kafka Streams, each as a new process."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.vessels import FAST, SCHEMA
from ci.tools.cache import ROOT, cached_folder, hash_of
from ci.tools.maven import copy_dependencies, maven
from ci.tools.ports import free_port
from devkit.jars import jar_folder
from devkit.process import Process

COMMIT_INTERVAL_MS = 200
"""The commit interval of Kafka Streams. Its default of 30 s would hide the position; 200 ms cost almost nothing."""

STREAMS_VERSION = "4.1.0"


@dataclass(frozen=True, slots=True)
class Workload:
    """The same processing for both engines."""

    name: str
    title: str
    sql: str
    """The SQL, with `{source}` and `{target}`."""
    main_class: str
    """The Kafka Streams application."""


FILTER = Workload(
    "filter",
    "JSON filter and project",
    f"INSERT INTO {{target}} SELECT STREAM MMSI, Speed, `Long`, Lat, `Timestamp` FROM {{source}} WHERE Speed > {FAST};",
    "com.lsqlrunner.bench.FilterApp",
)
TUMBLE = Workload(
    "tumble",
    "1-minute tumbling count per key",
    "INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1m;",
    "com.lsqlrunner.bench.TumbleApp",
)
WORKLOADS = {workload.name: workload for workload in (FILTER, TUMBLE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The workload, topics and resources of one process."""

    workload: Workload
    bootstrap: str
    source: str
    target: str
    group: str
    state: Path
    threads: int
    heap_mib: int
    engine_env: tuple[tuple[str, str], ...] = ()
    """Additional environment variables of lsql-runner."""


def lsql_runner(task: Task) -> Process:
    """`lsql run` with its defaults, except heap and threads."""
    topics = {task.source: {"key": {"format": "STRING"}, "value": {"format": "JSON", "schema": SCHEMA}}}
    settings = {
        "SQL": task.workload.sql.format(source=task.source, target=task.target),
        "SQL_APP_ID": task.group,
        "SQL_BOOTSTRAP_SERVERS": task.bootstrap,
        "SQL_STATE_STORE_DIR": str(task.state),
        "SQL_PORT": str(free_port()),
        "LSQL_TOPICS": json.dumps(topics),
        "LSQL_HEAP_MIB": str(task.heap_mib),
        "LSQL_THREADS": str(task.threads),
        "ROOT_LOG_LEVEL": "WARN",
        **dict(task.engine_env),
    }
    lsql = Path(sys.prefix, "bin", "lsql")
    return Process([lsql, "run"], name="lsql", probe=lambda: True, env=settings, grace_s=30)


def kafka_streams(task: Task) -> Process:
    """The Kafka Streams application of the workload, with the heap and the garbage collector of lsql-runner."""
    home = os.environ.get("JAVA_HOME")
    command = [
        str(Path(home, "bin", "java")) if home else "java",
        f"-Xmx{task.heap_mib}m",
        "-XX:+UseParallelGC" if len(os.sched_getaffinity(0)) > 1 else "-XX:+UseSerialGC",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        f"{jar_folder('bench-jars')}/*",
        task.workload.main_class,
        task.bootstrap,
        task.group,
        task.source,
        task.target,
        str(task.state),
        str(task.threads),
        str(COMMIT_INTERVAL_MS),
    ]
    return Process(command, name="streams", probe=lambda: True, grace_s=15)


ENGINES = {"lsql-runner": lsql_runner, "Kafka Streams": kafka_streams}


def build_streams() -> None:
    """Build the Kafka Streams applications, unless the cache of jars has them already."""
    module = ROOT / "bench/streams"
    sources = [path for path in (module / "src").rglob("*") if path.is_file()]

    def build(folder: Path) -> None:
        pom = module / "pom.xml"
        copy_dependencies(pom, folder)
        with TemporaryDirectory(prefix="lsql-bench-building-") as target:
            maven("-f", pom, "package", f"-Dlsql.target={target}")
            for jar in Path(target).glob("lsql-bench-streams-*.jar"):
                (folder / jar.name).write_bytes(jar.read_bytes())

    cached_folder("bench-jars", hash_of([module / "pom.xml", *sources]), build)
