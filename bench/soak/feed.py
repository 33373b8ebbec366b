"""Writes records at a constant rate while faults happen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from confluent_kafka import KafkaError, Producer

from bench.background import Background
from bench.expected import BenchFailed

_TICK_S = 0.005
_FLUSH_S = 120


class Feeder(Background):
    """Writes records within the block, each at least once.

    While the broker is down, records wait in the producer.

    Args:
        messages: topic, key and value of what belongs to the record with an id; ids are 0, 1, 2 ...
        rate: records per second.
    """

    def __init__(
        self, bootstrap: str, messages: Callable[[int], Iterable[tuple[str, bytes, bytes]]], rate: float
    ) -> None:
        super().__init__("feeder")
        self.records = 0
        """Written so far, or waiting in the producer."""
        self.messages = 0
        """The records, and what belongs to them."""
        self.factor = 1.0
        """Multiplies the rate."""
        self.last_error = ""
        """The last error of the producer: of a connection, or why it gave up."""
        self._of = messages
        self._rate = rate
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 0,  # it logs each refused connection of the restarted broker
                # An idempotent producer of librdkafka may stall when its broker is restarted. This one may repeat a
                # record instead.
                "acks": "all",
                "max.in.flight": 5,
                "compression.type": "lz4",
                "linger.ms": 5,
                "queue.buffering.max.messages": 1_000_000,
                "reconnect.backoff.max.ms": 500,
                "topic.metadata.refresh.interval.ms": 2_000,
                "error_cb": self._on_error,
            }
        )

    def flush(self) -> None:
        """Wait until the broker has all records.

        Raises:
            BenchFailed: it does not take them.
        """
        if self._producer.flush(_FLUSH_S):
            raise BenchFailed("the broker did not take all records")

    def _on_error(self, error: KafkaError) -> None:
        self.last_error = f"{'fatal: ' if error.fatal() else ''}{error}"

    def _work(self) -> None:
        due, before = 0.0, time.monotonic()
        while not self._is_ended.is_set():
            now = time.monotonic()
            due += (now - before) * self._rate * self.factor
            before = now
            while self.records < due and not self._is_ended.is_set():
                for topic, key, value in self._of(self.records):
                    self._send(topic, key, value)
                    self.messages += 1
                self.records += 1
            self._producer.poll(0)
            self._is_ended.wait(_TICK_S)

    def _send(self, topic: str, key: bytes, value: bytes) -> None:
        while not self._is_ended.is_set():  # a producer whose broker does not return takes no records
            try:
                self._producer.produce(topic, value, key)
                return
            except BufferError:
                self._producer.poll(0.1)
