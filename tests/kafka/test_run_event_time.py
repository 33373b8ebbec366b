"""Event time of topics whose partitions are read at different speeds, and of records with wrong clocks.

Only a broker has partitions with unread records; the limits themselves are tested in EventTimesTest.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(300)

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
BEGIN_MS = 1_600_000_000_000 - 1_600_000_000_000 % DAY_MS
EACH = 240
"""Records of a partition."""


def records_of(day: int) -> Iterator[Record]:
    """A record for each minute, in three groups."""
    for number in range(EACH):
        value = json.dumps({"user": f"u{number % 3}"}).encode()
        yield Record(None, value, timestamp_ms=BEGIN_MS + day * DAY_MS + number * 60_000, partition=day % 2)


def counts(broker: Broker, target: str) -> dict[bytes, int]:
    """The last count of each group and window."""
    last = {record.key or b"": record.value for record in broker.consume_all(target)}
    return {key: json.loads(value)["n"] for key, value in last.items() if value is not None}


@pytest.mark.parametrize(
    ("window", "emit"),
    [
        ("TUMBLE 1h", "changes"),
        pytest.param("TUMBLE 1h", "final", marks=pytest.mark.thorough),
        pytest.param("SESSION 10m", "changes", marks=pytest.mark.thorough),
        ("SESSION 10m", "final"),
    ],
)
def test_no_record_of_a_backlog_is_late(
    emit: str, window: str, broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """One partition begins days before the other one, and batches read a part of each."""
    source, target = topic(partitions=2, config={"retention.ms": "-1"}), topic()
    broker.produce(source, [*records_of(day=0), *records_of(day=5)])
    sql = (
        f"SET emit={emit}; INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY {window} "
        "GRACE BY 1h GROUP BY user"
    )

    app_id = f"backlog-{source}"
    with in_process(engine, broker.bootstrap, sql, app_id, tmp_path, LSQL_MAX_RECORDS_PER_BATCH="100") as running:
        status = running.read_to(2 * EACH)
        if emit == "final":  # the last windows close long after their records
            end_ms = BEGIN_MS + 5 * DAY_MS + (EACH + 60) * 60_000
            broker.produce(source, [Record(None, b'{"user": "end"}', timestamp_ms=end_ms + DAY_MS, partition=0)])
            status = running.wait_for(lambda s: sum(counts(broker, target).values()) >= 2 * EACH)

    assert status.late_records_dropped == 0
    assert sum(counts(broker, target).values()) == 2 * EACH


def test_a_record_of_the_far_future_makes_no_other_record_late(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = (topic(config={"message.timestamp.after.max.ms": str(2**63 - 1)}) for _ in range(2))
    now_ms = time.time_ns() // 1_000_000
    sql = (
        f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY TUMBLE 1h GRACE BY 1h GROUP BY user"
    )

    def feed(*times_ms: int) -> None:
        broker.produce(source, [Record(None, b'{"user": "a"}', timestamp_ms=at) for at in times_ms])

    with in_process(engine, broker.bootstrap, sql, f"future-{source}", tmp_path) as running:
        feed(now_ms)
        running.read_to(1)
        feed(now_ms + 230 * 365 * DAY_MS)
        running.wait_for(lambda s: s.future_records == 1)  # event time advances at the end of the batch
        feed(now_ms, now_ms + 1)
        status = running.read_to(4)

    assert status.late_records_dropped == 0
    assert status.future_records == 1
    assert any("max.future.ms" in text for text in status.warnings)
    assert sorted(counts(broker, target).values()) in ([1, 3], [1, 1, 2])  # a window may end between the two times


@pytest.mark.parametrize("window", ["TUMBLE 1h", "SESSION 10m"])
def test_late_records_are_dead_letters_once(
    window: str, broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    """A stop between the batches, and the transactions in which results and dead letters are written, need a broker."""
    source, target, dead = topic(config={"retention.ms": "-1"}), topic(), topic(config={"retention.ms": "-1"})
    sql = (
        f"SET late.records='dlq'; SET dead.letter.queue='{dead}'; INSERT INTO {target} "
        f"SELECT STREAM COUNT(*) AS n FROM {source} WINDOW BY {window} GRACE BY 0s GROUP BY user"
    )

    def feed(user: str, *minutes: int) -> None:
        value = json.dumps({"user": user}).encode()
        broker.produce(source, [Record(None, value, timestamp_ms=BEGIN_MS + at * 60_000) for at in minutes])

    for step in range(2):
        with in_process(
            engine, broker.bootstrap, sql, f"late-{source}", tmp_path, LSQL_GUARANTEE="exactly_once"
        ) as run:
            day = 24 * 60 * (step + 1)
            for number, minutes in enumerate([(day,), (day + 1, day + 2), (1, day + 3, 2), (3,)]):
                feed("u", *minutes)
                read = 7 * step + (1, 3, 6, 7)[number]
                if number == 1:  # event time advances at the end of the batch
                    run.wait_for(lambda s, read=read: sum(s.committed.values()) == read)  # type: ignore[misc]
                else:
                    run.read_to(read)
            status = run.wait_for(lambda s: s.late_records_dropped >= 3)
        assert status.late_records_dropped == 3
        assert status.failed_records == {("dead_letter", source, "RECORD_LATE"): 3}

    late = broker.consume_all(dead)
    assert [record.timestamp_ms for record in late] == 2 * [BEGIN_MS + at * 60_000 for at in (1, 2, 3)]
    assert {dict(record.headers)["lsql.error.code"] for record in late} == {b"RECORD_LATE"}
    assert sum(counts(broker, target).values()) == 14 - len(late)
