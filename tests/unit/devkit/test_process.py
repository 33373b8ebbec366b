"""The Process of the devkit: readiness, errors with the output, and no remaining processes."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ci.tools import ports
from ci.tools.ports import free_port
from devkit.process import Process, ProcessFailed, accepts_connections
from devkit.waiting import wait_until

DEADLINE_S = 10

SERVER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
while True:
    server.accept()[0].sendall(b"hello")
"""
STUBBORN = """
import signal, pathlib
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path("ready").touch()
while True:
    signal.pause()
"""
PARENT = """
import pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
pathlib.Path("child.tmp").write_text(str(child.pid))
pathlib.Path("child.tmp").rename("ready")
child.wait()
"""


def python(source: str, *args: object) -> list[str]:
    return [sys.executable, "-u", "-c", source, *(str(arg) for arg in args)]


def server(port: int) -> Process:
    return Process(python(SERVER, port), name="server", probe=lambda: accepts_connections(port))


def makes_file(source: str, folder: Path, grace_s: float = 10) -> Process:
    """A program that is ready when it has created the file `ready` in its folder."""
    argv = python(source)
    return Process(argv, name="program", probe=(folder / "ready").exists, cwd=folder, grace_s=grace_s)


def is_running(pid: int) -> bool:
    """Whether a process runs; a zombie does not count."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


def test_it_is_ready_inside_the_block_and_ended_after_it() -> None:
    port = free_port()
    with server(port) as process:
        assert accepts_connections(port)
        pid = process.pid
    assert not accepts_connections(port)
    assert not is_running(pid)


def test_an_early_end_shows_exit_code_and_output() -> None:
    process = Process(
        python("import sys; print('no such topic', file=sys.stderr); sys.exit(7)"),
        name="runner",
        probe=lambda: False,
    )
    with pytest.raises(ProcessFailed, match=r"runner died .* exit code 7(.|\n)*no such topic"):
        process.start()


def test_a_program_that_is_not_ready_in_time_is_ended_and_shown() -> None:
    process = Process(
        python("import signal; print('still loading'); signal.pause()"),
        name="runner",
        probe=lambda: False,
        deadline_s=0.5,
    )
    with pytest.raises(ProcessFailed, match=r"runner not ready after 0.5 s(.|\n)*still loading"):
        process.start()
    assert not process.running


def test_stop_kills_a_program_that_ignores_signals(tmp_path: Path) -> None:
    with makes_file(STUBBORN, tmp_path, grace_s=0.2) as process:
        pass
    assert process.exit_code == -9


@pytest.mark.parametrize("end", [Process.stop, Process.kill])
def test_children_end_with_their_parent(tmp_path: Path, end: Callable[[Process], object]) -> None:
    process = makes_file(PARENT, tmp_path).start()
    child = int((tmp_path / "ready").read_text())
    end(process)
    wait_until(lambda: not is_running(child), "the child ends", DEADLINE_S)


def test_the_folder_is_removed_with_the_object() -> None:
    process = server(free_port())
    folder = process.folder
    assert folder.is_dir()
    del process
    assert not folder.exists()


STARTER = """
import signal, sys
from devkit.process import Process
for ignored in (signal.SIGINT, signal.SIGHUP):  # in the background, or under nohup
    signal.signal(ignored, signal.SIG_DFL)
process = Process(sys.argv[1:], name="program", probe=lambda: True).start()
print(process.pid, process.folder, flush=True)
sys.stdin.readline()
raise SystemExit(1)
"""


@pytest.mark.parametrize("end", [None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_programs_end_with_their_interpreter(tmp_path: Path, end: signal.Signals | None) -> None:
    pid, folder = start_and_end(tmp_path, ["sleep", "600"], end)

    wait_until(lambda: not is_running(pid), "the program ends", DEADLINE_S)
    wait_until(lambda: not folder.exists(), "its folder is removed", DEADLINE_S)


def test_programs_that_left_their_group_end_with_a_killed_interpreter(tmp_path: Path) -> None:
    _, folder = start_and_end(tmp_path, ["sh", "-c", "setsid sleep 600 & wait"], signal.SIGKILL)

    wait_until(lambda: processes_with(folder) == [], "all programs end", DEADLINE_S)
    wait_until(lambda: not folder.exists(), "their folder is removed", DEADLINE_S)


def start_and_end(tmp_path: Path, argv: list[str], end: signal.Signals | None) -> tuple[int, Path]:
    """The pid and folder of a program of another interpreter, which then ended: by a signal or normally."""
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    command = python(STARTER, *argv)
    with subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        pid, folder = starter.stdout.readline().split()
        if end is not None:
            starter.send_signal(end)
    assert starter.returncode == (1 if end is None else -end)
    return int(pid), Path(folder)


def processes_with(folder: Path) -> list[str]:
    """The process ids of the programs with temporary files in `folder`."""
    pids = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"TMPDIR={folder}".encode() in environment.read_bytes().split(b"\0"):
                pids.append(environment.parent.name)
    return pids


def test_no_port_is_handed_out_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process takes one of four ports, and this one the rest; no program listens at any of them."""
    first = random.randrange(10_000, 11_990)
    take_the_last = f"""
from ci.tools import ports
ports.PORTS, ports.TRIES = range({first + 3}, {first + 4}), 1
print(ports.free_port())
input()
"""
    monkeypatch.setattr(ports, "PORTS", range(first, first + 4))
    monkeypatch.setattr(ports, "TRIES", 4)
    command = [sys.executable, "-c", take_the_last]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == f"{first + 3}\n"
        assert {free_port() for _ in range(3)} == {first, first + 1, first + 2}
        with pytest.raises(OSError, match="none of 4 ports"):
            free_port()
        other.communicate("\n")
    assert free_port() == first + 3
