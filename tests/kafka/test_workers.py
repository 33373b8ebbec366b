"""Programs whose tasks run in executors of a Spark cluster: what the targets contain when executors die or pause.

Only real executors show it: they are other JVMs, which keep their producers when the driver gives their tasks away.
"""

from __future__ import annotations

import json
import os
import signal
import time
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
from tests.kafka.load_of_workers import Load

pytestmark = pytest.mark.timeout(600)

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
