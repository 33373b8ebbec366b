"""Reads the newest output records of the processor."""

from __future__ import annotations

import time
from collections import deque
from threading import Event, Thread

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, TopicPartition

NEWEST = 8
SHOWN_BYTES = 300


class Results:
    """Reads the target topics from their beginning in a thread, and keeps the newest records."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "demo-screen",  # required by the client; nothing is committed
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 50,
                "log_level": 0,
            }
        )
        self.newest: deque[str] = deque(maxlen=NEWEST)
        self.first_at_s: float | None = None
        """The time of the first record, on the monotonic clock."""
        self._ended = Event()
        self._thread = Thread(target=self._read, name="results", daemon=True)

    def follow(self, topics: tuple[str, ...]) -> bool:
        """Start reading these topics, once; False while one of them does not exist."""
        if self._thread.is_alive():
            return True
        try:
            metadata = self._consumer.list_topics(timeout=2).topics
        except KafkaException:
            return False
        if not topics or any(topic not in metadata or not metadata[topic].partitions for topic in topics):
            return False
        self._consumer.assign([TopicPartition(t, p, OFFSET_BEGINNING) for t in topics for p in metadata[t].partitions])
        self._thread.start()
        return True

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(5)
        self._consumer.close()

    def _read(self) -> None:
        while not self._ended.is_set():
            message = self._consumer.poll(0.2)
            if message is None or message.error() is not None:
                continue
            if self.first_at_s is None:
                self.first_at_s = time.monotonic()
            self.newest.append(_shown(message))


def _shown(message: Message) -> str:
    return f"{message.topic()}  {_text(message.key())}  {_text(message.value())}"


def _text(part: bytes | str | None) -> str:
    """Bytes as readable text: UTF-8, with escapes for characters that cannot be printed."""
    if part is None:
        return "null"
    text = part if isinstance(part, str) else part[:SHOWN_BYTES].decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
