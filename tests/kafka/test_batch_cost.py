"""What a small batch costs beyond its records: it is planned once, compiles nothing, and starts no process.

Only batches of a topic show it: their source decides how a batch is evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.jvm.call import java_class
from tests.conftest import TopicFactory

WARM_UP = 4
"""Records, each of which is a batch of every query. Later batches have the code of earlier ones."""
FIRST_RULE = "Optimizer$FinishAnalysis"
MEASURED = 12
"""More than the ten batches after which Spark makes a snapshot by default, in a child process."""

ENDED_SESSION = re.compile(r"rm -rf \S+/artifacts-[^/]+/[^/]+$")


@dataclass(frozen=True)
class Counts:
    """What a JVM has done since its start."""

    planned: int
    """Runs of the optimizer: of a rule that it applies once to each plan."""
    compiled: int
    """Classes generated and compiled for queries."""


def counts(engine: SparkEngine) -> Counts:
    rules = java_class("org.apache.spark.sql.catalyst.rules.RuleExecutor").dumpTimeSpent()
    line = next(line for line in rules.splitlines() if FIRST_RULE in line)
    metrics = java_class("org.apache.spark.metrics.source.CodegenMetrics")
    return Counts(int(line.split()[-1]), metrics.METRIC_COMPILATION_TIME().getCount())


@contextmanager
def recorded_processes(path: Path) -> Iterator[list[str]]:
    """The commands of the processes that the JVM starts within the block.

    Without `rm` of the directory of a session: a query that has ended leaves its session to the garbage collector,
    which ends earlier tests' sessions at any time.
    """
    commands: list[str] = []
    recording = java_class("jdk.jfr.Recording")()
    recording.enable("jdk.ProcessStart")
    recording.start()
    try:
        yield commands
        recording.stop()
        file = java_class("java.io.File")(str(path)).toPath()
        recording.dump(file)
        events = java_class("jdk.jfr.consumer.RecordingFile").readAllEvents(file)
        started = [event.getString("command") for event in events]
        commands += [command for command in started if not ENDED_SESSION.match(command)]
    finally:
        recording.close()


def batches(state_dir: Path) -> int:
    """The number of batches that all queries have begun."""
    queries = {path.parent for path in state_dir.rglob("offsets/[0-9]*")}
    return sum(1 + max(int(path.name) for path in query.glob("[0-9]*")) for query in queries)


@pytest.mark.timeout(180)  # 15 s on an idle machine, and four times as much beside other tests
@pytest.mark.parametrize(
    "selects",
    [
        ("SELECT STREAM user FROM {source} WHERE n > 0",),
        (
            "SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 10s",
            "SELECT STREAM user, SUM(n) AS n FROM {source} WINDOW BY TUMBLE 1m GROUP BY user",
        ),
    ],
    ids=["filter", "two windows"],
)
def test_a_small_batch_is_planned_once_compiles_nothing_and_starts_no_process(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, selects: tuple[str, ...]
) -> None:
    source = topic()
    inserts = [f"INSERT INTO {topic()} {select.format(source=source)}" for select in selects]
    sql = "SET processing.mode='batch'; SET processing.pace='20ms'; " + "; ".join(inserts)

    _ = engine.session
    # Once a minute Spark closes the stores of queries that have ended, with a child process for each.
    java_class("org.apache.spark.sql.execution.streaming.state.StateStore").stop()
    with in_process(engine, broker.bootstrap, sql, f"app-{source}", tmp_path / "state") as running:

        def feed(first: int, count: int) -> None:
            for number in range(first, first + count):
                value = json.dumps({"user": f"user-{number}", "n": number + 1}).encode()
                broker.produce(source, [Record(b"k", value, timestamp_ms=1_600_000_000_000 + 100 * number)])
                running.read_to(number + 1)

        feed(0, WARM_UP)
        # Spark starts `getconf` once, about ten seconds after the JVM.
        java_class("org.apache.spark.executor.ProcfsMetricsGetter").pTreeInfo()
        before, batches_before = counts(engine), batches(tmp_path / "state")
        with recorded_processes(tmp_path / "processes.jfr") as commands:
            feed(WARM_UP, MEASURED)
        after, batches_after = counts(engine), batches(tmp_path / "state")

    ran = batches_after - batches_before
    assert ran >= MEASURED * len(selects)
    assert after.planned - before.planned == ran
    assert after.compiled == before.compiled
    assert commands == []
