"""Behaviour of only librdkafka's client."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import TopicPartition

from devkit.broker import Broker
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def brokers(broker: Broker) -> LibrdkafkaBrokers:
    return LibrdkafkaBrokers(KafkaConnection(broker.bootstrap))


def test_a_partition_without_an_end_offset_has_no_leader(
    brokers: LibrdkafkaBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that shuts down sometimes responds so, with no error; a test cannot cause it."""

    class ShuttingDown:
        def list_offsets(
            self, asked: dict[TopicPartition, object], **_: object
        ) -> dict[TopicPartition, Future[object]]:
            answers = {place: Future[object]() for place in asked}
            for future in answers.values():
                future.set_result(SimpleNamespace(offset=-1))
            return answers

    monkeypatch.setattr(brokers, "_admin", ShuttingDown())

    with pytest.raises(LsqlError) as caught:
        brokers.ends([Partition("seen", 2)])

    assert (caught.value.code, caught.value.params["reason"]) == (
        "BROKER_UNREACHABLE",
        "no leader for seen, partition 2",
    )
