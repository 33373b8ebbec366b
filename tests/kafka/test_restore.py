"""Copies of volumes, and snapshots of running processors, are restored, as docs/guides/backup.md describes.

Fakes have no checkpoints of Spark, and so no state that a copy could miss.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.offline import clone_snapshot, restore_snapshot, take_snapshot
from tests.conftest import TopicFactory


def test_a_restored_copy_continues_with_its_state_and_warns(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic("visits"), topic("counts")
    sql = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} GROUP BY page"
    topics = json.dumps({source: {"value": {"format": "JSON", "schema": {"page": "string"}}}})

    def visit_and_run(folder: Path, position: int) -> tuple[str, ...]:
        """Add a visit, run until the position is read, and end the processor; returns its warnings."""
        broker.produce(source, [Record(None, b'{"page": "home"}')])
        with in_process(engine, broker.bootstrap, sql, f"app-{source}", folder, LSQL_TOPICS=topics) as running:
            running.read_to(position)
            return running.status.warnings

    visit_and_run(tmp_path / "volume", 1)
    shutil.copytree(tmp_path / "volume", tmp_path / "copy")
    assert visit_and_run(tmp_path / "volume", 2) == ()

    [warning] = visit_and_run(tmp_path / "copy", 3)

    assert "restored" in warning
    written = counts(broker, target)
    assert written[:2] == [1, 2]
    assert written[-1] == 3


def counts(broker: Broker, target: str) -> list[int]:
    return [json.loads(record.value or b"")["n"] for record in broker.consume_all(target)]


@pytest.mark.parametrize("mode", ["auto", "batch"])
def test_a_snapshot_of_a_running_processor_continues_there_and_in_another_one(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target, other = topic("visits"), topic("counts"), topic("other")
    topics = json.dumps({source: {"value": {"format": "JSON", "schema": {"page": "string"}}}})

    def count(into: str) -> str:
        select = f"SELECT STREAM COUNT(*) AS n FROM {source} GROUP BY page"
        return f"SET processing.mode='{mode}'; INSERT INTO {into} {select}"

    def visit(number: int) -> None:
        broker.produce(source, [Record(None, b'{"page": "home"}')] * number)

    app = f"app-{source}"
    environment = {"SQL_APP_ID": app, "SQL_STATE_STORE_DIR": str(tmp_path)}
    visit(10)
    with in_process(engine, broker.bootstrap, count(target), app, tmp_path, LSQL_TOPICS=topics) as running:
        running.wait_for(lambda s: s.batches == 1)
        visit(1)
        running.read_to(11)
        [taken] = take_snapshot(environment, "monday").positions.values()
        visit(5)
        running.read_to(16)
    assert 10 <= taken <= 11

    clone_snapshot(environment, "monday", "other")
    restore_snapshot(environment, "monday")
    for sql, name, end in ((count(target), app, 16), (count(other), "other", 16)):
        with in_process(engine, broker.bootstrap, sql, name, tmp_path, LSQL_TOPICS=topics) as running:
            running.read_to(end)

    assert counts(broker, target)[-1] == 16
    of_clone = counts(broker, other)
    assert (of_clone[0] > taken, of_clone[-1]) == (True, 16)
