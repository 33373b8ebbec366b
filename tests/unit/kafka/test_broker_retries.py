"""Requests that are retried, for example while a coordinator loads."""

from __future__ import annotations

from contextlib import closing
from typing import cast

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers


class LoadingConsumer:
    """A consumer whose coordinator answers the second request."""

    def __init__(self) -> None:
        self.requests = 0

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        self.requests += 1
        if self.requests == 1:
            raise KafkaException(KafkaError(KafkaError.NOT_COORDINATOR))
        return [TopicPartition(place.topic, place.partition, 7) for place in places]

    def close(self) -> None:
        pass


def test_a_retry_is_logged_and_not_printed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """The output of a command contains only its result."""
    consumer = LoadingConsumer()
    monkeypatch.setattr(LibrdkafkaBrokers, "_group_consumer", lambda *_: cast(Consumer, consumer))
    place = Partition("t", 0)

    with closing(LibrdkafkaBrokers(KafkaConnection("127.0.0.1:1"))) as brokers:
        positions = brokers.group_positions("g", [place])

    assert (positions, consumer.requests) == ({place: 7}, 2)
    assert capfd.readouterr().out == ""
    assert [record.name for record in caplog.records] == ["stamina"]
