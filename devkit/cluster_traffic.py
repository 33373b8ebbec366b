"""Writes numbered records during a test, and compares them with the records that a processor wrote."""

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, Message, Producer

from devkit.broker import Broker
from devkit.topics import CLIENT_CONFIG, Config
from lsql_runner.engine.topic_writer import BATCH_HEADER

KEYS = 7
OUTAGE_MS = 300_000
"""A record waits this long for an unavailable broker."""
POLL_S = 0.1
LONGEST_GAP_S = 15.0
"""Without results when a changed program takes over. On two idle cores it takes 1.2 s in a process that has run for a
minute, and up to 3.5 s in one that has just started, as in tests. CI may have cores that are three times slower."""


@dataclass(frozen=True, kw_only=True)
class TrafficReport:
    """The ids in a target topic, compared with those that were written to its source."""

    written: int
    missing: tuple[int, ...]
    unexpected: tuple[int, ...]
    duplicates: int
    """Copies of records that were in the target before."""
    repeated_batch: int = 0
    """Copies whose header has the same batch as the first record: a restart wrote the batch again."""

    def __str__(self) -> str:
        lost = f"{len(self.missing)} lost {self.missing[:10]}" if self.missing else "none lost"
        duplicates = f"{self.duplicates} duplicates ({self.repeated_batch} in their batch)"
        return f"{self.written} records, {lost}, {duplicates}, {len(self.unexpected)} not written here"


class LongestPause:
    """A context manager that measures the longest time without a new record in a topic, in a thread."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self.seconds = 0.0
        """To the next record, or to the end of the measurement; a tenth of a second more at most."""
        self._broker, self._topic = broker, topic
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        count, since = -1, time.monotonic()
        while not self._ended.wait(POLL_S):
            total, now = sum(self._broker.end_offsets(self._topic).values()), time.monotonic()
            self.seconds = max(self.seconds, now - since)
            if total != count:
                count, since = total, now


class Traffic:
    """Writes `{"id": 0}`, `{"id": 1}`, ... to a topic, whatever happens to its readers.

    As a context manager it writes continuously in a thread; `write` adds some at once. A record counts as written when
    the broker has it.
    """

    def __init__(self, broker: Broker, topic: str, per_second: int = 40) -> None:
        settings: Config = {
            **CLIENT_CONFIG,
            "bootstrap.servers": broker.bootstrap,
            "enable.idempotence": True,
            "message.timeout.ms": OUTAGE_MS,
        }
        self._topic = topic
        self._producer = Producer(settings)
        self._pause_s = 1 / per_second
        self._next = 0
        self._acknowledged: set[int] = set()
        self._errors: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write_until_ended)

    @property
    def written(self) -> int:
        """The number of records that the broker has."""
        return len(self._acknowledged)

    def write(self, count: int, deadline_s: float = 60) -> None:
        """Write more records; returns when the broker has all that were written so far."""
        for _ in range(count):
            self._write_one()
        left = self._producer.flush(deadline_s)
        assert not left, f"{left} records not on {self._topic} in {deadline_s} s"
        assert not self._errors, self._errors[:3]

    def __enter__(self) -> Self:
        self._ended.clear()
        self._thread = threading.Thread(target=self._write_until_ended)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if error is None:
            self.write(0)

    def compare(self, broker: Broker, target: str) -> TrafficReport:
        """Compare the current content of the target."""
        batches = Counter(
            (int(json.loads(record.value or b"{}")["id"]), dict(record.headers)[BATCH_HEADER])
            for record in broker.consume_all(target)
        )
        counts: Counter[int] = Counter()
        for (number, _), count in batches.items():
            counts[number] += count
        written = frozenset(self._acknowledged)
        return TrafficReport(
            written=len(written),
            missing=tuple(sorted(written - counts.keys())),
            unexpected=tuple(sorted(counts.keys() - written)),
            duplicates=sum(count - 1 for count in counts.values()),
            repeated_batch=sum(count - 1 for count in batches.values()),
        )

    def compare_if_complete(self, broker: Broker, target: str) -> TrafficReport | None:
        """The comparison once nothing is missing, else None. Cheap while the target has too few records."""
        if sum(broker.end_offsets(target).values()) < self.written:
            return None
        report = self.compare(broker, target)
        return None if report.missing else report

    def _write_until_ended(self) -> None:
        while not self._ended.wait(self._pause_s):
            self._write_one()

    def _write_one(self) -> None:
        number, self._next = self._next, self._next + 1

        def on_delivery(error: KafkaError | None, _: Message) -> None:
            if error is None:
                self._acknowledged.add(number)
            else:
                self._errors.append(str(error))

        key, value = b"key-%d" % (number % KEYS), json.dumps({"id": number, "at": time.time_ns()}).encode()
        self._producer.produce(self._topic, value, key, on_delivery=on_delivery)
        self._producer.poll(0)
