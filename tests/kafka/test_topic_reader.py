"""How topics are read, in batches and continuously: transactions, added partitions, deleted records."""

import json
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined]

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from devkit.waiting import wait_until
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from lsql_runner.runtime import position_reporter
from tests.conftest import TopicFactory
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(120)


def value(number: int) -> bytes:
    return json.dumps({"id": number}).encode()


def record(number: int) -> Record:
    return Record(b"k", value(number))


@pytest.fixture(params=["batch", "continuous"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def copy_of(source: str, target: str, mode: str) -> str:
    return f"SET processing.mode='{mode}'; INSERT INTO {target} SELECT STREAM * FROM {source}"


def ids(broker: Broker, topic: str) -> list[int]:
    return sorted(json.loads(each.value or b"")["id"] for each in broker.consume_all(topic))


def recreate(broker: Broker, source: str, numbers: range) -> None:
    """Delete a topic, create it again, and write records to it."""
    broker.delete_topic(source)
    broker.create_topic(source)
    broker.produce(source, [record(number) for number in numbers])


def write_transaction(broker: Broker, topic: str, name: str, numbers: range, commit: bool) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in numbers:
        producer.produce(topic, value=value(number), partition=0)
    producer.flush(30)
    (producer.commit_transaction if commit else producer.abort_transaction)(30)


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "continuous".__eq__))
def test_aborted_records_are_not_read_with_read_committed(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    sql = f"SET consumer.isolation.level='read_committed'; {copy_of(source, target, mode)}"
    broker.produce(source, [record(0)])  # the types of the topic
    write_transaction(broker, source, f"a-{source}", range(1, 5), commit=True)

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(6)  # five records and a marker
        write_transaction(broker, source, f"b-{source}", range(5, 9), commit=False)
        running.read_to(11)
        write_transaction(broker, source, f"c-{source}", range(9, 12), commit=True)
        running.read_to(15)

    assert ids(broker, target) == [0, 1, 2, 3, 4, 9, 10, 11]


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "continuous".__eq__))
def test_a_partition_that_is_added_is_read(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [record(1)])
    with in_process(engine, broker.bootstrap, copy_of(source, target, mode), f"app-{target}", tmp_path) as running:
        running.read_to(1)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        for added in admin.create_partitions([NewPartitions(source, 3)]).values():
            added.result(30)
        producer = Producer({"bootstrap.servers": broker.bootstrap})  # a new one knows the partitions
        producer.produce(source, value(2), partition=1)
        producer.produce(source, value(3), partition=2)
        assert producer.flush(30) == 0
        running.read_to(3)

    assert ids(broker, target) == [1, 2, 3]


def test_a_topic_that_was_created_again_is_an_error(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    sql = copy_of(source, target, mode)
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(2)
    recreate(broker, source, range(3, 4))

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        failed = running.wait_for(lambda status: status.reason is not None)

    assert failed.reason is not None
    assert failed.reason.code == "OFFSETS_OUT_OF_RANGE"


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "batch".__eq__))
def test_a_topic_that_was_created_again_with_more_records_is_an_error_or_read_from_its_first_record(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    sql = copy_of(source, target, mode)
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(2)
    recreate(broker, source, range(3, 6))

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        failed = running.wait_for(lambda status: status.reason is not None)
    assert failed.reason is not None
    assert (failed.state, failed.reason.code) == (State.FAILED, "OFFSETS_OUT_OF_RANGE")
    assert ids(broker, target) == [1, 2]

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path, LSQL_ON_DATA_LOSS="continue") as running:
        running.read_to(3)
    assert ids(broker, target) == [1, 2, 3, 4, 5]


def test_a_topic_that_is_deleted_while_it_is_read_is_named(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, copy_of(source, target, mode), f"app-{target}", tmp_path) as running:
        running.read_to(2)
        broker.delete_topic(source)

        failed = running.wait_for(lambda status: status.reason is not None, deadline_s=10)
        assert failed.reason is not None
        assert (failed.reason.code, failed.reason.params) == ("TOPIC_DELETED", {"topic": source})

        broker.create_topic(source)
        broker.produce(source, [record(number) for number in (3, 4, 5)])
        recreated = running.wait_for(lambda status: status.state is State.FAILED)
        assert recreated.reason is not None
        assert recreated.reason.code == "OFFSETS_OUT_OF_RANGE"
    assert ids(broker, target) == [1, 2]


@pytest.fixture
def without_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing looks at the topics from time to time: only who reads a record sees whose it is."""
    monkeypatch.setattr(position_reporter, "_CHECK_MS", 3_600_000)


@pytest.mark.usefixtures("without_checks")
def test_no_record_is_read_at_the_position_of_a_topic_that_was_deleted_and_created_again(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    sql = copy_of(source, target, mode)
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(2)
        recreate(broker, source, range(3, 8))
        failed = running.wait_for(lambda status: status.state is State.FAILED)
    assert failed.reason is not None
    assert failed.reason.code == "OFFSETS_OUT_OF_RANGE"
    assert f"the topic {source} was deleted and created again" in failed.reason.message
    assert ids(broker, target) == [1, 2]


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "continuous".__eq__))
@pytest.mark.usefixtures("without_checks")
def test_each_record_is_read_once_of_a_topic_that_is_created_again_and_again(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    sql, env = copy_of(source, target, mode), {"LSQL_ON_DATA_LOSS": "continue"}
    broker.produce(source, [record(0), record(1)])
    written = 2
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path, **env) as running:
        running.read_to(2)
        for count in range(3, 9):  # several times: what a consumer knows between two topics is a race
            recreate(broker, source, range(written, written + count))
            written += count
            # The sum of the positions of the old topic may be the same.
            wait_until(partial(has_records, broker, target, written), f"{written} records", 60)
            running.read_to(count)
    assert ids(broker, target) == list(range(written))


def has_records(broker: Broker, topic: str, count: int) -> bool:
    return len(broker.consume_all(topic)) >= count


@pytest.mark.usefixtures("without_checks")
@pytest.mark.parametrize("guarantee", ["exactly_once", "at_least_once"])
def test_state_has_no_record_from_the_position_of_a_topic_that_was_deleted_and_created_again(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, guarantee: str
) -> None:
    source, target = topic(), topic()
    count = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS id FROM {source} GROUP BY _key"
    sql = f"SET processing.guarantee='{guarantee}'; {count}"
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(2)
        recreate(broker, source, range(3, 8))
        running.wait_for(lambda status: status.state is State.FAILED)
    assert ids(broker, target)[-1] == 2

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path, LSQL_ON_DATA_LOSS="continue") as running:
        running.read_to(5)
    assert ids(broker, target)[-1] == 7


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "continuous".__eq__))
def test_a_position_of_the_group_in_an_earlier_topic_is_not_used_without_the_volume(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    sql, app = copy_of(source, target, mode), f"app-{target}"
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, sql, app, tmp_path / "lost") as running:
        running.read_to(2)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": app})
    (last,) = consumer.committed([TopicPartition(source, 0)], 30)
    recreate(broker, source, range(3, 8))
    # Brokers delete the positions of a deleted topic; a process that has not noticed it commits them again.
    consumer.commit(offsets=[TopicPartition(source, 0, 2, last.metadata)], asynchronous=False)
    consumer.close()

    with in_process(engine, broker.bootstrap, sql, app, tmp_path / "new") as running:
        failed = running.wait_for(lambda status: status.reason is not None)
    assert failed.reason is not None
    assert f"the topic {source} was deleted and created again" in failed.reason.message

    env = {"LSQL_ON_DATA_LOSS": "continue"}
    with in_process(engine, broker.bootstrap, sql, app, tmp_path / "new", **env) as running:
        running.read_to(5)
    assert ids(broker, target) == list(range(1, 8))


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "batch".__eq__))
def test_deleted_records_are_an_error_and_skipped_on_request(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path, mode: str
) -> None:
    source, target = topic(), topic()
    sql = copy_of(source, target, mode)
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(2)
    broker.produce(source, [record(3), record(4)])
    broker.delete_records(source, 0, before=3)

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        failed = running.wait_for(lambda status: status.reason is not None)
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path, LSQL_ON_DATA_LOSS="continue") as running:
        running.read_to(4)

    assert failed.reason is not None
    assert failed.reason.code == "OFFSETS_OUT_OF_RANGE"
    assert ids(broker, target) == [1, 2, 4]


def test_state_is_kept_when_a_topic_is_created_again_and_lost_records_are_allowed(
    broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target = topic(), topic()
    sql = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS id FROM {source} GROUP BY _key"
    broker.produce(source, [record(1), record(2)])
    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path) as running:
        running.read_to(2)
    recreate(broker, source, range(3, 6))

    with in_process(engine, broker.bootstrap, sql, f"app-{target}", tmp_path, LSQL_ON_DATA_LOSS="continue") as running:
        running.read_to(3)

    assert ids(broker, target)[-1] == 5


def lose_records(broker: Broker, topic: str) -> None:
    """Lose all records of a partition, as when a replica without them is elected: the id of the topic stays."""
    broker.stop()
    for file in (broker.process.folder / "data" / f"{topic}-0").iterdir():
        if file.name != "partition.metadata":
            file.unlink()
    broker.start()


@pytest.mark.parametrize("mode", inputs(["batch", "continuous"], "batch".__eq__))
def test_new_records_at_lost_offsets_are_not_taken_for_written_ones(
    engine: SparkEngine, tmp_path: Path, mode: str
) -> None:
    sql = copy_of("source", "target", mode)
    with Broker() as broker:
        broker.create_topic("source")
        broker.create_topic("target")
        broker.produce("source", [record(number) for number in range(10)])
        with in_process(engine, broker.bootstrap, sql, "app", tmp_path) as running:
            running.read_to(10)
            lose_records(broker, "source")
            broker.produce("source", [record(number) for number in range(10, 14)])
            failed = running.wait_for(lambda status: status.state is State.FAILED)
        assert failed.reason is not None
        assert failed.reason.code == "OFFSETS_OUT_OF_RANGE"

        with in_process(engine, broker.bootstrap, sql, "app", tmp_path, LSQL_ON_DATA_LOSS="continue") as running:
            running.wait_for(lambda status: status.state is State.RUNNING)
            broker.produce("source", [record(number) for number in range(14, 20)])
            running.read_to(10)
            lose_records(broker, "source")
            broker.produce("source", [record(number) for number in range(20, 24)])
            running.wait_for(lambda status: sum(status.committed.values()) == 4 and status.state is State.RUNNING)
            broker.produce("source", [record(number) for number in range(24, 30)])
            running.read_to(10)
        # The records that came before the loss was noticed were skipped: records of the first loss, whose error ended
        # the processor, and of the second one, unless it was noticed before they came.
        before, after = [*range(10), *range(14, 20)], list(range(24, 30))
        assert ids(broker, "target") in ([*before, *after], [*before, *range(20, 24), *after])
