"""Programs whose tasks run in executors of a Spark cluster: what the targets contain when executors die or pause.

Only real executors show it: they are other JVMs, which keep their producers when the driver gives their tasks away.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.avro import encoded
from devkit.broker import Broker
from devkit.engines import quick_jvm
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from devkit.registry import Registry
from devkit.spark_cluster import SparkCluster
from lsql_runner.engine import session
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.engine.session import SessionOptions, session_settings
from lsql_runner.jvm.spark_jvm import SparkJvm
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(600)

PARTITIONS = 4
USERS = 50
WINDOW_MS = 10_000
BEGIN_MS = 1_600_000_000_000
POLL_S = 0.05
DEADLINE_S = 120


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    with SparkCluster() as running:
        yield running


@pytest.fixture(scope="module")
def on_workers(cluster: SparkCluster) -> Iterator[SparkEngine]:
    def settings(options: SessionOptions) -> dict[str, str]:
        usual = session_settings(options)
        del usual["spark.default.parallelism"]  # it follows the workers
        return usual | cluster.settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "session_settings", settings)
        running = SparkEngine("workers", SparkJvm(quick_jvm()), threads=2)
        _ = running.session
    yield running
    running.close()


class Load:
    """Records of some users, and what a program without state and one with windows make of them."""

    def __init__(self, broker: Broker, topic: TopicFactory, guarantee: str = "exactly_once_v2") -> None:
        self._broker = broker
        self.source, self.copies, self.counts, self.overlapping = (topic(partitions=PARTITIONS) for _ in range(4))
        counts = f"SELECT STREAM user, COUNT(*) AS n FROM {self.source} WINDOW BY"
        self.sql = (
            f"SET processing.mode=batch; SET processing.guarantee='{guarantee}';"
            f"INSERT INTO {self.copies} SELECT STREAM n, user FROM {self.source};"
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
        deadline = time.monotonic() + DEADLINE_S
        while self.written(topic) < count:
            assert time.monotonic() < deadline, self.written(topic)
            time.sleep(POLL_S)

    def copied(self) -> Counter[int]:
        """How often each record was copied, for consumers of uncommitted records."""
        return Counter(json.loads(record.value or b"")["n"] for record in self._broker.consume_all(self.copies))

    def counted(self, topic: str) -> Counter[tuple[bytes | None, int]]:
        """How often each count of a user and window was written, for consumers of uncommitted records."""
        records = self._broker.consume_all(topic)
        return Counter((record.key, json.loads(record.value or b"")["n"]) for record in records)

    def check_nothing_lost(self) -> None:
        """Each record is copied, and the largest counts are those of the model."""
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
        for results in (self.copied(), self.counted(self.counts), self.counted(self.overlapping)):
            assert not {result: times for result, times in results.items() if times > 1}


def run_to_end(running: InProcess, load: Load) -> None:
    running.wait_for(lambda s: sum(s.committed.values()) >= load.produced, DEADLINE_S)


def wait_until_lost(engine: SparkEngine, executors: int) -> None:
    """Wait until the driver knows so many executors."""
    tracker = engine.session.sparkContext._jsc.sc().statusTracker()
    deadline = time.monotonic() + DEADLINE_S
    while len(tracker.getExecutorInfos()) - 1 > executors:  # the driver is one of them
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


def test_executors_write_each_result_once(
    broker: Broker, on_workers: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    load = Load(broker, topic)
    load.produce(5_000)

    with in_process(on_workers, broker.bootstrap, load.sql, f"app-{load.source}", tmp_path) as running:
        run_to_end(running, load)
        for _ in range(5):
            load.produce(300)
            run_to_end(running, load)

    load.check()


def test_executors_read_schemas_of_the_registry_and_write_dead_letters(
    broker: Broker, registry: Registry, on_workers: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(), topic()
    schema = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
    schema_id = registry.register(f"{source}-value", schema)
    valid = Record(b"k", encoded(schema, schema_id, {"id": 7}))
    malformed = Record(b"k", encoded(schema, schema_id, {"id": 8})[:-1])
    broker.produce(source, [valid, malformed])
    sql = f"""SET processing.mode=batch; SET error.policy=dlq; SET dead.letter.queue='{dead}';
        INSERT INTO {target} STORE VALUE AS JSON SELECT STREAM id + 1 AS id FROM {source}"""

    env = {"SQL_SCHEMA_REGISTRY_URL": registry.url}
    with in_process(on_workers, broker.bootstrap, sql, f"app-{source}", tmp_path, **env) as running:
        running.wait_for(lambda s: sum(s.committed.values()) >= 2, DEADLINE_S)

    assert [json.loads(record.value or b"") for record in broker.consume_all(target)] == [{"id": 8}]
    assert [record.value for record in broker.consume_all(dead)] == [malformed.value]


def test_a_batch_that_runs_again_after_a_start_leaves_out_what_is_written(
    broker: Broker, on_workers: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    load = Load(broker, topic)
    load.produce(5_000)
    with in_process(on_workers, broker.bootstrap, load.sql, f"app-{load.source}", tmp_path) as running:
        run_to_end(running, load)

    # As if the driver had been killed when the tasks of the last batches had written everything.
    for commits in tmp_path.rglob("commits"):
        newest = max(int(entry.name) for entry in commits.iterdir() if entry.name.isdecimal())
        (commits / str(newest)).unlink()
    load.produce(1_000)
    with in_process(on_workers, broker.bootstrap, load.sql, f"app-{load.source}", tmp_path) as running:
        run_to_end(running, load)

    load.check()


def test_killed_executors_lose_and_repeat_nothing(
    broker: Broker, cluster: SparkCluster, on_workers: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    load = Load(broker, topic)
    load.produce(40_000)

    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "10000"}
    with in_process(on_workers, broker.bootstrap, load.sql, f"app-{load.source}", tmp_path, **limit) as running:
        load.wait_for_written(load.copies, 12_000)
        for executor in cluster.executors():  # one of them at least is writing
            os.kill(executor, signal.SIGKILL)
        run_to_end(running, load)

    load.check()


def test_at_least_once_loses_nothing_of_a_killed_executor(
    broker: Broker, cluster: SparkCluster, on_workers: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    load = Load(broker, topic, "at_least_once")
    load.produce(20_000)

    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "5000"}
    with in_process(on_workers, broker.bootstrap, load.sql, f"app-{load.source}", tmp_path, **limit) as running:
        load.wait_for_written(load.copies, 6_000)
        os.kill(cluster.executors()[0], signal.SIGKILL)
        run_to_end(running, load)

    load.check_nothing_lost()


def test_a_suspended_executor_that_continues_writes_nothing_of_tasks_that_were_given_to_others(
    broker: Broker, cluster: SparkCluster, on_workers: SparkEngine, topic: TopicFactory, tmp_path: Path
) -> None:
    load = Load(broker, topic)
    load.produce(40_000)

    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "10000"}
    with in_process(on_workers, broker.bootstrap, load.sql, f"app-{load.source}", tmp_path, **limit) as running:
        load.wait_for_written(load.copies, 12_000)
        zombie = cluster.executors()[0]
        os.kill(zombie, signal.SIGSTOP)
        try:
            wait_until_lost(on_workers, 1)
        finally:
            os.kill(zombie, signal.SIGCONT)
        run_to_end(running, load)

    load.check()
