"""A processor with state: what outlives its process, and late records."""

import json
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from lsql_runner.engine.processor import SparkEngine
from tests.kit.broker import Broker
from tests.kit.in_process import in_process
from tests.kit.records import Record
from tests.kit.runner import Runner

pytestmark = pytest.mark.timeout(400)

SECOND_MS = 1000
BEGIN_MS = 1_600_000_000_000
"""The beginning of a window of ten seconds."""


@dataclass(frozen=True)
class Count:
    """A count for each key and ten seconds, with a grace of five."""

    broker: Broker
    source: str
    target: str
    app_id: str
    state_dir: Path

    @property
    def sql(self) -> str:
        return (
            f"INSERT INTO {self.target} SELECT STREAM user, COUNT(*) AS n FROM {self.source} "
            "WINDOW BY TUMBLE 10s GRACE BY 5s GROUP BY user"
        )

    def runner(self, **env: str) -> Runner:
        return Runner(self.broker.bootstrap, self.sql, self.app_id, self.state_dir, **env)

    def feed(self, *seconds: float, user: str = "a") -> None:
        """Gives one record for each second of event time."""
        value = json.dumps({"user": user}).encode()
        times = [BEGIN_MS + int(second * SECOND_MS) for second in seconds]
        self.broker.produce(self.source, [Record(user.encode(), value, timestamp_ms=at) for at in times])

    def counts(self) -> list[int]:
        """All counts written, in order."""
        return [json.loads(record.value or b"")["n"] for record in self.broker.consume_all(self.target)]


@pytest.fixture
def count(broker: Broker, tmp_path: Path) -> Count:
    mark = uuid.uuid4().hex[:8]
    made = Count(broker, f"in-{mark}", f"out-{mark}", f"count-{mark}", tmp_path / "state")
    broker.create_topic(made.source)
    broker.create_topic(made.target)
    return made


def test_the_program_sets_state_stores_and_clients(count: Count, engine: SparkEngine) -> None:
    sets = "SET rocksdb.write.buffer.size=33554432; SET max.poll.records=100; SET linger.ms=5; SET client.id=counting;"
    count.feed(1, 2)

    with in_process(engine, count.broker.bootstrap, sets + count.sql, count.app_id, count.state_dir) as running:
        running.read_to(2)
        buffer_mib = engine.session.conf.get("spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB")

    assert count.counts() == [2]
    assert buffer_mib == "32"


def test_a_window_goes_on_counting_after_a_crash_and_counts_who_is_late(count: Count) -> None:
    count.feed(1, 2)
    runner = count.runner()
    with runner:
        runner.read_to(2)
        assert count.counts() == [2]

        runner.kill()
        count.feed(3)
        runner.start()
        runner.read_to(3)
        assert count.counts() == [2, 3]

        count.feed(30)
        runner.read_to(4)
        count.feed(50)  # the batch after this one takes nothing for windows that ended at 30 - 5
        runner.read_to(5)
        count.feed(4, 5, 26)
        stream = runner.wait_for(lambda s: s["lateRecordsDropped"] > 0, what="a late record")

        assert stream["lateRecordsDropped"] == 2
        assert runner.metrics()["lsql_late_records_dropped_total"] == 2
        assert count.counts() == [2, 3, 1, 1, 1]
