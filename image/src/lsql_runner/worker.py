"""`lsql worker`: runs tasks of a processor.

It waits for the processor, starts the JVM of Spark's worker, and starts a new one when the processor was restarted.
"""

from __future__ import annotations

import logging
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from lsql_runner.config.jvm_options import connector_mib, jvm_options_for
from lsql_runner.config.settings import read_settings
from lsql_runner.container.budget import worker_budget
from lsql_runner.container.limits import cores, memory_limit_mib
from lsql_runner.jvm.java import OUT_OF_HEAP
from lsql_runner.jvm.worker_jvm import WorkerJvm
from lsql_runner.jvm.workers import Workers
from lsql_runner.observe.logs import configure
from lsql_runner.runtime.file_watch import FileWatch

LOG = logging.getLogger("lsql_runner.worker")

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 2.0
_CONNECT_TIMEOUT_S = 2.0
_WATCH_S = 5.0
"""The files of settings are compared with the start's files after this time."""
_REPEAT_S = 60.0
"""The line of a wait that lasts is logged again after this time."""


def run(environment: Mapping[str, str]) -> int:
    """Run the worker that the environment describes until a signal arrives; returns the exit code.

    It also ends when the file of a setting, such as the secret, has changed: who started it starts it again.

    Raises:
        LsqlError: the settings are invalid; JAVA_MISSING, JARS_MISSING.
    """
    settings = read_settings(environment, needs_program=False)
    workers = settings.of_worker
    configure(settings.log_level, includes_values=settings.errors_include_values)
    options = jvm_options_for(settings, worker_budget(memory_limit_mib(), connector_mib(settings)))
    slots = settings.threads or cores()
    worker = WorkerLoop(workers, lambda own_host: WorkerJvm(workers, options, own_host, slots))
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:  # in the background of a script, SIGINT is ignored
            signal.signal(number, lambda *_: worker.stop())

    def on_change(path: Path) -> None:
        LOG.info("a settings file changed; the worker stops so that it is restarted with it", extra={"path": str(path)})
        worker.stop()

    with closing(FileWatch(settings.files, on_change, _WATCH_S)):
        worker.run()
    return 0


class WorkerLoop:
    """Keeps a worker of the processor running.

    Two files tell probes about it, in `folder`: `alive` is written every few seconds, `joined` exists while the worker
    runs tasks.

    Args:
        workers: the processor.
        start: starts the JVM with the address of this machine.
        folder: `lsql-worker` in the folder for temporary files, by default.
    """

    def __init__(self, workers: Workers, start: Callable[[str], WorkerJvm], folder: Path | None = None) -> None:
        self._workers = workers
        self._start = start
        self._folder = folder or Path(tempfile.gettempdir(), "lsql-worker")
        self._joined = self._folder / "joined"
        self._jvm: WorkerJvm | None = None
        self._stops = False
        self._said: tuple[str, float] = ("", 0.0)

    def stop(self) -> None:
        """Let running tasks end, then make `run` return. A signal handler may call it."""
        self._stops = True
        if self._jvm is not None:
            self._jvm.decommission()

    def run(self) -> None:
        """Run until `stop`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._joined.unlink(missing_ok=True)  # of a process that was killed: in a pod, the folder is kept
        pause_s = _FIRST_PAUSE_S
        while not self._stops:
            self._is_alive()
            own_host = own_address(self._workers)
            if own_host is None:
                self._say(logging.INFO, "waiting for the processor")
            elif self._serve(own_host):
                pause_s = _FIRST_PAUSE_S
            self._wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stops and time.monotonic() < until:
            time.sleep(0.05)  # a signal handler does not end a sleep

    def _serve(self, own_host: str) -> bool:
        """Run a JVM until it ends; whether it has joined the processor."""
        jvm = self._jvm = self._start(own_host)
        joined = False
        try:
            if self._stops:
                jvm.decommission()
            for line in jvm.lines():
                self._is_alive()
                step, _, detail = line.partition(" ")
                joined = joined or step == "joined"
                self._report(step, detail)
        finally:
            self._joined.unlink(missing_ok=True)
            self._jvm = None
            code = jvm.close()
            if code != 0 and not self._stops:
                ended = "ran out of heap" if code == OUT_OF_HEAP else "failed"
                self._say(logging.ERROR, f"the JVM of the worker {ended}", exit_code=str(code))
        return joined

    def _report(self, step: str, detail: str) -> None:
        if step == "joined":
            self._joined.touch()
            self._said = ("", 0.0)
            LOG.info("joined the processor", extra=self._address())
        elif step == "refused":
            own = version("lsql-runner")
            self._say(logging.ERROR, "refused: the processor has another version", processor=detail, worker=own)
        elif step == "unreachable":
            self._say(logging.WARNING, "the processor does not accept the connection", reason=detail)
        elif step == "lost":
            LOG.warning("lost the processor", extra={"reason": detail})
        elif step == "executor" and not self._stops:
            LOG.warning("an executor has ended", extra={"executor": detail})
        elif step == "left":
            LOG.info("left the processor")

    def _say(self, level: int, text: str, **fields: str) -> None:
        last, at = self._said
        if text != last or time.monotonic() - at >= _REPEAT_S:
            self._said = (text, time.monotonic())
            LOG.log(level, text, extra={**self._address(), **fields})

    def _address(self) -> dict[str, str | int]:
        return {"host": self._workers.host, "port": self._workers.port}

    def _is_alive(self) -> None:
        (self._folder / "alive").touch()


def own_address(workers: Workers) -> str | None:
    """The address of this machine by which it reaches the processor, IPv6 in brackets; None if it does not reach it."""
    try:
        with socket.create_connection((workers.host.strip("[]"), workers.port), _CONNECT_TIMEOUT_S) as connection:
            address: str = connection.getsockname()[0]
    except OSError:
        return None
    return f"[{address}]" if ":" in address else address
