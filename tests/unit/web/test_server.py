"""The server as a real process: its start, its end, and the end of its worker."""

import os
import signal
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask

from ci.tools.ports import free_port
from devkit.process import Process, ProcessFailed, accepts_connections
from lsql_runner.errors import LsqlError
from lsql_runner.web.server import serve

PROGRAM = """
import gc, os, sys, threading
from flask import Flask
from lsql_runner.web.server import serve
from lsql_runner.errors import LsqlError

mode, port = sys.argv[1], int(sys.argv[2])

def own_kib():
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))

def collect():
    before = own_kib()
    gc.collect()
    return str(own_kib() - before)

def make_app():
    if mode == "refused":
        raise LsqlError("SQL_EMPTY")
    if mode == "broken":
        raise RuntimeError("boom")
    app = Flask("tiny")
    app.add_url_rule("/pid", "pid", lambda: str(os.getpid()))
    app.add_url_rule("/collect", "collect", collect)
    app.add_url_rule("/die/<int:code>", "die", lambda code: os._exit(code))
    return app

def on_exit():
    if mode in ("hangs", "stuck"):
        threading.Event().wait()
    if mode == "fails":
        raise RuntimeError("cannot end")
    print("bye from", os.getpid(), flush=True)

code = serve(make_app, port, on_exit, graceful_s=1 if mode == "hangs" else 20)
print("left by", os.getpid(), flush=True)
sys.exit(code)
"""


class TinyServer(Process):
    """The program above, in one of its modes, with a temporary home directory."""

    def __init__(self, mode: str = "well", *before: str) -> None:
        self.port = free_port()
        super().__init__(
            [*before, sys.executable, "-c", PROGRAM, mode, str(self.port)],
            name="tiny",
            probe=lambda: accepts_connections(self.port) and self.get("/pid") != "",
            env={"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        self.home = self.folder / "home"
        self.home.mkdir()
        self._env |= {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home)}

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as response:
            return str(response.read().decode())

    @property
    def worker_pid(self) -> int:
        return int(self.get("/pid"))

    def await_output(self, text: str, deadline_s: float) -> None:
        await_true(lambda: text in self.output(), deadline_s)


def await_true(condition: Callable[[], bool], deadline_s: float) -> None:
    deadline = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < deadline, f"not so after {deadline_s} s"
        threading.Event().wait(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP])
def test_a_signal_ends_both_processes_with_code_0_and_calls_on_exit_once_in_the_worker(
    number: signal.Signals,
) -> None:
    with TinyServer() as server:
        master, worker = server.pid, server.worker_pid

        os.kill(master, number)

        assert server.wait(15) == 0
        assert server.output().splitlines() == [f"bye from {worker}", f"left by {master}"]
        assert not Path(f"/proc/{worker}").exists()


def test_under_nohup_the_end_of_the_terminal_changes_nothing() -> None:
    with TinyServer("well", "nohup") as server:
        os.kill(server.worker_pid, signal.SIGHUP)
        os.kill(server.pid, signal.SIGHUP)
        os.kill(server.pid, signal.SIGTERM)

        assert server.wait(15) == 0
        assert "worker killed" not in server.output()


def test_ctrl_c_reaches_the_whole_group_and_still_calls_on_exit_once_without_a_trace() -> None:
    with TinyServer() as server:
        master, worker = server.pid, server.worker_pid

        os.killpg(master, signal.SIGINT)

        assert server.wait(15) == 0
        assert server.output().splitlines() == [f"bye from {worker}", f"left by {master}"]


def test_an_idle_connection_does_not_delay_on_exit() -> None:
    with TinyServer() as server, socket.create_connection(("127.0.0.1", server.port)):
        worker = server.worker_pid
        os.kill(server.pid, signal.SIGTERM)

        server.await_output(f"bye from {worker}", deadline_s=3)


def test_killed_worker_ends_the_process_with_code_3() -> None:
    with TinyServer() as server:
        os.kill(server.worker_pid, signal.SIGKILL)

        assert server.wait(15) == 3
        assert "worker killed" in server.output()
        assert "Traceback" not in server.output()


def test_out_of_memory_the_kernel_kills_the_worker_before_the_master() -> None:
    with TinyServer() as server:
        master, worker = (
            int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in (server.pid, server.worker_pid)
        )

    assert worker == min(1000, master + 100)


@pytest.mark.parametrize("code", [1, 3, 7])
def test_the_exit_code_of_the_worker_is_that_of_the_process(code: int) -> None:
    with TinyServer() as server:
        with pytest.raises(ConnectionError):
            server.get(f"/die/{code}")

        assert server.wait(15) == code
        assert "Traceback" not in server.output()


def test_the_worker_ends_gracefully_after_the_master_was_killed() -> None:
    with TinyServer() as server:
        worker = server.worker_pid

        os.kill(server.pid, signal.SIGKILL)

        server.await_output(f"bye from {worker}", deadline_s=10)
        await_true(lambda: not Path(f"/proc/{worker}").exists(), deadline_s=5)


@pytest.mark.parametrize(("mode", "code"), [("refused", 1), ("broken", 3)])
def test_an_app_that_cannot_be_created_ends_the_process_without_a_retry(mode: str, code: int) -> None:
    server = TinyServer(mode)

    with pytest.raises(ProcessFailed, match=f"exit code {code}"):
        server.start()

    assert server.output().count("cannot start") == 1
    assert "bye" not in server.output()


def test_a_hanging_on_exit_is_killed_after_the_graceful_timeout() -> None:
    with TinyServer("hangs") as server:
        os.kill(server.pid, signal.SIGTERM)

        assert server.wait(15) == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_hanging_process_after_two_seconds(number: signal.Signals) -> None:
    with TinyServer("stuck") as server:
        os.kill(server.pid, signal.SIGTERM)
        await_true(lambda: not accepts_connections(server.port), deadline_s=5)
        os.kill(server.pid, number)

        assert server.wait(10) == 3


def test_a_failing_on_exit_is_logged_and_the_process_ends() -> None:
    with TinyServer("fails") as server:
        os.kill(server.pid, signal.SIGTERM)

        assert server.wait(15) == 0
        assert "the application did not end cleanly" in server.output()


def test_port_in_use_is_reported_before_anything_is_started() -> None:
    def make_app() -> Flask:
        raise AssertionError("must not be called")

    with socket.create_server(("0.0.0.0", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(LsqlError) as caught:
            serve(make_app, port, lambda: None)

    assert (caught.value.code, caught.value.params) == ("PORT_IN_USE", {"port": port})


def test_an_impossible_port_is_an_error_of_the_setting() -> None:
    with pytest.raises(LsqlError) as caught:
        serve(lambda: Flask("none"), 70_000, lambda: None)

    assert (caught.value.code, caught.value.params) == ("PORT_NOT_ALLOWED", {"port": 70_000})


def test_a_garbage_collection_leaves_the_memory_shared_by_both_processes() -> None:
    with TinyServer() as server:
        grown_kib = int(server.get("/collect"))
    assert grown_kib < 1024  # without gc.freeze, 10 MiB of the modules of this small program


def test_the_server_writes_no_files_to_the_home_directory_and_logs_nothing() -> None:
    with TinyServer() as server:
        assert list(server.home.iterdir()) == []
        assert server.output() == ""
