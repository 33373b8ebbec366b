"""A volume is copied after its processor has ended, and restored, as docs/guides/backup.md describes.

Fakes have no checkpoints of Spark, and so no state that a copy could miss.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
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
    written = [json.loads(record.value or b"")["n"] for record in broker.consume_all(target)]
    assert written[:2] == [1, 2]
    assert written[-1] == 3
