"""Workers join, leave, die or are suspended: nothing is lost, and with exactly-once nothing repeated.

Only real executors show it: they are other JVMs, which keep their producers when the driver gives their tasks away.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.runner import Runner
from devkit.waiting import wait_until
from devkit.workers import WorkerProcess, executor_of, free_ports, jvms_of, worker_environment
from tests.conftest import TopicFactory
from tests.faults import lsql_with_copies
from tests.kafka.load_of_workers import DEADLINE_S, Load, await_workers, with_workers

pytestmark = pytest.mark.timeout(600)


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


def test_speculative_copies_of_tasks_repeat_nothing(broker: Broker, topic: TopicFactory, tmp_path: Path) -> None:
    """Two attempts of a task run at the same time: the first one is suspended while it writes."""
    load = Load(broker, topic)
    port = free_ports()
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "40000", "ROOT_LOG_LEVEL": "TRACE"}
    # A record takes so much time that most tasks are still writing when they are suspended.
    sql = f"SET processing.mode=batch; {load.copying} WHERE LEN(LPAD(user, 20000, 'x')) > 0"
    runner = Runner(broker.bootstrap, sql, f"app-{load.source}", tmp_path, **worker_environment(port), **limit)
    slow, other = (WorkerProcess(port, OWN_ADDRESS=f"127.0.0.{n}") for n in (2, 3))
    for process in (runner, slow, other):
        process.argv[:1] = [sys.executable, lsql_with_copies.__file__]
    with runner, slow, other:
        await_workers(runner, 2)
        while copies_that_won(runner) < 3:
            suspend_until_a_copy_won(slow, runner, load)
            runner.read_to(load.produced, DEADLINE_S)
        load.produce(1_000)
        runner.read_to(load.produced, DEADLINE_S)

    copied = load.copied()
    expected = Counter(range(load.produced))
    assert (copied - expected, expected - copied) == (Counter(), Counter())


def copies_that_won(runner: Runner) -> int:
    """How many copies of tasks have ended before the first attempts."""
    return runner.output().count("as the attempt 1 succeeded")  # of Spark, which then ends the first attempt


def suspend_until_a_copy_won(worker: WorkerProcess, runner: Runner, load: Load) -> None:
    """Suspend the executor of a worker while it writes, until a copy of its task has ended, or it is lost.

    It is lost after 20 s if it has no task when it is suspended, and may be lost before, if it had none the last time.
    """
    wait_until(lambda: executor_of(worker) != 0, "an executor", DEADLINE_S)
    executor, before, written = executor_of(worker), copies_that_won(runner), load.written(load.copies)
    load.produce(40_000)
    load.wait_for_written(load.copies, written + 100)
    try:
        os.kill(executor, signal.SIGSTOP)
    except ProcessLookupError:
        return
    wait_until(
        lambda: copies_that_won(runner) > before or executor_of(worker) != executor, "the end of a copy", DEADLINE_S
    )
    with suppress(ProcessLookupError):
        os.kill(executor, signal.SIGCONT)


def test_at_least_once_loses_nothing_of_a_killed_executor(broker: Broker, topic: TopicFactory, tmp_path: Path) -> None:
    load = Load(broker, topic, "at_least_once")
    load.produce(20_000)
    limit = {"LSQL_MAX_RECORDS_PER_BATCH": "5000"}
    with with_workers(broker, load.sql, f"app-{load.source}", tmp_path, **limit) as (runner, first, _):
        load.wait_for_written(load.copies, 6_000)
        os.kill(executor_of(first), signal.SIGKILL)
        runner.read_to(load.produced, DEADLINE_S)

    load.check_nothing_lost()
