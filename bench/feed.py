"""Writes the input before the runs."""

from __future__ import annotations

import time
from collections.abc import Iterable

from confluent_kafka import Producer


def send(bootstrap: str, topic: str, records: Iterable[tuple[bytes, bytes, int]], count: int) -> int:
    """Write key, value and timestamp of each record; returns their number when the broker has all of them.

    Raises:
        TimeoutError: the broker accepts fewer than 20,000 records per second, if there are about `count`.
    """
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 3,  # the broker's coordinator may still be starting; the producer then retries
            "enable.idempotence": True,
            "compression.type": "lz4",
            "linger.ms": 50,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 500_000,
            "partitioner": "murmur2_random",
        }
    )
    deadline = time.monotonic() + 60 + count / 20_000
    sent = 0
    for key, value, at in records:
        sent += 1
        while True:
            try:
                producer.produce(topic, value, key, timestamp=at)
                break
            except BufferError:
                producer.poll(0.1)
                _not_after(deadline)
    while producer.flush(1):
        _not_after(deadline)
    return sent


def _not_after(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError("the input could not be written in time")
