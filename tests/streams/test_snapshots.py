"""State stores write snapshots, so that a restart does not replay all changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from devkit.spark_rows import conf
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import Rows, TopicRecord

DEADLINE_S = 30
BATCHES = 5


@pytest.fixture
def session(engine: MemoryEngine) -> Iterator[SparkSession]:
    """A session whose state stores write a snapshot within a second."""
    with (
        conf(engine.session, "spark.sql.streaming.stateStore.minDeltasForSnapshot", "2"),
        conf(engine.session, "spark.sql.streaming.stateStore.maintenanceInterval", "200ms"),
    ):
        close_stores(engine.session)  # a running maintenance thread keeps its interval
        yield engine.session
    close_stores(engine.session)


def close_stores(session: SparkSession) -> None:
    """Closes all state stores of the JVM, so that they are read from files again, as after a restart."""
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()


def test_a_restart_reads_the_newest_snapshot_of_a_state_store(session: SparkSession, tmp_path: Path) -> None:
    rows = Rows(session)
    stream = rows.stream()
    counted: list[int] = []

    def run() -> StreamingQuery:
        def collect(frame: DataFrame, _: int) -> None:
            counted.extend(row["count"] for row in frame.collect())

        counts = rows.streamed(stream).groupBy("key").count()
        writer = counts.writeStream.outputMode("update").option("checkpointLocation", str(tmp_path / "c"))
        return writer.foreachBatch(collect).start()

    def process(query: StreamingQuery, number: int) -> None:
        stream.addData(rows.sequence([TopicRecord(topic="t", key=b"k", value=b"v", timestamp_ms=0, offset=number)]))
        query.processAllAvailable()

    stores = tmp_path / "c/state/0/0"
    query = run()
    try:
        for number in range(BATCHES):
            process(query, number)
        _wait_for(lambda: _versions(stores, "zip"), stores)
    finally:
        query.stop()
    close_stores(session)
    newest = max(_versions(stores, "zip"))
    for changes in stores.glob("*.changelog"):
        if int(changes.name.partition("_")[0]) <= newest:
            changes.unlink()
    query = run()
    try:
        process(query, BATCHES)
    finally:
        query.stop()

    assert counted == list(range(1, BATCHES + 2))


def _versions(stores: Path, ending: str) -> list[int]:
    return [int(path.name.partition("_")[0]) for path in stores.glob(f"*.{ending}")]


def _wait_for(exists: Callable[[], object], folder: Path) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not exists():
        files = sorted(path.name for path in folder.glob("**/*"))
        assert time.monotonic() < deadline, f"no snapshot within {DEADLINE_S} s, only {files}"
        time.sleep(0.05)
