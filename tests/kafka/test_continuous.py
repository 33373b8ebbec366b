"""SET processing.mode='continuous': output and position after stops, kills and errors, as in batches."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from devkit.runner import Runner
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.batches import Partition
from tests.conftest import TopicFactory
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(200)

CONTINUOUS = "SET processing.mode='continuous'; "


def records(numbers: Iterable[int]) -> list[Record]:
    return [
        Record(b"key-%d" % (number % 7), json.dumps({"id": number, "n": number % 10}).encode()) for number in numbers
    ]


def ids(broker: Broker, topic: str) -> Counter[int]:
    return Counter(json.loads(record.value or b"")["id"] for record in broker.consume_all(topic))


def test_stops_between_records_lose_and_repeat_nothing(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=5), topic(partitions=3)
    sql = f"{CONTINUOUS} INSERT INTO {target} SELECT STREAM * FROM {source}"
    for number in range(3):
        broker.produce(source, records(range(number * 20_000, (number + 1) * 20_000)))
        with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
            running.read_to(number * 20_000 + 1)

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(60_000)

    assert ids(broker, target) == Counter(range(60_000))


def test_records_of_a_key_keep_their_order_key_headers_and_timestamp(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=4), topic(partitions=3)
    sent = [replace(r, headers=(("trace", b"t"),), timestamp_ms=1_600_000_000_000) for r in records(range(5_000))]
    broker.produce(source, sent)
    sql = f"{CONTINUOUS} INSERT INTO {target} SELECT STREAM * FROM {source} WHERE n > 4"
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        status = running.read_to(5_000)

    assert (status.records_in, status.records_out) == (5_000, 2_500)
    by_key: dict[bytes, list[int]] = {}
    identities: set[bytes | None] = set()
    for record in broker.consume_all(target):
        by_key.setdefault(record.key or b"", []).append(json.loads(record.value or b"")["id"])
        assert record.timestamp_ms == 1_600_000_000_000
        assert [name for name, _ in record.headers] == ["trace", "lsql.batch", "lsql.id"]
        headers = dict(record.headers)
        assert headers["trace"] == b"t"
        assert re.fullmatch(rb"app-%s/[0-9a-f]{8}/stateless/0" % target.encode(), headers["lsql.batch"] or b"")
        identities.add(headers["lsql.id"])
    assert len(by_key) == 7
    assert len(identities) == 2_500
    assert all(numbers == sorted(numbers) for numbers in by_key.values())


@pytest.mark.parametrize("later", inputs(["continuous", "batch"], "continuous".__eq__))
def test_a_kill_loses_and_repeats_nothing(broker: Broker, topic: TopicFactory, tmp_path: Path, later: str) -> None:
    source, target = topic(partitions=4), topic()
    sql = f"{CONTINUOUS} INSERT INTO {target} SELECT STREAM * FROM {source}"
    broker.produce(source, records(range(1_000)))
    runner = Runner(broker.bootstrap, sql, f"app-{target}", tmp_path)
    with runner:
        runner.read_to(1_000)  # saved: only later records are searched in the target
        broker.produce(source, records(range(1_000, 3_000)))
        deadline = time.monotonic() + 30
        while sum(broker.end_offsets(target).values()) < 3_000:
            assert time.monotonic() < deadline
        runner.kill()
    later_sql = sql.replace("continuous", later, 1)
    with Runner(broker.bootstrap, later_sql, f"app-{target}", tmp_path) as restarted:
        restarted.read_to(3_000)

    assert ids(broker, target) == Counter(range(3_000))


def test_a_later_start_can_use_the_other_mode(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    first, second, target = topic(partitions=2), topic(), topic()
    inserts = "; ".join(f"INSERT INTO {target} SELECT STREAM * FROM {source}" for source in (first, second))
    for start, mode in enumerate(["batch", "continuous", "batch", "continuous"]):
        broker.produce(first, records([2 * start]))
        broker.produce(second, records([2 * start + 1]))
        sql = f"SET processing.mode='{mode}'; {inserts}"
        with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
            running.read_to(2 * start + 2)

    assert ids(broker, target) == Counter(range(8))


def test_several_inserts_of_one_topic_each_read_all_of_it(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source = topic(partitions=5)
    targets = [topic() for _ in range(4)]
    inserts = [f"INSERT INTO {target} SELECT STREAM * FROM {source} WHERE n > {n}" for n, target in enumerate(targets)]
    broker.produce(source, records(range(1_000)))
    with in_process(engine, broker.bootstrap, CONTINUOUS + "; ".join(inserts), f"app-{source}", tmp_path) as running:
        status = running.read_to(1_000)

    for n, target in enumerate(targets):
        assert ids(broker, target) == Counter(number for number in range(1_000) if number % 10 > n)
    assert (status.records_in, status.records_out) == (1_000, 900 + 800 + 700 + 600)


def test_a_malformed_record_ends_the_program_and_is_located(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic()
    sql = f"{CONTINUOUS} INSERT INTO {target} SELECT STREAM * FROM {source} WHERE n > 4"
    broker.produce(source, records(range(100)))
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(100)
        offset = broker.end_offsets(source)[1]
        broker.produce(source, [Record(b"k", b'{"id": 1, "n"', partition=1)])
        reason = running.wait_for(lambda status: status.reason is not None).reason

    assert reason is not None
    assert reason.code == "RECORD_MALFORMED"
    assert (reason.params["topic"], reason.params["partition"], reason.params["offset"]) == (source, 1, offset)


def test_failed_records_are_counted_and_written_as_dead_letters(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(), topic()
    policy = f"SET error.policy='dlq'; SET dead.letter.queue='{dead}';"
    sql = f"{CONTINUOUS} {policy} INSERT INTO {target} SELECT STREAM id / n AS q FROM {source}"
    broker.produce(source, records([5, 10, 6]))
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        status = running.read_to(3)

    assert sum(status.failed_records.values()) == 1
    assert status.failed_records.keys() == {("dead_letter", source, next(iter(status.failed_records))[2])}
    assert [json.loads(record.value or b"")["id"] for record in broker.consume_all(dead)] == [10]
    assert len(broker.consume_all(target)) == 2


def test_the_current_time_advances(broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path) -> None:
    source, target = topic(), topic()
    sql = f"{CONTINUOUS} INSERT INTO {target} SELECT STREAM id, NOW() AS at FROM {source}"
    broker.produce(source, records([1]))
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(1)
        broker.produce(source, records([2]))
        running.read_to(2)

    first, second = (json.loads(record.value or b"")["at"] for record in broker.consume_all(target))
    assert first < second


def test_the_group_shows_the_position(broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path) -> None:
    source, target = topic(partitions=2), topic()
    sql = f"{CONTINUOUS} INSERT INTO {target} SELECT STREAM * FROM {source}"
    broker.produce(source, records(range(10)))
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        committed = running.read_to(10).committed

    assert committed == {Partition(source, number): end for number, end in broker.end_offsets(source).items()}
    rows = broker.consumer_groups_describe(f"app-{target}")
    assert sum(row.current_offset or 0 for row in rows) == 10


def test_a_condition_that_is_never_true_reads_the_records(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(partitions=2), topic()
    broker.produce(source, records(range(100)))
    sql = f"{CONTINUOUS} INSERT INTO {target} SELECT STREAM * FROM {source} WHERE 1 > 2"
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        status = running.read_to(100)

    assert (status.records_in, status.records_out) == (100, 0)
    assert not broker.consume_all(target)
