"""Runs gunicorn in this process: a master and one worker with threads, which contains the application. That of a
processor includes the supervisor and its JVM, that of the console its watch of the cluster.

serve -> binds the port -> master -> forks the worker -> make_app() -> serves
SIGTERM, Ctrl-C        -> worker: on_exit() while requests end -> both processes exit with 0
the worker ended       -> the master exits with its code (3 if it was killed), so that Kubernetes restarts the container
"""

from __future__ import annotations

import errno
import gc
import logging
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any, ClassVar

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.errors import HaltServer
from gunicorn.glogging import Logger
from gunicorn.http.errors import ParseException
from gunicorn.http.message import Request
from gunicorn.workers.gthread import ThreadWorker

from lsql_runner.container.out_of_memory import ExitReasons, raise_oom_score
from lsql_runner.errors import EXIT_RUNTIME, LsqlError
from lsql_runner.web.problems import MEDIA_TYPE, problem

THREADS = 8
GRACEFUL_S = 30
LOG = logging.getLogger("lsql_runner.server")


def serve(make_app: Callable[[], Flask], port: int, on_exit: Callable[[], None], graceful_s: int = GRACEFUL_S) -> int:
    """Serve on all IPv4 addresses until a signal, or until the worker ends. Returns the exit code of the process.

    `make_app` is called in the worker, after the fork. If it raises an LsqlError, the server ends with the exit code
    of the error; after any other exception it ends with 3. When the worker is to end, `on_exit` is called once in
    it, but only if `make_app` has returned. After `graceful_s`, or 2 s after a second Ctrl-C, the worker is killed.

    Raises:
        LsqlError: PORT_IN_USE or PORT_NOT_ALLOWED, before anything is started.
    """
    listener = bind(port)
    master = os.getpid()
    arbiter = _Arbiter(_Application(make_app, on_exit, listener.detach(), graceful_s))
    code = EXIT_RUNTIME
    # A collection writes to all objects, so the two processes would no longer share those of the imported modules.
    gc.freeze()
    try:
        arbiter.run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else EXIT_RUNTIME
    except HaltServer as end:
        code = end.exit_status
    if os.getpid() != master:
        _leave(code)
    return code or arbiter.worker_code


def bind(port: int) -> socket.socket:
    """A listening socket for gunicorn.

    Raises:
        LsqlError: PORT_IN_USE; PORT_NOT_ALLOWED for a port that this process may not bind.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("0.0.0.0", port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise LsqlError("PORT_IN_USE", port=port) from None
        raise LsqlError("PORT_NOT_ALLOWED", port=port) from None
    return listener


class _Application(BaseApplication):
    """The application as gunicorn sees it: the settings, and the app once the worker loads it."""

    def __init__(
        self, make_app: Callable[[], Flask], on_exit: Callable[[], None], listener: int, graceful_s: int
    ) -> None:
        self._make_app = make_app
        self._listener = listener
        self._graceful_s = graceful_s
        self._master = os.getpid()
        self.exit_callback = _ExitCallback(on_exit)
        super().__init__()

    def load_config(self) -> None:
        settings: dict[str, Any] = {
            "bind": f"fd://{self._listener}",
            "worker_class": _Worker,
            "workers": 1,
            "threads": THREADS,
            # The liveness probe detects a worker that hangs; gunicorn's timeout would include the start of the JVM.
            "timeout": 0,
            "graceful_timeout": self._graceful_s,
            # Open connections would delay the end, and clients poll only every few seconds.
            "keepalive": 0,
            "worker_exit": self._worker_exit,
            "logger_class": _Logger,
            "control_socket_disable": True,
        }
        if os.access("/dev/shm", os.W_OK):  # the root file system may be read-only
            settings["worker_tmp_dir"] = "/dev/shm"
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> Callable[..., Iterable[bytes]]:
        raise_oom_score(os.getpid())
        try:
            app = self._make_app()
        except LsqlError as error:
            _log("cannot start", error)
            sys.exit(error.exit_code)
        except Exception as error:
            LOG.critical("cannot start", exc_info=error)
            sys.exit(EXIT_RUNTIME)
        self.exit_callback.arm()
        return app.wsgi_app

    def _worker_exit(self, _arbiter: Arbiter, _worker: ThreadWorker) -> None:
        if os.getpid() != self._master:  # gunicorn also calls this in the master, for a worker that was killed
            self.exit_callback.trigger()
            if not self.exit_callback.wait(self._graceful_s):
                os._exit(EXIT_RUNTIME)  # the master is about to kill this process anyway


class _ExitCallback:
    """Calls `on_exit` once, on its own thread: neither requests nor signals delay it."""

    def __init__(self, on_exit: Callable[[], None]) -> None:
        self._on_exit = on_exit
        self._triggers: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def arm(self) -> None:
        self._thread = threading.Thread(target=self._run, name="exit_callback", daemon=True)
        self._thread.start()

    def trigger(self) -> None:
        """Let the thread call `on_exit`. Takes no lock, so signal handlers may call it."""
        self._triggers.put(None)

    def wait(self, timeout_s: float) -> bool:
        """Whether `on_exit` ended in time."""
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        self._triggers.get()
        try:
            self._on_exit()
        except Exception as error:
            LOG.error("the application did not end cleanly", exc_info=error)


class _Worker(ThreadWorker):
    """Ends gracefully on every termination signal; no handler raises an exception."""

    app: _Application

    def init_signals(self) -> None:
        super().init_signals()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, self.handle_exit)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.app.exit_callback.trigger()

    def handle_error(self, req: Request | None, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Respond with a problem to a request that is not HTTP. gunicorn handles all other exceptions."""
        if not isinstance(exc, ParseException):
            super().handle_error(req, client, addr, exc)
            return
        error = LsqlError("REQUEST_NOT_HTTP", reason=type(exc).__name__)
        body = problem(error, "").model_dump_json(by_alias=True).encode()
        lines = (
            "HTTP/1.1 400 Bad Request",
            "Connection: close",
            f"Content-Type: {MEDIA_TYPE}",
            f"Content-Length: {len(body)}",
        )
        with suppress(OSError):
            client.sendall("\r\n".join((*lines, "", "")).encode() + body)


class _Arbiter(Arbiter):
    """A master that never starts a second worker: an application has one state."""

    SIGNALS: ClassVar[list[int]] = [signal.SIGHUP, signal.SIGQUIT, signal.SIGINT, signal.SIGTERM]
    """gunicorn handles only these: the signals for reload, re-execution and scaling keep their defaults."""

    def __init__(self, app: _Application) -> None:
        self.worker_code = 0
        self._stopping = False
        self._exit_reasons = ExitReasons()
        super().__init__(app)

    def handle_term(self) -> None:
        raise StopIteration

    handle_hup = handle_int = handle_quit = handle_term

    def stop(self, graceful: bool = True) -> None:
        self._stopping = True
        super().stop(graceful)
        for pid in self.WORKERS:  # it did not end in time and was killed
            os.waitpid(pid, 0)
            self.worker_code = EXIT_RUNTIME

    def reap_workers(self) -> None:
        """Collect children that ended. If the worker ended without a stop, end the server with its exit code."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            worker = self.WORKERS.pop(pid, None)
            if worker is None:  # an orphan: this may be process 1 of a container
                continue
            worker.tmp.close()
            code = os.waitstatus_to_exitcode(status)
            self.worker_code = code if code >= 0 else EXIT_RUNTIME
            if code < 0:
                _log("worker killed", LsqlError("WORKER_GONE", reason=self._exit_reasons.describe(code)))
            if not self._stopping:
                raise HaltServer("the worker ended", self.worker_code)


class _Logger(Logger):
    """Sends the messages of gunicorn to our log; its level info becomes debug."""

    def setup(self, cfg: Config) -> None:
        self.error_log = LOG

    def info(self, msg: object, *args: object, **kwargs: Any) -> None:
        self.error_log.debug(msg, *args, **kwargs)

    def close_on_exec(self) -> None:
        """No log file is open."""

    def reopen_files(self) -> None:
        """No log file is open."""


def _log(what: str, error: LsqlError) -> None:
    LOG.error(what, extra={"code": error.code, "error": error.message, "way_out": error.way_out})


def _leave(code: int) -> None:
    """End the worker, because only the master may run the code after `serve`."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
