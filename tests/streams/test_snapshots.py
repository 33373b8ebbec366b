"""State on the disk: a store writes snapshots, so that a restart need not go through every change since the first."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.engine.rows import Rows, TopicRecord

DEADLINE_S = 30
BATCHES = 5


def test_a_state_store_writes_snapshots_and_goes_on_from_them(engine: MemoryEngine, tmp_path: Path) -> None:
    session = engine.session
    session.conf.set("spark.sql.streaming.stateStore.minDeltasForSnapshot", "2")
    session.conf.set("spark.sql.streaming.stateStore.maintenanceInterval", "200ms")
    rows = Rows(session)
    stream = rows.stream()
    counted: list[int] = []

    def run() -> StreamingQuery:
        def collect(frame: DataFrame, _: int) -> None:
            counted.extend(row["count"] for row in frame.collect())

        counts = rows.streamed(stream).groupBy("key").count()
        writer = counts.writeStream.outputMode("update").option("checkpointLocation", str(tmp_path / "c"))
        return writer.foreachBatch(collect).start()

    def feed(query: StreamingQuery, number: int) -> None:
        stream.addData(rows.sequence([TopicRecord("t", b"k", b"v", 0, offset=number)]))
        query.processAllAvailable()

    stores = tmp_path / "c/state/0/0"
    query = run()
    try:
        for number in range(BATCHES):
            feed(query, number)
        _wait_for(lambda: _versions(stores, "zip"), stores)
    finally:
        query.stop()
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()  # forgets what is in memory, as a restart does
    newest = max(_versions(stores, "zip"))
    for changes in stores.glob("*.changelog"):
        if int(changes.name.partition("_")[0]) <= newest:
            changes.unlink()
    query = run()
    try:
        feed(query, BATCHES)
    finally:
        query.stop()

    assert counted == list(range(1, BATCHES + 2))


def _versions(stores: Path, ending: str) -> list[int]:
    return [int(path.name.partition("_")[0]) for path in stores.glob(f"*.{ending}")]


def _wait_for(there: Callable[[], object], folder: Path) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not there():
        found = sorted(path.name for path in folder.glob("**/*"))
        assert time.monotonic() < deadline, f"nothing within {DEADLINE_S} s, only {found}"
        time.sleep(0.05)
