"""Runs an executable for a test: starts it, waits until it is ready, stops it, and shows its output if it fails.

The servers of devkit (`Broker`, `Registry`, `Postgres` ...) and `Runner` are based on `Process`.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from devkit.reaper import Reaper

TAIL_LINES = 60
POLL_S = 0.02
_REAPER = Reaper()


class ProcessFailed(AssertionError):
    """A program ended early or was not ready in time. The message ends with the last lines of its output."""


def accepts_connections(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a program listens on a port of an address of this machine: the simplest probe."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


class Process:
    """A real program in its own process group; it is ready when `probe` returns true.

    It never outlives this interpreter: if the interpreter is killed, or its terminal is closed, the reaper ends the
    program.

    As a context manager it is ready inside the block and has ended after it. `start` may be called again after `stop`
    or `kill`. All runs write their output to one file, which `output` reads. The program gets the environment of this
    process and `env`. `cwd` defaults to `folder`, a temporary folder that exists as long as the object; it also
    contains the temporary files of the program, because a killed program cannot remove them. An OSError of `probe`
    means not ready yet.
    """

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        name: str,
        probe: Callable[[], bool],
        deadline_s: float = 30,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        grace_s: float = 10,
    ) -> None:
        self.name = name
        self.argv = [str(arg) for arg in argv]
        self.folder = Path(tempfile.mkdtemp(prefix=f"lsql-{name}-"))
        self._env = {**os.environ, "TMPDIR": str(self.folder), **(env or {})}
        self._cwd = cwd or self.folder
        self._probe = probe
        self._deadline_s = deadline_s
        self._grace_s = grace_s
        self._output = self.folder / "output.log"
        self._child: subprocess.Popen[bytes] | None = None
        _REAPER.guard_folder(self.folder)
        # Finalizers also run when the interpreter ends, the newest first: the program ends before its folder is
        # removed.
        weakref.finalize(self, _remove_folder, self.folder)
        self._kill_finalizer: weakref.finalize[..., Self] | None = None

    @property
    def pid(self) -> int:
        """The process id of the running program."""
        return self._running().pid

    @property
    def running(self) -> bool:
        """Whether the program was started and has not ended."""
        return self._child is not None and self._child.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The exit code of the last run, negative after a signal; None while it runs or before the first start."""
        return None if self._child is None else self._child.poll()

    def output(self) -> str:
        """The output of the program so far, standard output and standard error together."""
        return self._output.read_text(errors="replace") if self._output.exists() else ""

    def start(self) -> Self:
        """Start the program; returns when it is ready. Raises ProcessFailed if it ends first or is too slow."""
        if self.running:
            raise RuntimeError(f"{self.name} is already running")
        self._end_group()
        with self._output.open("ab") as output:
            self._child = subprocess.Popen(
                self.argv,
                cwd=self._cwd,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        _REAPER.guard_group(self._child.pid)
        self._kill_finalizer = weakref.finalize(self, _kill_group, self._child.pid)
        try:
            self._await_ready(self._child)
        except BaseException:
            self.kill()
            raise
        return self

    def wait(self, deadline_s: float) -> int:
        """Wait until the program has ended by itself, if it has not yet; returns its exit code. Raises ProcessFailed
        after the deadline.
        """
        if self._child is None:
            raise RuntimeError(f"{self.name} was not started")
        child = self._child
        try:
            return child.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise self._failure(f"still runs after {deadline_s} s") from None
        finally:
            if child.returncode is not None:
                self._end_group()

    def stop(self) -> int | None:
        """End the program (TERM), kill it after the grace time; returns its exit code."""
        child = self._child
        if child is not None and child.poll() is None:
            self.resume()
            _signal_group(child.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                child.wait(self._grace_s)
        return self.kill()

    def kill(self) -> int | None:
        """Kill the program and its children (KILL), as a crash would; returns the exit code."""
        self._end_group()
        return None if self._child is None else self._child.wait()

    def pause(self) -> None:
        """Suspend the program (STOP): it neither responds nor closes connections until `resume`."""
        pid = self._running().pid
        _signal_group(pid, signal.SIGSTOP)
        # The signal returns before every thread has stopped: on a busy machine one could still send a response.
        deadline = time.monotonic() + self._grace_s
        while not _is_stopped(pid):
            if time.monotonic() > deadline:
                raise self._failure(f"not suspended after {self._grace_s} s")
            time.sleep(POLL_S / 10)

    def resume(self) -> None:
        """Continue a paused program (CONT)."""
        _signal_group(self._running().pid, signal.SIGCONT)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _await_ready(self, child: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._deadline_s
        while child.poll() is None:
            if self._ready() and child.poll() is None:
                return
            if time.monotonic() > deadline:
                raise self._failure(f"not ready after {self._deadline_s} s")
            with suppress(subprocess.TimeoutExpired):
                child.wait(POLL_S)
        raise self._failure(f"died before it was ready, exit code {child.returncode}")

    def _ready(self) -> bool:
        try:
            return self._probe()
        except OSError:
            return False

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            raise RuntimeError(f"{self.name} is not running")
        return self._child

    def _end_group(self) -> None:
        """Kill the remaining processes of the last run's group, once: later another group may have its number."""
        if self._kill_finalizer is not None:
            self._kill_finalizer()

    def _failure(self, reason: str) -> ProcessFailed:
        tail = "\n".join(self.output().splitlines()[-TAIL_LINES:]) or "(it wrote nothing)"
        return ProcessFailed(f"{self.name} {reason}; the end of its output:\n{tail}")


def _remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _REAPER.release_folder(folder)


def _kill_group(group: int) -> None:
    _signal_group(group, signal.SIGKILL)
    _REAPER.release_group(group)


def _is_stopped(pid: int) -> bool:
    """Whether all threads of a process are suspended, by the state in /proc/<pid>/task/<thread>/stat."""
    try:
        stats = [stat.read_text() for stat in Path(f"/proc/{pid}/task").glob("*/stat")]
    except (FileNotFoundError, ProcessLookupError):  # a thread has ended
        return False
    return all(stat.rpartition(")")[2].split()[0] in ("T", "Z") for stat in stats)


def _signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if it still exists."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return
