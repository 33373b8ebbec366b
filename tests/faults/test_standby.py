"""Two `lsql run` on one state directory, of which a Lease chooses one: the leader is killed, and suspended.

Only real processes can be suspended and continue, and only real brokers refuse what the suspended one writes then.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ci.tools.child_processes import children_of
from devkit.broker import Broker
from devkit.lease_server import LeaseServer, lease_server
from devkit.runner import Runner, has_ended
from devkit.waiting import wait_until
from tests.conftest import TopicFactory
from tests.kafka.load_of_workers import DEADLINE_S, Load

pytestmark = pytest.mark.timeout(600)

TAKE_OVER_S = 30
"""A generous bound for busy machines: docs/performance.md has the times of an idle one."""


@contextmanager
def pair(broker: Broker, load: Load, folder: Path, **env: str) -> Iterator[tuple[Runner, Runner, LeaseServer]]:
    """A leader, a standby, and their Lease."""
    with lease_server() as lease:
        variables = {**lease.environment, "LSQL_LEASE_HOST": "127.0.0.1", "LSQL_MAX_RECORDS_PER_BATCH": "500", **env}
        first, second = (
            Runner(broker.bootstrap, load.sql, f"app-{load.source}", folder, **variables) for _ in range(2)
        )
        with first:
            first.reach("running", DEADLINE_S)
            with second:
                await_standby(second)
                yield first, second, lease


def await_standby(runner: Runner) -> None:
    wait_until(lambda: runner.get("/health/ready").body["state"] == "standby", "a standby", DEADLINE_S)


def processes_of(runner: Runner) -> list[int]:
    """Master, worker and JVM; the last one first."""
    worker = runner.worker_pid()
    return [*children_of(worker), worker, runner.pid]


def send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def first_record_s(load: Load, lease: LeaseServer, term: int, began: float) -> float:
    """The seconds from a moment to the first record of the target in a term."""
    wait_until(lambda: lease.record.transitions == term, f"term {term}", DEADLINE_S)
    before = load.written(load.copies)
    load.produce(200)
    load.wait_for_written(load.copies, before + 1)
    return time.monotonic() - began


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_a_leader_that_is_killed_or_suspended_is_replaced_and_fenced(
    broker: Broker, topic: TopicFactory, tmp_path: Path, guarantee: str
) -> None:
    load = Load(broker, topic, guarantee)
    load.sql = load.sql.replace("SET processing.mode=batch;", "")  # both modes: the copies have no batches
    load.produce(2_000)
    with pair(broker, load, tmp_path) as (first, second, lease):
        first.read_to(load.produced, DEADLINE_S)
        assert second.stream()["standby"] == {
            "role": "leader",
            "leader": lease.record.holder,
            "address": f"127.0.0.1:{first.port}",
            "term": 1,
            "error": None,
        }

        killed_at = time.monotonic()
        send(processes_of(first), signal.SIGKILL)
        killed_s = first_record_s(load, lease, 2, killed_at)
        second.read_to(load.produced, DEADLINE_S)

        first.start()
        await_standby(first)
        jvm, *python = processes_of(second)
        zombie = [jvm, *python] if guarantee == "exactly_once_v2" else python
        load.produce(20_000)
        load.wait_for_written(load.copies, 5_000)
        suspended_at = time.monotonic()
        send(zombie, signal.SIGSTOP)
        try:
            suspended_s = first_record_s(load, lease, 3, suspended_at)
            # A JVM that was not suspended with its Python process finds another owner, and ends.
            wait_until(lambda: jvm in zombie or has_ended(jvm), "the end of the JVM", DEADLINE_S)
        finally:
            send(zombie, signal.SIGCONT)
        wait_until(lambda: second.exit_code is not None, "the end of the zombie", DEADLINE_S)
        first.read_to(load.produced, DEADLINE_S)
        print(f"first record after {killed_s:.1f} s (killed) and {suspended_s:.1f} s (suspended)")

        assert second.exit_code == 3
        assert "PROCESSOR_REPLACED" in second.output()
        assert max(killed_s, suspended_s) < TAKE_OVER_S
        assert first.stream()["restarts"] == 0

        first.stop()
        assert lease.record.holder == ""
    load.check_nothing_lost()
    if guarantee != "at_least_once":
        load.check()
