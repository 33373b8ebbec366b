"""Workers that join, leave and die, while jobs run on them.

The cluster is Spark's, in several JVMs: no lower layer shows that executors start with the options of their worker,
that rows move when a worker leaves, or that workers find a restarted driver.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devkit.engines import quick_jvm
from devkit.listening import listening
from devkit.runner import has_ended
from devkit.waiting import wait_until
from devkit.workers import WorkerProcess, executor_of, free_ports, workers_at
from lsql_runner.jvm import worker_jvm
from lsql_runner.jvm.worker_jvm import WorkerJvm

pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).parents[2]
DEADLINE_S = 240
SUM = sum(range(1000))


class Driver:
    """`workers_driver` at a port; the object is created when its session is open."""

    def __init__(self, port: int) -> None:
        command = [sys.executable, "-m", "tests.streams.workers_driver", str(port)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.jvm = int(self._response()["jvm"])

    def _response(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        response: dict[str, Any] = json.loads(self._process.stdout.readline())
        return response

    def ask(self, request: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        return self._response()

    def job(self) -> dict[str, Any]:
        """Run a job; its rows are right whatever happens to workers."""
        done = self.ask("job")
        assert done["sum"] == SUM
        return done

    def close(self) -> None:
        assert self._process.stdin is not None
        with self._process:  # waits for its end
            self._process.stdin.close()

    def kill(self) -> None:
        """Kill the process; its JVM ends by itself."""
        with self._process:
            self._process.kill()
        wait_until(lambda: has_ended(self.jvm), "the end of the JVM", DEADLINE_S)


class Cluster:
    """A driver that a test may replace, and its port."""

    def __init__(self) -> None:
        self.port = free_ports()
        self.driver = Driver(self.port)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    running = Cluster()
    yield running
    running.driver.close()


def test_the_driver_listens_at_its_three_ports_and_serves_no_page(cluster: Cluster) -> None:
    ports = {place.port for place in listening(cluster.driver.jvm)}

    assert set(range(cluster.port, cluster.port + 3)) <= ports
    assert len(ports) == 4  # and the port of py4j


def test_a_worker_that_joins_is_used_and_one_that_ends_fails_no_task(cluster: Cluster) -> None:
    driver = cluster.driver
    with WorkerProcess(cluster.port) as first, WorkerProcess(cluster.port) as second:
        wait_until(lambda: len(driver.job()["places"]) == 2, "tasks on both workers", DEADLINE_S)

        os.kill(first.pid, signal.SIGTERM)
        jobs = [driver.job()]
        while first.running:
            jobs.append(driver.job())
        assert first.exit_code == 0
        assert [job["failed"] for job in jobs] == [0] * len(jobs)
        wait_until(lambda: len(driver.job()["places"]) == 1, "tasks on one worker", DEADLINE_S)

        (left,) = driver.ask("workers")["workers"]
        assert (left["cores"], left["leaving"]) == (1, False)
        assert second.running


def test_jobs_go_on_when_an_executor_was_killed(cluster: Cluster) -> None:
    with WorkerProcess(cluster.port) as worker:
        cluster.driver.job()
        killed = executor_of(worker)
        os.kill(killed, signal.SIGKILL)

        cluster.driver.job()

        assert executor_of(worker) != killed


def test_a_worker_joins_a_driver_that_was_restarted(cluster: Cluster) -> None:
    with WorkerProcess(cluster.port) as worker:
        cluster.driver.job()
        cluster.driver.kill()
        wait_until(lambda: not worker.has_joined(), "the end of the old driver", DEADLINE_S)

        cluster.driver = Driver(cluster.port)

        cluster.driver.job()
        assert worker.has_joined()


def test_a_worker_of_another_version_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_jvm, "version", lambda _: "99.0.0")
    jvm = WorkerJvm(workers_at(cluster.port), quick_jvm(), "127.0.0.1", 1)
    try:
        (report,) = list(jvm.lines())
    finally:
        jvm.close()

    assert report.startswith("refused ")
    (refused,) = cluster.driver.ask("workers")["refused"]
    assert refused["version"] == "99.0.0"


def test_a_worker_with_another_secret_is_not_accepted(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(workers_at(cluster.port), secret="another-secret-of-the-tests")
    jvm = WorkerJvm(other, quick_jvm(), "127.0.0.1", 1)
    try:
        (report,) = list(jvm.lines())
    finally:
        jvm.close()

    assert report.startswith("unreachable ")
    assert cluster.driver.ask("workers")["refused"] == []
