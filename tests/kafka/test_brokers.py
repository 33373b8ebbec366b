"""Questions to real brokers, as the processor asks them."""

import time
import uuid
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import TopicPartition

from lsql_runner.batches import Partition
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.brokers import KafkaBrokers, RawRecord, TopicRequest
from lsql_runner.kafka.client import KafkaConnection
from tests.conftest import TopicFactory
from tests.kit.broker import Broker
from tests.kit.process import free_port
from tests.kit.records import Record

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def brokers(broker: Broker) -> KafkaBrokers:
    return KafkaBrokers(KafkaConnection(broker.bootstrap))


def test_topics_are_told_with_their_partitions(brokers: KafkaBrokers, topic: TopicFactory) -> None:
    name = topic(partitions=3)

    assert brokers.topics()[name] == 3


def test_a_topic_is_created_as_asked_and_only_once(brokers: KafkaBrokers) -> None:
    name = f"made-{uuid.uuid4().hex[:8]}"

    brokers.create(TopicRequest(name, 2, 1, (("retention.ms", "1000"),)))
    brokers.create(TopicRequest(name, 5))

    deadline = time.monotonic() + 30
    while name not in brokers.topics() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert brokers.topics()[name] == 2


def test_a_setting_that_the_brokers_do_not_know_is_refused(brokers: KafkaBrokers) -> None:
    with pytest.raises(LsqlError) as caught:
        brokers.create(TopicRequest("made-wrong", config=(("retention.ms", "soon"),)))

    assert (caught.value.code, caught.value.params["topic"]) == ("TOPIC_REFUSED", "made-wrong")


def test_ends_and_begins_are_offsets(brokers: KafkaBrokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic(partitions=2)
    broker.produce(name, [Record(b"k", b"v", partition=1)] * 3)
    both = [Partition(name, 0), Partition(name, 1)]

    assert brokers.ends(both) == {both[0]: 0, both[1]: 3}
    assert brokers.begins(both) == {both[0]: 0, both[1]: 0}
    assert brokers.ends([]) == {}


def test_a_position_comes_back_and_is_seen_by_the_tool(
    brokers: KafkaBrokers, broker: Broker, topic: TopicFactory
) -> None:
    name, group = topic(partitions=2), f"group-{uuid.uuid4().hex[:8]}"
    broker.produce(name, [Record(b"k", b"v", partition=1)] * 3)
    first, second = Partition(name, 0), Partition(name, 1)
    assert brokers.group_positions(group, [first, second]) == {}

    brokers.commit(group, {second: 2})

    assert brokers.group_positions(group, [first, second]) == {second: 2}
    assert [(row.partition, row.lag) for row in broker.consumer_groups_describe(group)] == [(1, 1)]


def test_a_sample_holds_the_newest_records_of_all_partitions(
    brokers: KafkaBrokers, broker: Broker, topic: TopicFactory
) -> None:
    name = topic(partitions=2)
    broker.produce(name, [Record(b"k", b"%d" % n, partition=n % 2) for n in range(10)])

    sample = brokers.sample(name, 4)

    assert sorted(record.value or b"" for record in sample) == [b"6", b"7", b"8", b"9"]
    assert brokers.sample(topic(), 4) == []


def test_one_record_is_read_by_its_place(brokers: KafkaBrokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    broker.produce(name, [Record(b"a", b"1"), Record(None, None)])
    place = Partition(name, 0)

    assert brokers.record(place, 1) == RawRecord(place, 1, None, None)
    assert brokers.record(place, 0) == RawRecord(place, 0, b"a", b"1")
    assert brokers.record(place, 2) is None


def test_brokers_that_are_not_there_are_unreachable() -> None:
    nobody = KafkaBrokers(KafkaConnection(f"127.0.0.1:{free_port()}"), answer_s=0.5)

    with pytest.raises(LsqlError) as caught:
        nobody.topics()

    assert caught.value.code == "BROKER_UNREACHABLE"


def test_the_first_group_of_a_cluster_and_a_restart_of_the_broker_are_outlived() -> None:
    with Broker() as own:
        own.create_topic("only")
        own.produce("only", [Record(b"k", b"v")])
        place = Partition("only", 0)
        brokers = KafkaBrokers(KafkaConnection(own.bootstrap), answer_s=3)
        assert brokers.group_positions("first", [place]) == {}
        brokers.commit("first", {place: 1})
        assert brokers.ends([place]) == {place: 1}

        own.stop()
        for ask in (lambda: brokers.ends([place]), lambda: brokers.commit("first", {place: 1})):
            with pytest.raises(LsqlError) as caught:
                ask()
            assert caught.value.code == "BROKER_UNREACHABLE"

        own.start()
        assert brokers.group_positions("first", [place]) == {place: 1}
        assert brokers.ends([place]) == {place: 1}


def test_a_partition_that_answers_without_an_end_has_no_leader(
    brokers: KafkaBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker on its way down does so now and then, with no error, so it cannot be had from one at will."""

    class GoingDown:
        def list_offsets(
            self, asked: dict[TopicPartition, object], **_: object
        ) -> dict[TopicPartition, Future[object]]:
            answers = {place: Future[object]() for place in asked}
            for future in answers.values():
                future.set_result(SimpleNamespace(offset=-1))
            return answers

    monkeypatch.setattr(brokers, "_admin", GoingDown())

    with pytest.raises(LsqlError) as caught:
        brokers.ends([Partition("seen", 2)])

    assert (caught.value.code, caught.value.params["why"]) == ("BROKER_UNREACHABLE", "no leader for seen, partition 2")
