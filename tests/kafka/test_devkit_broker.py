"""The broker of the devkit is a real one: records, restarts and groups behave as in production."""

import time

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType  # type: ignore[attr-defined]

from devkit.broker import Broker
from devkit.consumer_groups import GroupPartition
from devkit.records import Record
from tests.conftest import TopicFactory


def test_a_record_is_read_with_timestamp_headers_and_offset(broker: Broker, topic: TopicFactory) -> None:
    name = topic(partitions=2)
    headers = (("b", b"1"), ("a", None), ("b", b"2"))

    broker.produce(name, [Record(b"k", b"v", headers=headers, timestamp_ms=1_500_000_000_123, partition=1)])

    expected = Record(b"k", b"v", headers=headers, timestamp_ms=1_500_000_000_123, partition=1, offset=0)
    assert broker.consume(name, 1) == [expected]


def test_missing_keys_tombstones_and_empty_values_are_different(broker: Broker, topic: TopicFactory) -> None:
    name = topic()

    broker.produce(name, [Record(None, b"v"), Record(b"k", None), Record(b"", b"")])

    assert [(record.key, record.value) for record in broker.consume_all(name)] == [
        (None, b"v"),
        (b"k", None),
        (b"", b""),
    ]


def test_a_record_without_timestamp_gets_the_current_time(broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    before_ms = int(time.time() * 1000)

    broker.produce(name, [Record(b"k", b"v")])

    [record] = broker.consume(name, 1)
    assert record.timestamp_ms is not None
    assert before_ms <= record.timestamp_ms <= int(time.time() * 1000)


def test_the_timestamp_that_the_client_cannot_write_is_refused(broker: Broker, topic: TopicFactory) -> None:
    with pytest.raises(ValueError, match="cannot be 0"):
        broker.produce(topic(), [Record(b"k", b"v", timestamp_ms=0)])


def test_keys_are_in_the_partitions_of_java_clients(broker: Broker, topic: TopicFactory) -> None:
    name = topic(partitions=4)

    broker.produce(name, [Record(key, b"") for key in (b"a", b"b", b"c", b"d")])

    # The result of kafka-clients: Utils.toPositive(Utils.murmur2(key)) % 4.
    assert {record.key: record.partition for record in broker.consume_all(name)} == {
        b"a": 0,
        b"b": 0,
        b"c": 2,
        b"d": 1,
    }


def test_consume_reports_the_records_so_far_at_its_deadline(broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    broker.produce(name, [Record(b"k", b"only one")])

    with pytest.raises(AssertionError, match=r"1 of 2 records .*only one"):
        broker.consume(name, 2, deadline_s=0.5)


def test_an_open_transaction_is_visible_only_to_uncommitted_reads(broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, value=b"open")
    producer.flush(30)

    try:
        assert [record.value for record in broker.consume_all(name)] == [b"open"]
        assert broker.consume_all(name, isolation="read_committed") == []
    finally:
        producer.abort_transaction(30)


def test_end_offsets_count_per_partition(broker: Broker, topic: TopicFactory) -> None:
    name = topic(partitions=2)

    broker.produce(name, [Record(b"k", b"v", partition=1)] * 3)

    assert broker.end_offsets(name) == {0: 0, 1: 3}


def test_topics_keep_old_records_by_default(broker: Broker, topic: TopicFactory) -> None:
    kept, short = topic(), topic(config={"retention.ms": "60000"})
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in (kept, short)]

    configs = [future.result(30) for future in admin.describe_configs(resources).values()]

    assert [config["retention.ms"].value for config in configs] == ["-1", "60000"]


def test_a_write_does_not_create_a_topic(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "topic.metadata.propagation.max.ms": 100})
    errors: list[object] = []
    producer.produce("nobody-made-this", value=b"v", on_delivery=lambda error, _: errors.append(error))

    producer.flush(30)

    assert "UNKNOWN_TOPIC" in str(errors)


def test_group_positions_are_those_of_kafka_consumer_groups(broker: Broker, topic: TopicFactory) -> None:
    name = topic(partitions=2)
    broker.produce(name, [Record(b"k", b"v", partition=0)] * 5)
    commit(broker, "group-without-members", TopicPartition(name, 0, 2))

    assert broker.consumer_groups_describe("group-without-members") == [
        GroupPartition(
            group="group-without-members",
            topic=name,
            partition=0,
            current_offset=2,
            log_end_offset=5,
            lag=3,
            consumer_id=None,
        )
    ]


def test_a_group_that_does_not_exist_is_an_error(broker: Broker) -> None:
    with pytest.raises(AssertionError, match="no group nobody"):
        broker.consumer_groups_describe("nobody")


@pytest.mark.timeout(120)
def test_data_groups_and_port_survive_a_stop_and_a_crash() -> None:
    with Broker() as own:
        bootstrap = own.bootstrap
        own.create_topic("kept")
        own.produce("kept", [Record(b"k", b"before", timestamp_ms=1_000)])
        commit(own, "group", TopicPartition("kept", 0, 1))

        own.stop()
        own.start()
        own.produce("kept", [Record(b"k", b"after stop", timestamp_ms=2_000)])
        own.kill()
        own.start()

        assert own.bootstrap == bootstrap
        assert [record.value for record in own.consume_all("kept")] == [b"before", b"after stop"]
        assert own.consumer_groups_describe("group")[0].lag == 1
    assert not own.process.running


@pytest.mark.timeout(120)
def test_a_paused_broker_does_not_respond_until_resumed() -> None:
    with Broker() as own:
        own.create_topic("t")
        own.produce("t", [Record(b"k", b"v")])
        own.pause()
        admin = AdminClient({"bootstrap.servers": own.bootstrap, "log_level": 0})
        with pytest.raises(KafkaException):
            admin.list_topics(timeout=0.5)
        own.resume()

        assert [record.value for record in own.consume("t", 1)] == [b"v"]


def commit(broker: Broker, group: str, position: TopicPartition) -> None:
    """Commit a position for a group without members."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    consumer.commit(offsets=[position], asynchronous=False)
    consumer.close()
