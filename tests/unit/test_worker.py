"""The loop of `lsql worker`, with a JVM that only reports."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread, Timer
from typing import cast

import pytest

from ci.tools.ports import free_port
from lsql_runner import worker as worker_module
from lsql_runner.jvm.worker_jvm import WorkerJvm
from lsql_runner.jvm.workers import Workers
from lsql_runner.worker import WorkerLoop, own_address
from lsql_runner.worker import run as run_worker

DEADLINE_S = 30


class Jvm:
    """Reports lines, the last of which may be its exit code, calls `then`, and ends."""

    def __init__(self, lines: Sequence[str], then: Callable[[], None]) -> None:
        self._lines = [line for line in lines if not line.isdigit()]
        self._code = next((int(line) for line in lines if line.isdigit()), 0)
        self._then = then
        self.decommissioned = False
        self.closed = False

    def lines(self) -> Iterator[str]:
        yield from self._lines
        self._then()

    def decommission(self) -> None:
        self.decommissioned = True

    def close(self) -> int:
        self.closed = True
        return self._code


@pytest.fixture
def processor() -> Iterator[Workers]:
    """A port that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Workers(host="127.0.0.1", port=server.getsockname()[1], secret="0123456789abcdef")


def run(processor: Workers, folder: Path, reports: Sequence[Sequence[str]]) -> tuple[list[Jvm], list[bool]]:
    """Run a worker whose JVMs report these lines, and stop it during the last one. Returns the JVMs, and whether the
    file `joined` existed when each had reported."""
    started: list[Jvm] = []
    joined: list[bool] = []

    def then() -> None:
        joined.append((folder / "joined").exists())
        if len(started) == len(reports):
            worker.stop()

    def start(own_host: str) -> WorkerJvm:
        assert own_host == "127.0.0.1"
        started.append(Jvm(reports[len(started)], then))
        return cast(WorkerJvm, started[-1])

    worker = WorkerLoop(processor, start, folder)
    thread = Thread(target=worker.run)
    thread.start()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()
    return started, joined


def test_a_worker_starts_again_when_the_processor_was_restarted(processor: Workers, tmp_path: Path) -> None:
    started, joined = run(processor, tmp_path, [["joined", "alive", "lost closed"], ["joined"]])

    assert joined == [True, True]
    assert all(jvm.closed for jvm in started)
    assert [jvm.decommissioned for jvm in started] == [False, True]
    assert not (tmp_path / "joined").exists()


def test_a_refused_worker_says_so_and_asks_again(
    processor: Workers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, joined = run(processor, tmp_path, [["refused 9.9.9"], ["refused 9.9.9"], ["refused 9.9.9"]])

    assert joined == [False] * 3
    said = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [record.__dict__["processor"] for record in said] == ["9.9.9"]


def test_a_jvm_that_fails_is_named_and_started_again(
    processor: Workers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    started, _ = run(processor, tmp_path, [["3"], ["joined", "134"], ["joined", "137"]])

    assert len(started) == 3  # the last one is killed because the worker stops
    said = [(each.message, each.__dict__["exit_code"]) for each in caplog.records if each.levelno == logging.ERROR]
    assert said == [("the JVM of the worker ran out of heap", "3"), ("the JVM of the worker failed", "134")]


def test_a_worker_waits_for_the_processor_and_is_alive_meanwhile(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nobody = Workers(host="127.0.0.1", port=free_port(), secret="0123456789abcdef")
    worker = WorkerLoop(nobody, lambda _: pytest.fail("nothing to join"), tmp_path)
    with caplog.at_level(logging.INFO):
        thread = Thread(target=worker.run)
        thread.start()
        while not caplog.records and thread.is_alive():
            thread.join(0.01)
        worker.stop()
        thread.join(DEADLINE_S)

    assert not thread.is_alive()
    assert [record.message for record in caplog.records] == ["waiting for the processor"]
    assert (tmp_path / "alive").exists()


def test_a_worker_that_was_killed_is_not_ready_after_its_restart(tmp_path: Path) -> None:
    (tmp_path / "joined").touch()
    nobody = Workers(host="127.0.0.1", port=free_port(), secret="0123456789abcdef")
    worker = WorkerLoop(nobody, lambda _: pytest.fail("nothing to join"), tmp_path)
    worker.stop()

    worker.run()

    assert not (tmp_path / "joined").exists()


def test_the_address_of_a_worker_is_that_from_which_it_reaches_the_processor(processor: Workers) -> None:
    assert own_address(processor) == "127.0.0.1"


def test_an_ipv6_address_is_in_brackets() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        processor = Workers(host="[::1]", port=server.getsockname()[1], secret="0123456789abcdef")

        assert own_address(processor) == "[::1]"


def test_a_worker_ends_when_the_file_with_its_secret_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its container starts it again, with the secret that the processor has then."""
    monkeypatch.setattr(worker_module, "_WATCH_S", 0.01)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(worker_module, "configure", lambda *_, **__: None)
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef")
    Timer(0.2, secret.write_text, ["fedcba9876543210"]).start()
    environment = {
        "LSQL_WORKERS_HOST": "127.0.0.1",
        "LSQL_WORKERS_PORT": str(free_port()),
        "LSQL_WORKERS_SECRET_FILE": str(secret),
    }

    with caplog.at_level(logging.INFO):
        assert run_worker(environment) == 0

    assert caplog.records[-1].__dict__["path"] == str(secret)
