"""Questions to real brokers, as the processor asks them: every check for both clients that can ask."""

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from devkit.broker import Broker
from devkit.broker_clients import CLIENTS, Client
from devkit.process import free_port
from devkit.records import Record
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.brokers import Brokers, RawRecord, TopicLimits, TopicRequest
from lsql_runner.kafka.client import KafkaConnection
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(params=CLIENTS, scope="module")
def client(request: pytest.FixtureRequest) -> Client:
    return CLIENTS[request.param]


@pytest.fixture(scope="module")
def brokers(broker: Broker, client: Client) -> Iterator[Brokers]:
    with closing(client(KafkaConnection(broker.bootstrap))) as found:
        yield found


def until_answered(ask: Callable[[], dict[str, int]], deadline_s: float = 30) -> dict[str, int]:
    """The first answer that is none of an absent broker."""
    deadline = time.monotonic() + deadline_s
    while True:
        try:
            return ask()
        except LsqlError as error:
            if error.code != "BROKER_UNREACHABLE" or time.monotonic() > deadline:
                raise


def test_topics_are_told_with_their_partitions(brokers: Brokers, topic: TopicFactory) -> None:
    name = topic(partitions=3)

    assert brokers.topics()[name] == 3


def test_topics_of_the_brokers_themselves_are_told_too(brokers: Brokers, topic: TopicFactory) -> None:
    brokers.commit("makes-the-topic-of-positions", {Partition(topic(), 0): 0})

    assert brokers.topics()["__consumer_offsets"] == 1


def test_a_topic_is_created_as_asked_and_only_once(brokers: Brokers) -> None:
    name = f"made-{uuid.uuid4().hex[:8]}"

    made = [
        brokers.create(TopicRequest(name, 2, 1, (("retention.ms", "1000"),))),
        brokers.create(TopicRequest(name, 5)),
    ]

    assert made == [True, False]
    deadline = time.monotonic() + 30
    while name not in brokers.topics() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert brokers.topics()[name] == 2


def test_a_topic_is_deleted_and_need_not_be_there(brokers: Brokers) -> None:
    name = f"made-{uuid.uuid4().hex[:8]}"
    brokers.create(TopicRequest(name, 1))

    brokers.delete_topic(name)

    deadline = time.monotonic() + 30
    while name in brokers.topics() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert name not in brokers.topics()
    brokers.delete_topic(name)


def test_a_group_is_deleted_and_need_not_be_there(brokers: Brokers, topic: TopicFactory) -> None:
    place, group = Partition(topic(), 0), f"group-{uuid.uuid4().hex[:8]}"
    brokers.commit(group, {place: 1})

    brokers.delete_group(group)

    assert brokers.group_positions(group, [place]) == {}
    brokers.delete_group("there-is-no-such-group")


def test_a_setting_that_the_brokers_do_not_know_is_refused(brokers: Brokers) -> None:
    with pytest.raises(LsqlError) as caught:
        brokers.create(TopicRequest("made-wrong", config=(("retention.ms", "soon"),)))

    assert (caught.value.code, caught.value.params["topic"]) == ("TOPIC_REFUSED", "made-wrong")
    assert "retention.ms" in str(caught.value.params["reason"])


def test_what_topics_take_is_told_for_those_that_are_there(brokers: Brokers, topic: TopicFactory) -> None:
    small = topic(config={"max.message.bytes": "70000"})
    compacted = topic(config={"max.message.bytes": "3000000", "cleanup.policy": "delete,compact"})

    assert brokers.limits([small, compacted, "there-is-no-such-topic"]) == {
        small: TopicLimits(70_000, compacted=False),
        compacted: TopicLimits(3_000_000, compacted=True),
    }
    assert brokers.limits([]) == {}


def test_ends_and_begins_are_offsets(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic(partitions=2)
    broker.produce(name, [Record(b"k", b"v", partition=1)] * 3)
    both = [Partition(name, 0), Partition(name, 1)]

    assert brokers.ends(both) == {both[0]: 0, both[1]: 3}
    assert brokers.begins(both) == {both[0]: 0, both[1]: 0}
    assert brokers.ends([]) == {}


def test_a_partition_that_is_not_there_has_no_end(client: Client, broker: Broker) -> None:
    with closing(client(KafkaConnection(broker.bootstrap), 1)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.ends([Partition("there-is-no-such-topic", 0)])

    assert caught.value.code == "BROKER_UNREACHABLE"


def test_a_position_comes_back_and_is_seen_by_the_tool(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name, group = topic(partitions=2), f"group-{uuid.uuid4().hex[:8]}"
    broker.produce(name, [Record(b"k", b"v", partition=1)] * 3)
    first, second = Partition(name, 0), Partition(name, 1)
    assert brokers.group_positions(group, [first, second]) == {}

    brokers.commit(group, {second: 2})

    assert brokers.group_positions(group, [first, second]) == {second: 2}
    assert [(row.partition, row.lag) for row in broker.consumer_groups_describe(group)] == [(1, 1)]


def test_a_sample_holds_the_newest_records_of_all_partitions(
    brokers: Brokers, broker: Broker, topic: TopicFactory
) -> None:
    name = topic(partitions=2)
    broker.produce(name, [Record(b"k", b"%d" % n, partition=n % 2) for n in range(10)])

    sample = brokers.sample(name, 4)

    assert sorted(record.value or b"" for record in sample) == [b"6", b"7", b"8", b"9"]
    assert brokers.sample(topic(), 4) == []


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_records_are_read(brokers: Brokers, broker: Broker, topic: TopicFactory, compression: str) -> None:
    name = topic(config={"compression.type": compression})
    broker.produce(name, [Record(b"k", b"same" * 100)] * 50)

    assert {record.value for record in brokers.sample(name, 50)} == {b"same" * 100}


def test_records_between_others_that_are_gone_are_read(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    broker.produce(name, [Record(b"k", b"%d" % n) for n in range(5)])
    broker.delete_records(name, 0, 3)
    place = Partition(name, 0)

    assert brokers.begins([place]) == {place: 3}
    assert [record.value for record in brokers.sample(name, 5)] == [b"3", b"4"]
    assert brokers.record(place, 1) is None


def test_many_records_of_some_size_are_read(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic(partitions=4)
    broker.produce(name, [Record(b"k", bytes([n % 256]) * 10_000, partition=n % 4) for n in range(4000)])

    sample = brokers.sample(name, 4000)

    assert len(sample) == 4000
    assert all(len(record.value or b"") == 10_000 for record in sample)


def test_questions_come_from_several_threads(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    broker.produce(name, [Record(b"k", b"v")] * 3)
    place = Partition(name, 0)

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: brokers.ends([place]), range(40)))

    assert answers == [{place: 3}] * 40


def test_one_record_is_read_by_its_place(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    broker.produce(name, [Record(b"a", b"1"), Record(None, None)])
    place = Partition(name, 0)

    assert brokers.record(place, 1) == RawRecord(place, 1, None, None)
    assert brokers.record(place, 0) == RawRecord(place, 0, b"a", b"1")
    assert brokers.record(place, 2) is None


def test_brokers_that_are_not_there_are_unreachable(client: Client) -> None:
    with closing(client(KafkaConnection(f"127.0.0.1:{free_port()}"), 0.5)) as nobody:
        for ask in (nobody.topics, lambda: nobody.create(TopicRequest("t"))):
            with pytest.raises(LsqlError) as caught:
                ask()
            assert caught.value.code == "BROKER_UNREACHABLE"
        assert nobody.limits(["t"]) == {}


def test_brokers_without_an_address_are_unreachable(client: Client) -> None:
    with closing(client(KafkaConnection("nowhere.invalid:9092"), 1)) as nowhere, pytest.raises(LsqlError) as caught:
        nowhere.topics()

    assert caught.value.code == "BROKER_UNREACHABLE"


def test_a_frozen_broker_is_unreachable_in_time_and_found_again(client: Client) -> None:
    with Broker() as own, closing(client(KafkaConnection(own.bootstrap), 1.5)) as brokers:
        own.create_topic("only")
        brokers.topics()
        own.pause()
        begun = time.monotonic()
        with pytest.raises(LsqlError) as caught:
            brokers.ends([Partition("only", 0)])
        assert caught.value.code == "BROKER_UNREACHABLE"
        assert time.monotonic() - begun < 10
        own.resume()

        assert "only" in until_answered(brokers.topics)


def test_the_first_group_of_a_cluster_and_a_restart_of_the_broker_are_outlived(client: Client) -> None:
    with Broker() as own, closing(client(KafkaConnection(own.bootstrap), 3)) as brokers:
        own.create_topic("only")
        own.produce("only", [Record(b"k", b"v")])
        place = Partition("only", 0)
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
