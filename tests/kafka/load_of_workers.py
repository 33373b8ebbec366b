"""Records, a program without state and with windows, a model of what it writes, and a processor with two workers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from devkit.broker import Broker
from devkit.records import Record
from devkit.runner import Runner
from devkit.waiting import wait_until
from devkit.workers import WorkerProcess, free_ports, worker_environment
from tests.conftest import TopicFactory

PARTITIONS = 4
USERS = 50
WINDOW_MS = 10_000
BEGIN_MS = 1_600_000_000_000
DEADLINE_S = 240


class Load:
    """Records of some users, and what a program without state and one with windows make of them."""

    def __init__(
        self, broker: Broker, topic: TopicFactory, guarantee: str = "exactly_once_v2", mode: str = "batch"
    ) -> None:
        self._broker = broker
        self.source, self.copies, self.counts, self.overlapping = (topic(partitions=PARTITIONS) for _ in range(4))
        self.copying = f"INSERT INTO {self.copies} SELECT STREAM n, user FROM {self.source}"
        counts = f"SELECT STREAM user, COUNT(*) AS n FROM {self.source} WINDOW BY"
        self.sql = (
            f"SET processing.mode={mode}; SET processing.guarantee='{guarantee}';"
            f"{self.copying};"
            f"INSERT INTO {self.counts} {counts} TUMBLE 10s GROUP BY user;"
            f"INSERT INTO {self.overlapping} {counts} HOP 10s, 5s GROUP BY user"
        )
        self.produced = 0

    def produce(self, count: int) -> None:
        records = [self._record(n) for n in range(self.produced, self.produced + count)]
        self._broker.produce(self.source, records)
        self.produced += count

    @staticmethod
    def _user(n: int) -> str:
        return f"u{n % USERS}"

    @staticmethod
    def _at_ms(n: int) -> int:
        return BEGIN_MS + n

    def _record(self, n: int) -> Record:
        value = json.dumps({"n": n, "user": self._user(n)}).encode()
        return Record(self._user(n).encode(), value, timestamp_ms=self._at_ms(n))

    def written(self, topic: str) -> int:
        """The number of records and of the markers of transactions."""
        return sum(self._broker.end_offsets(topic).values())

    def wait_for_written(self, topic: str, count: int) -> None:
        wait_until(lambda: self.written(topic) >= count, f"{count} records in {topic}", DEADLINE_S)

    def copied(self) -> Counter[int]:
        """How often each record was copied, for consumers of uncommitted records."""
        return Counter(json.loads(record.value or b"")["n"] for record in self._broker.consume_all(self.copies))

    def counted(self, topic: str) -> Counter[tuple[bytes | None, int]]:
        """How often each count of a user and window was written, for consumers of uncommitted records."""
        records = self._broker.consume_all(topic)
        return Counter((record.key, json.loads(record.value or b"")["n"]) for record in records)

    def check_nothing_lost(self) -> None:
        """Each record is copied, and the largest counts equal the model's."""
        assert len(self.copied()) == self.produced
        windows = Counter((self._user(n), n // WINDOW_MS) for n in range(self.produced))
        assert self._largest(self.counts) == Counter(windows.values())
        halves = [(self._user(n), n // (WINDOW_MS // 2) - back) for n in range(self.produced) for back in (0, 1)]
        assert self._largest(self.overlapping) == Counter(Counter(halves).values())

    def _largest(self, topic: str) -> Counter[int]:
        largest: dict[bytes | None, int] = {}
        for key, n in self.counted(topic):
            largest[key] = max(n, largest.get(key, 0))
        return Counter(largest.values())

    def check(self) -> None:
        """Nothing is lost, and nothing is there twice."""
        self.check_nothing_lost()
        results: dict[str, Counter[Any]] = {
            "copies": self.copied(),
            "counts": self.counted(self.counts),
            "overlapping": self.counted(self.overlapping),
        }
        twice = {name: {each: n for each, n in counts.items() if n > 1} for name, counts in results.items()}
        assert not any(twice.values()), twice


@contextmanager
def with_workers(
    broker: Broker, sql: str, app: str, folder: Path, **env: str
) -> Iterator[tuple[Runner, WorkerProcess, WorkerProcess]]:
    """A processor with two workers, both of which have joined."""
    port = free_ports()
    runner = Runner(broker.bootstrap, sql, app, folder, **worker_environment(port), **env)
    with runner, WorkerProcess(port) as first, WorkerProcess(port) as second:
        await_workers(runner, 2)
        yield runner, first, second


def await_workers(runner: Runner, count: int) -> None:
    runner.wait_for(lambda s: len(s["workers"] or []) == count, DEADLINE_S, f"{count} workers")
