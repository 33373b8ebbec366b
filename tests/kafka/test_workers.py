"""`lsql run` with `lsql worker` in processes of their own: the targets when workers join, leave, die or pause.

Only real executors show it: they are other JVMs, which keep their producers when the driver gives their tasks away. The
processor is a process too, because a Python process has one session of Spark.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devkit.avro import encoded
from devkit.broker import Broker
from devkit.records import Record
from devkit.registry import Registry
from devkit.runner import Runner
from devkit.waiting import wait_until
from devkit.workers import WorkerProcess, executor_of, free_ports, jvms_of, worker_environment
from tests.conftest import TopicFactory
from tests.kafka.load_of_workers import DEADLINE_S, Load

pytestmark = pytest.mark.timeout(600)


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


def test_workers_and_the_processor_join_leave_and_die(broker: Broker, topic: TopicFactory, tmp_path: Path) -> None:
    load = Load(broker, topic, mode="auto")
    app = f"app-{load.source}"
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "2000"}
    load.produce(10_000)
    with Runner(broker.bootstrap, load.sql, app, tmp_path, **limit) as alone:  # the query without state is continuous
        load.wait_for_written(load.counts, 100)
        alone.kill()

    with with_workers(broker, load.sql, app, tmp_path, **limit) as (runner, first, second):
        runner.read_to(load.produced, DEADLINE_S)

        first.kill()
        load.produce(4_000)
        runner.read_to(load.produced, DEADLINE_S)

        with WorkerProcess(second.workers_port):
            await_workers(runner, 2)
            load.produce(4_000)
            second.stop()
            runner.read_to(load.produced, DEADLINE_S)
            await_workers(runner, 1)

            runner.kill()
            load.produce(4_000)
            runner.start()
            runner.read_to(load.produced, DEADLINE_S)
            assert runner.stream()["state"] == "running"
            load.produce(10_000)
            load.wait_for_written(load.copies, load.produced - 8_000)
            runner.kill()

    with Runner(broker.bootstrap, load.sql, app, tmp_path, **limit) as alone:
        alone.read_to(load.produced, DEADLINE_S)

    load.check()


def test_workers_read_schemas_of_the_registry_and_write_dead_letters(
    broker: Broker, registry: Registry, topic: TopicFactory, tmp_path: Path
) -> None:
    source, target, dead = topic(), topic(), topic()
    schema = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
    schema_id = registry.register(f"{source}-value", schema)
    valid = Record(b"k", encoded(schema, schema_id, {"id": 7}))
    malformed = Record(b"k", encoded(schema, schema_id, {"id": 8})[:-1])
    broker.produce(source, [valid, malformed])
    sql = f"""SET error.policy=dlq; SET dead.letter.queue='{dead}';
        INSERT INTO {target} STORE VALUE AS JSON SELECT STREAM id + 1 AS id FROM {source}"""

    with with_workers(broker, sql, f"app-{source}", tmp_path, SQL_SCHEMA_REGISTRY_URL=registry.url) as (runner, _, _):
        runner.read_to(2, DEADLINE_S)

    assert [json.loads(record.value or b"") for record in broker.consume_all(target)] == [{"id": 8}]
    assert [record.value for record in broker.consume_all(dead)] == [malformed.value]


def test_a_killed_executor_and_a_batch_that_runs_again_lose_and_repeat_nothing(
    broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    load = Load(broker, topic)
    load.produce(40_000)
    app = f"app-{load.source}"
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "10000"}
    with with_workers(broker, load.sql, app, tmp_path, **limit) as (runner, first, _):
        load.wait_for_written(load.copies, 12_000)
        os.kill(executor_of(first), signal.SIGKILL)
        runner.read_to(load.produced, DEADLINE_S)
        runner.stop()

        # As if the processor had been killed when the tasks of the last batches had written everything.
        for commits in tmp_path.rglob("commits"):
            newest = max(int(entry.name) for entry in commits.iterdir() if entry.name.isdecimal())
            (commits / str(newest)).unlink()
        load.produce(1_000)
        runner.start()
        runner.read_to(load.produced, DEADLINE_S)

    load.check()


def test_a_suspended_worker_that_continues_writes_nothing_of_tasks_that_were_given_to_others(
    broker: Broker, topic: TopicFactory, tmp_path: Path
) -> None:
    load = Load(broker, topic)
    load.produce(40_000)
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "10000"}
    with with_workers(broker, load.sql, f"app-{load.source}", tmp_path, **limit) as (runner, first, _):
        load.wait_for_written(load.copies, 12_000)
        jvms = jvms_of(first)  # as if its node was suspended: the worker's JVM would end the executor
        for pid in jvms:
            os.kill(pid, signal.SIGSTOP)
        try:
            runner.read_to(load.produced, DEADLINE_S)  # its tasks ran again on the other worker
        finally:
            for pid in jvms:
                os.kill(pid, signal.SIGCONT)
        load.produce(1_000)
        runner.read_to(load.produced, DEADLINE_S)
        wait_until(lambda: executor_of(first) != jvms[1], "the end of the executor", DEADLINE_S)

    load.check()


def test_at_least_once_loses_nothing_of_a_killed_executor(broker: Broker, topic: TopicFactory, tmp_path: Path) -> None:
    load = Load(broker, topic, "at_least_once")
    load.produce(20_000)
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "5000"}
    with with_workers(broker, load.sql, f"app-{load.source}", tmp_path, **limit) as (runner, first, _):
        load.wait_for_written(load.copies, 6_000)
        os.kill(executor_of(first), signal.SIGKILL)
        runner.read_to(load.produced, DEADLINE_S)

    load.check_nothing_lost()
