"""Final results of a topic without new records: windows close as time passes, even after a restart."""

import json
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(300)

BEGIN_MS = 1_600_000_000_000
"""The start of a window of four seconds, long ago."""
WINDOWS = ("TUMBLE 4s", "SESSION 4s")


def test_windows_of_an_idle_topic_are_written_once_they_are_over(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """The second run closes the window of a record that only the first run has read."""
    source, targets = topic(), [topic() for _ in WINDOWS]
    inserts = [
        f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY {window} GRACE BY 3s GROUP BY user"
        for window, target in zip(WINDOWS, targets, strict=True)
    ]
    sql = f"SET emit=final; {'; '.join(inserts)}"

    def feed(*times_ms: int) -> None:
        value = json.dumps({"user": "a"}).encode()
        broker.produce(source, [Record(b"a", value, timestamp_ms=BEGIN_MS + at) for at in times_ms])

    feed(100, 200)
    with in_process(engine, broker.bootstrap, sql, f"final-{source}", tmp_path) as running:
        first = running.wait_for(lambda s: s.records_out == len(WINDOWS))
        feed(20_000)
        running.read_to(3)
    with in_process(engine, broker.bootstrap, sql, f"final-{source}", tmp_path) as running:
        running.wait_for(lambda s: s.records_out >= len(WINDOWS))

    for target in targets:
        assert [json.loads(record.value or b"")["n"] for record in broker.consume_all(target)] == [2, 1]
    assert first.late_records_dropped == 0
