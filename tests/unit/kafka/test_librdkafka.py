"""The client on librdkafka: retries, and responses that a real broker gives only by chance."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import closing
from types import SimpleNamespace
from typing import cast

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.group_requests import GroupRequests
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers
from lsql_runner.kafka.ports import TopicRequest

CONNECTION = KafkaConnection("127.0.0.1:1")


class LoadingConsumer:
    """A consumer whose coordinator is loading at the first request, and answers the second."""

    def __init__(self) -> None:
        self.requests = 0

    def committed(self, partitions: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        self.requests += 1
        if self.requests == 1:
            raise KafkaException(KafkaError(KafkaError.NOT_COORDINATOR))
        return [TopicPartition(asked.topic, asked.partition, 7) for asked in partitions]

    def close(self) -> None:
        pass


def test_a_retry_is_logged_and_not_printed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The output of a command contains only its result."""
    consumer = LoadingConsumer()
    monkeypatch.setattr(GroupRequests, "_group_consumer", lambda *_: cast(Consumer, consumer))
    partition = Partition("t", 0)

    with closing(LibrdkafkaBrokers(CONNECTION)) as brokers:
        positions = brokers.group_positions("g", [partition])

    assert (positions, consumer.requests) == ({partition: 7}, 2)
    assert capfd.readouterr().out == ""
    assert [record.name for record in caplog.records] == ["stamina"]


def test_a_partition_without_an_end_offset_has_no_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that shuts down sometimes responds so, with no error; a test cannot cause it."""

    class ShuttingDown:
        def list_offsets(
            self, asked: dict[TopicPartition, object], **_: object
        ) -> dict[TopicPartition, Future[object]]:
            answers = {partition: Future[object]() for partition in asked}
            for future in answers.values():
                future.set_result(SimpleNamespace(offset=-1))
            return answers

    with closing(LibrdkafkaBrokers(CONNECTION)) as brokers:
        monkeypatch.setattr(brokers, "_admin", ShuttingDown())
        with pytest.raises(LsqlError) as caught:
            brokers.ends([Partition("seen", 2)])

    assert (caught.value.code, caught.value.params["reason"]) == (
        "BROKER_UNREACHABLE",
        "no leader for seen, partition 2",
    )


def test_a_topic_whose_creation_is_never_answered_makes_the_brokers_unreachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent:
        def create_topics(self, *_: object, **__: object) -> dict[str, Future[None]]:
            return {"t": Future()}

        def poll(self, _: float) -> None:
            pass

    with closing(LibrdkafkaBrokers(CONNECTION, request_timeout_s=0.01)) as brokers:
        monkeypatch.setattr(brokers, "_admin", Silent())
        with pytest.raises(LsqlError) as caught:
            brokers.create(TopicRequest("t"))

    assert caught.value.code == "BROKER_UNREACHABLE"
