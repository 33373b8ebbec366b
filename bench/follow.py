"""Reads results as they become visible, for a guarantee with transactions."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from bench.background import Background
from bench.expected import BenchFailed
from bench.outputs import NO_LEADER_YET


class Follower(Background):
    """Reads committed records of topics until the end of the block, and keeps when each arrived.

    The broker appends a record of a transaction before it is visible, so its time of append says too little.
    """

    def __init__(self, bootstrap: str, topics: Sequence[str], partitions: int) -> None:
        places = [
            TopicPartition(topic, partition, OFFSET_BEGINNING) for topic in topics for partition in range(partitions)
        ]
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "bench-follow",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 100,
            }
        )
        self._found: dict[str, list[tuple[bytes, bytes, int]]] = {topic: [] for topic in topics}
        self._failed: str | None = None
        self._consumer.assign(places)
        super().__init__("follower")

    def records(self, topic: str) -> list[tuple[bytes, bytes, int]]:
        """Key, value and time of arrival in ms, in order within a partition.

        Raises:
            BenchFailed: a topic could not be read.
        """
        if self._failed:
            raise BenchFailed(f"the results could not be read: {self._failed}")
        return list(self._found[topic])

    def _work(self) -> None:
        try:
            self._read()
        finally:
            self._consumer.close()

    def _read(self) -> None:
        while not self._is_ended.is_set() and not self._failed:
            # A batch waits for its last record: one record is returned when it arrives.
            message = self._consumer.poll(0.2)
            if message is None:
                continue
            error = message.error()
            if error is not None:
                if error.code() not in NO_LEADER_YET:
                    self._failed = str(error)
                continue
            key, value = message.key(), message.value()
            assert isinstance(key, bytes)
            assert isinstance(value, bytes)
            self._found[message.topic() or ""].append((key, value, int(time.time() * 1000)))
