"""All clients on real brokers: the contract of the port, and what fakes cannot show: outages and compression."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from typing import TypeVar

import pytest

from ci.tools.ports import free_port
from devkit.broker import Broker
from devkit.broker_clients import CLIENTS, ClientFactory, spark_brokers
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.ports import Brokers
from tests.conftest import TopicFactory
from tests.contract.brokers_contract import (
    GroupPositionsContract,
    TopicAdminContract,
    TopicReaderContract,
    UnreachableBrokersContract,
)

pytestmark = pytest.mark.timeout(120)

T = TypeVar("T")


@pytest.fixture(scope="module")
def brokers(broker: Broker, client: ClientFactory) -> Iterator[Brokers]:
    with closing(client(KafkaConnection(broker.bootstrap))) as opened:
        yield opened


class RealBrokersUnderTest:
    """Prepares a real broker with the clients of the devkit."""

    def __init__(self, brokers: Brokers, broker: Broker, make_topic: TopicFactory) -> None:
        self.brokers = brokers
        self._broker = broker
        self._make_topic = make_topic

    def topic(self, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        return self._make_topic(partitions=partitions, config=config)

    def produce(
        self, topic: str, *values: bytes | None, key: bytes | None = b"k", partition: int = 0, at_ms: int | None = None
    ) -> None:
        self._broker.produce(topic, [Record(key, value, partition=partition, timestamp_ms=at_ms) for value in values])

    def delete_records(self, topic: str, before: int) -> None:
        self._broker.delete_records(topic, 0, before)

    def member(self, group: str, topic: str) -> AbstractContextManager[None]:
        return self._broker.member(group, topic)


@pytest.fixture
def subject(brokers: Brokers, broker: Broker, topic: TopicFactory) -> RealBrokersUnderTest:
    return RealBrokersUnderTest(brokers, broker, topic)


@pytest.fixture
def unreachable(client: ClientFactory) -> Iterator[Brokers]:
    with closing(client(KafkaConnection(f"127.0.0.1:{free_port()}"), 0.5)) as nobody:
        yield nobody


class TestTopicReader(TopicReaderContract):
    pass


class TestGroupPositions(GroupPositionsContract):
    pass


class TestTopicAdmin(TopicAdminContract):
    pass


class TestUnreachable(UnreachableBrokersContract):
    pass


def until_reachable(ask: Callable[[], T], deadline_s: float = 30) -> T:
    """The first result that is not an error of unreachable brokers: on a busy machine, the first connection of a client
    and the first group of a cluster can take longer than the short deadlines of these clients.
    """
    deadline = time.monotonic() + deadline_s
    while True:
        try:
            return ask()
        except LsqlError as error:
            if error.code != "BROKER_UNREACHABLE" or time.monotonic() > deadline:
                raise


def test_internal_topics_are_listed(brokers: Brokers, topic: TopicFactory) -> None:
    brokers.commit("makes-the-topic-of-positions", {Partition(topic(), 0): 0})

    assert brokers.topics()["__consumer_offsets"] == 1


def test_a_partition_that_does_not_exist_has_no_end(client: ClientFactory, broker: Broker) -> None:
    with closing(client(KafkaConnection(broker.bootstrap), 1)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.ends([Partition("there-is-no-such-topic", 0)])

    assert caught.value.code == "BROKER_UNREACHABLE"


def test_a_position_is_seen_by_kafka_consumer_groups(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name, group = topic(partitions=2), f"group-{uuid.uuid4().hex[:8]}"
    broker.produce(name, [Record(b"k", b"v", partition=1)] * 3)
    first, second = Partition(name, 0), Partition(name, 1)
    assert brokers.group_positions(group, [first, second]) == {}

    brokers.commit(group, {second: 2})

    assert brokers.group_positions(group, [first, second]) == {second: 2}
    assert [(row.partition, row.lag) for row in broker.consumer_groups_describe(group)] == [(1, 1)]


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_records_are_read(brokers: Brokers, broker: Broker, topic: TopicFactory, compression: str) -> None:
    name = topic(config={"compression.type": compression})
    broker.produce(name, [Record(b"k", b"same" * 100)] * 50)

    assert {record.value for record in brokers.sample(name, 50)} == {b"same" * 100}


def test_many_large_records_are_read_up_to_the_limit_of_bytes(
    brokers: Brokers, broker: Broker, topic: TopicFactory
) -> None:
    name = topic(partitions=4)
    broker.produce(name, [Record(b"k", bytes([n % 256]) * 10_000, partition=n % 4) for n in range(4000)])

    sample = brokers.sample(name, 4000)

    assert len(sample) == 16 * 1024 * 1024 // 10_000 + 1
    assert all(len(record.value or b"") == 10_000 for record in sample)


def test_several_threads_send_requests(brokers: Brokers, broker: Broker, topic: TopicFactory) -> None:
    name = topic()
    broker.produce(name, [Record(b"k", b"v")] * 3)
    place = Partition(name, 0)

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: brokers.ends([place]), range(40)))

    assert answers == [{place: 3}] * 40


def test_brokers_without_an_address_are_unreachable(client: ClientFactory) -> None:
    with closing(client(KafkaConnection("nowhere.invalid:9092"), 1)) as nowhere, pytest.raises(LsqlError) as caught:
        nowhere.topics()

    assert caught.value.code == "BROKER_UNREACHABLE"


def of_all_kinds(stack: ExitStack, own: Broker, engine: SparkEngine, request_timeout_s: float) -> list[Brokers]:
    """A client of each kind: one outage of a broker tests them all."""
    kinds = [*CLIENTS.values(), spark_brokers(engine._jvm)]
    return [stack.enter_context(closing(kind(KafkaConnection(own.bootstrap), request_timeout_s))) for kind in kinds]


def test_a_paused_broker_is_unreachable_until_it_is_resumed(engine: SparkEngine) -> None:
    with ExitStack() as stack, Broker() as own, ThreadPoolExecutor() as threads:
        clients = of_all_kinds(stack, own, engine, 1.5)
        own.create_topic("only")
        for brokers in clients:
            until_reachable(brokers.topics)
        own.pause()
        begun = time.monotonic()
        asked = [threads.submit(brokers.ends, [Partition("only", 0)]) for brokers in clients]
        errors = [each.exception(30) for each in asked]
        assert [error.code for error in errors if isinstance(error, LsqlError)] == ["BROKER_UNREACHABLE"] * 3
        assert time.monotonic() - begun < 10
        own.resume()

        for brokers in clients:
            assert "only" in until_reachable(brokers.topics)


def test_clients_survive_the_first_group_of_a_cluster_and_a_restart_of_the_broker(engine: SparkEngine) -> None:
    with ExitStack() as stack, Broker() as own, ThreadPoolExecutor() as threads:
        clients = of_all_kinds(stack, own, engine, 3)
        own.create_topic("only")
        own.produce("only", [Record(b"k", b"v")])
        place = Partition("only", 0)
        positions = [partial(each.group_positions, str(group), [place]) for group, each in enumerate(clients)]
        first = [threads.submit(until_reachable, ask) for ask in positions]
        assert [each.result(60) for each in first] == [{}] * len(clients)
        for group, brokers in enumerate(clients):
            brokers.commit(str(group), {place: 1})
            assert brokers.ends([place]) == {place: 1}

        own.stop()
        for ask in (lambda _, each: each.ends([place]), lambda group, each: each.commit(str(group), {place: 1})):
            asked = [threads.submit(ask, group, each) for group, each in enumerate(clients)]
            errors = [each.exception(30) for each in asked]
            assert [error.code for error in errors if isinstance(error, LsqlError)] == ["BROKER_UNREACHABLE"] * 3

        own.start()
        for ask_positions, brokers in zip(positions, clients, strict=True):
            assert until_reachable(ask_positions) == {place: 1}
            assert brokers.ends([place]) == {place: 1}


def test_a_commit_that_is_on_its_way_when_the_broker_stops_fails_in_time(engine: SparkEngine) -> None:
    place = Partition("seen", 0)

    def repeat_until_it_fails(commit: Callable[[], None]) -> float:
        while True:
            began = time.monotonic()
            try:
                commit()
            except LsqlError as error:
                if error.code != "BROKER_UNREACHABLE":
                    raise
                return time.monotonic() - began

    with ExitStack() as stack, Broker() as own:
        clients = of_all_kinds(stack, own, engine, 2)
        own.create_topic("seen")
        commits = [partial(brokers.commit, "group", {place: 0}) for brokers in clients]
        for commit in commits:
            until_reachable(commit)
        with ThreadPoolExecutor(len(clients)) as pool:
            failed = [pool.submit(repeat_until_it_fails, commit) for commit in commits]
            own.stop()
            assert max(each.result(timeout=30) for each in failed) < 10
            own.start()
        for commit in commits:
            until_reachable(commit)
