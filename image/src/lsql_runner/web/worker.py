"""The worker of the server: the process that contains the application.

It ends on each termination signal, and when its master has gone: `on_exit` runs while requests end.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType

from flask import Flask

from lsql_runner.container.out_of_memory import raise_oom_score
from lsql_runner.errors import EXIT_RUNTIME, LsqlError
from lsql_runner.web.connections import ConnectionLimits, HttpServer

TERMINATION = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
LOG = logging.getLogger("lsql_runner.server")


class Worker:
    """Created in the master, and run in the process that it forks.

    Args:
        make_app: creates the application.
        on_exit: called once when the worker is to end, if `make_app` has returned.
        graceful_s: how long requests and `on_exit` may take at the end.
        limits: of connections.
    """

    def __init__(
        self, make_app: Callable[[], Flask], on_exit: Callable[[], None], graceful_s: float, limits: ConnectionLimits
    ) -> None:
        self._make_app = make_app
        self._on_exit = _ExitCallback(on_exit)
        self._graceful_s = graceful_s
        self._limits = limits
        self._master = os.getpid()
        self._server: HttpServer | None = None
        self._was_signalled = False

    def run(self, listener: socket.socket) -> int:
        """Serve until a signal; returns the exit code of the process. Termination signals must be blocked."""
        for number in TERMINATION:
            signal.signal(number, self._end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION)
        raise_oom_score(os.getpid())
        try:
            app = self._make_app()
        except LsqlError as error:
            log("cannot start", error)
            return error.exit_code
        except Exception as error:
            LOG.critical("cannot start", exc_info=error)
            return EXIT_RUNTIME
        self._on_exit.arm()
        self._server = HttpServer(app.wsgi_app, listener, self._limits)
        self._server.run(self._is_stopping, self._graceful_s)
        self._on_exit.trigger()
        return 0 if self._on_exit.wait(self._graceful_s) else EXIT_RUNTIME

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        """The handler of termination signals. It raises no exception and takes no lock."""
        self._was_signalled = True
        self._on_exit.trigger()
        if self._server is not None:
            self._server.pull_trigger()

    def _is_stopping(self) -> bool:
        return self._was_signalled or os.getppid() != self._master


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


def log(what: str, error: LsqlError) -> None:
    """Log an error of the server."""
    LOG.error(what, extra={"code": error.code, "error": error.message, "way_out": error.way_out})


def leave(code: int) -> None:
    """End the worker without the code after the fork, which is the master's."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
