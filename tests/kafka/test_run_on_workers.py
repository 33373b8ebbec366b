"""`lsql run` with `lsql worker` in processes of their own: workers join, leave and die while a program runs.

`test_workers` kills and suspends executors of a session; only these processes show that the settings of processor and
workers fit together.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.runner import Runner
from devkit.workers import WorkerProcess, free_ports, worker_environment
from tests.conftest import TopicFactory
from tests.kafka.load_of_workers import DEADLINE_S, Load

pytestmark = pytest.mark.timeout(600)


def test_workers_join_leave_and_die_while_a_program_runs(broker: Broker, topic: TopicFactory, tmp_path: Path) -> None:
    load = Load(broker, topic)
    load.produce(4_000)
    port = free_ports()
    app = f"app-{load.source}"
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "2000"}
    runner = Runner(broker.bootstrap, load.sql, app, tmp_path, **worker_environment(port), **limit)

    def workers() -> int:
        return len(runner.stream()["workers"] or [])

    with runner, WorkerProcess(port) as first, WorkerProcess(port) as second:
        runner.wait_for(lambda s: len(s["workers"] or []) == 2, DEADLINE_S, "two workers")
        runner.read_to(load.produced, DEADLINE_S)

        first.kill()
        load.produce(4_000)
        runner.read_to(load.produced, DEADLINE_S)

        with WorkerProcess(port):
            runner.wait_for(lambda s: len(s["workers"] or []) == 2, DEADLINE_S, "the new worker")
            load.produce(4_000)
            second.stop()
            runner.read_to(load.produced, DEADLINE_S)
            assert workers() == 1

            runner.kill()
            load.produce(4_000)
            runner.start()
            runner.read_to(load.produced, DEADLINE_S)

        report = runner.stream()

    assert report["state"] == "running"
    load.check()
