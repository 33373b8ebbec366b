"""A processor with state: what survives its process, and late records."""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from devkit.runner import Runner
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(400)

SECOND_MS = 1000
BEGIN_MS = 1_600_000_000_000
"""The start of a window of ten seconds."""


@dataclass(frozen=True)
class Count:
    """A count for each key and ten seconds, with a grace period of five seconds."""

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
        """Produce one record for each second of event time."""
        value = json.dumps({"user": user}).encode()
        times = [BEGIN_MS + int(second * SECOND_MS) for second in seconds]
        self.broker.produce(self.source, [Record(user.encode(), value, timestamp_ms=at) for at in times])

    def counts(self) -> list[int]:
        """All counts that were written, in order."""
        return [json.loads(record.value or b"")["n"] for record in self.broker.consume_all(self.target)]


@pytest.fixture
def count(broker: Broker, tmp_path: Path) -> Count:
    mark = uuid.uuid4().hex[:8]
    made = Count(broker, f"in-{mark}", f"out-{mark}", f"count-{mark}", tmp_path / "state")
    broker.create_topic(made.source)
    broker.create_topic(made.target)
    return made


def test_settings_of_the_program_reach_state_stores_and_clients(count: Count, engine: SparkEngine) -> None:
    sets = "SET rocksdb.write.buffer.size=33554432; SET max.poll.records=100; SET linger.ms=5; SET client.id=counting;"
    count.feed(1, 2)

    with in_process(engine, count.broker.bootstrap, sets + count.sql, count.app_id, count.state_dir) as running:
        running.read_to(2)
        buffer_mib = engine.session.conf.get("spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB")

    assert count.counts() == [2]
    assert buffer_mib == "32"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_window_continues_after_a_crash_and_late_records_are_counted(count: Count) -> None:
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

        for position, second in ((4, 30), (5, 50)):  # the batch after the second one drops records before 30 - 5
            count.feed(second)
            read_at = at(runner.read_to(position)["at"])
            runner.wait_for(lambda s, read_at=read_at: at(s["lastBatch"]["endedAt"]) > read_at)  # type: ignore[misc]
        count.feed(4, 5, 26)
        stream = runner.wait_for(lambda s: s["lateRecordsDropped"] >= 2, condition="two late records")

        assert stream["lateRecordsDropped"] == 2
        assert runner.metrics()["lsql_late_records_dropped_total"] == 2
        assert count.counts() == [2, 3, 1, 1, 1]


@pytest.mark.parametrize("kind", ["INNER", "FULL"])
def test_a_record_too_late_for_a_join_of_streams_is_counted_and_not_joined(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, kind: str
) -> None:
    orders, payments, target = topic(), topic(), topic()
    sql = (
        f"INSERT INTO {target} SELECT STREAM o.id AS ordered, p.id AS paid FROM {orders} AS o "
        f"{kind} JOIN {payments} AS p ON o.id = p.id WITHIN 10s GRACE BY 5s"
    )

    def feed(topic: str, *seconds: int) -> None:
        """Produce one record for each second; its id is the second."""
        for second in seconds:
            value = json.dumps({"id": second}).encode()
            broker.produce(topic, [Record(b"k", value, timestamp_ms=BEGIN_MS + second * SECOND_MS)])

    feed(orders, 1, 2)
    feed(payments, 1)
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(3)
        for number, second in enumerate((100, 101, 102)):  # the batches before determine what is late
            ended = running.status.batches
            feed(orders, second)
            feed(payments, second)
            running.read_to(5 + 2 * number)
            status = running.wait_for(lambda s, ended=ended: s.batches > ended)  # type: ignore[misc]
        assert status.late_records_dropped == 0
        feed(orders, 3, 95)
        feed(payments, 2, 3, 95)
        running.read_to(14)
        status = running.wait_for(lambda s: s.late_records_dropped >= 3)

    assert status.late_records_dropped == 3
    pairs = {
        (row["ordered"], row["paid"]) for row in map(json.loads, (r.value or b"" for r in broker.consume_all(target)))
    }
    met = {(second, second) for second in (1, 95, 100, 101, 102)}
    assert pairs == (met if kind == "INNER" else met | {(2, None)})
