"""The processes of the cluster. They outlive the command that starts them, so files record them."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ci.cluster.layout import LOGS, PATH, RUN, environment

TAIL_LINES = 30
POLL_S = 0.05
GRACE_S = 10


class ClusterFailed(Exception):
    """A program of the cluster or a command failed, or was not ready in time. The message contains its last output."""


@dataclass(frozen=True)
class Executable:
    """A program of the cluster, identified by its name.

    Its id and start time identify its process, because another process may have got the id since.
    """

    name: str

    @property
    def log(self) -> Path:
        """The log of all its runs."""
        return LOGS / f"{self.name}.log"

    @property
    def _file(self) -> Path:
        return RUN / f"{self.name}.pid"

    @property
    def pid(self) -> int | None:
        """Its process id; None if it does not run."""
        try:
            pid, started = self._file.read_text().split()
        except (FileNotFoundError, ValueError):
            return None
        with suppress(ChildProcessError):
            os.waitpid(int(pid), os.WNOHANG)  # it may be a child of this process that has ended and was not waited for
        return int(pid) if start_time(int(pid)) == started else None

    def start(self, argv: Sequence[str | Path]) -> None:
        """Start it in a new session, with its log in a file."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        output = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            # Not subprocess.Popen, which warns if the object is collected while the program runs, as is intended here.
            pid = os.posix_spawn(
                shutil.which(argv[0], path=PATH) or str(argv[0]),
                [str(argument) for argument in argv],
                environment(),
                setsid=True,
                setsigmask=(),
                setsigdef=(signal.SIGINT, signal.SIGTERM, signal.SIGPIPE),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                ],
            )
        finally:
            os.close(output)
        self._file.write_text(f"{pid} {start_time(pid)}")

    def stop(self) -> None:
        """End it (TERM), and kill it after a time; its children in other sessions continue."""
        self._end(signal.SIGTERM, GRACE_S)

    def kill(self) -> None:
        """Kill it."""
        self._end(signal.SIGKILL, 0)

    def wait_until(self, ready: Callable[[], bool], deadline_s: float, condition: str) -> None:
        """Wait until `ready` returns true. Raises ClusterFailed if the program ends first, or after the deadline."""
        deadline = time.monotonic() + deadline_s
        while not ready():
            if self.pid is None:
                raise ClusterFailed(f"{self.name} died; the end of {self.log}:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise ClusterFailed(f"{condition}: not within {deadline_s} s; the end of {self.log}:\n{self.tail()}")
            time.sleep(POLL_S)

    def tail(self) -> str:
        """The last lines of its log."""
        if not self.log.exists():
            return "(it wrote nothing)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:])

    def _end(self, first: signal.Signals, grace_s: float) -> None:
        pid = self.pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(pid, first)
            deadline = time.monotonic() + grace_s
            while self.pid is not None:
                if time.monotonic() >= deadline:
                    with suppress(ProcessLookupError):
                        os.killpg(pid, signal.SIGKILL)
                time.sleep(POLL_S)
        self._file.unlink(missing_ok=True)


def start_time(pid: int) -> str | None:
    """The start time of a process, in kernel ticks since boot; None if it has ended or is a zombie."""
    try:
        fields = Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    state, started = fields[0], fields[19]
    return None if state in "ZX" else started


def command(argv: Sequence[str | Path], stdin: str | bytes | None = None) -> str:
    """Run a command of the cluster; returns its output. Raises ClusterFailed, with its errors, if it fails."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    result = subprocess.run(list(argv), input=given, capture_output=True, check=False, env=environment())
    if result.returncode:
        raise ClusterFailed(
            f"`{' '.join(map(str, argv[:6]))}` failed: {result.stderr.decode(errors='replace').strip()}"
        )
    return result.stdout.decode(errors="replace")


def succeeds(argv: Sequence[str | Path]) -> bool:
    """Whether a command exits with 0."""
    return subprocess.run(list(argv), capture_output=True, check=False, env=environment()).returncode == 0
