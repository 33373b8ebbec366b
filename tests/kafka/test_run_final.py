"""Final results on a topic that falls silent: the last windows are told, also by a process that never saw a record."""

import json
import uuid
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.records import Record
from devkit.runner import Runner

pytestmark = pytest.mark.timeout(300)

BEGIN_MS = 1_600_000_000_000
"""The beginning of a window of four seconds, and long ago."""


@pytest.mark.parametrize("window", ["TUMBLE 4s", "SESSION 4s"])
def test_windows_of_a_silent_topic_are_told_when_they_are_over(broker: Broker, tmp_path: Path, window: str) -> None:
    mark = uuid.uuid4().hex[:8]
    source, target = f"in-{mark}", f"out-{mark}"
    broker.create_topic(source)
    broker.create_topic(target)
    sql = (
        f"SET emit=final; INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} "
        f"WINDOW BY {window} GRACE BY 3s GROUP BY user"
    )

    def feed(*times_ms: int) -> None:
        value = json.dumps({"user": "a"}).encode()
        broker.produce(source, [Record(b"a", value, timestamp_ms=BEGIN_MS + at) for at in times_ms])

    feed(100, 200)
    runner = Runner(broker.bootstrap, sql, f"final-{mark}", tmp_path / "state")
    with runner:
        first = runner.wait_for(lambda s: s["recordsOut"] == 1, what="the first result")
        feed(20_000)
        runner.read_to(3)
        runner.kill()  # with a window open, which only time will close
        runner.start()
        runner.wait_for(lambda s: s["recordsOut"] >= 1, what="the second result")

    assert [json.loads(record.value or b"")["n"] for record in broker.consume_all(target)] == [2, 1]
    assert first["lateRecordsDropped"] == 0
