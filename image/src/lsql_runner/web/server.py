"""Serves an application over HTTP with two processes of gunicorn: this one, the master, and a worker that contains the
application. That of a processor includes the supervisor and its JVM, that of the console its watch of the cluster.

serve -> binds the port -> forks the worker -> make_app() -> serves
SIGTERM, Ctrl-C        -> worker: on_exit() while requests end -> both processes exit with 0
the worker ended       -> the master exits with its code (3 if it was killed), so that Kubernetes restarts the container
"""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

from gunicorn.arbiter import Arbiter
from gunicorn.config import Config

from lsql_runner.config.networks import EVERY_ADDRESS
from lsql_runner.container.out_of_memory import ExitReasons
from lsql_runner.errors import EXIT_RUNTIME, LsqlError
from lsql_runner.web.worker import TERMINATION, Worker, log

if TYPE_CHECKING:
    from flask import Flask

    from lsql_runner.web.connections import ConnectionLimits

GRACEFUL_S = 30
_NOT_AVAILABLE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
"""Errors for an address that no interface has, and for one of IPv6 where IPv6 is off."""


def serve(
    make_app: Callable[[], Flask],
    port: int,
    on_exit: Callable[[], None],
    graceful_s: int = GRACEFUL_S,
    limits: ConnectionLimits | None = None,
    address: str = EVERY_ADDRESS,
) -> int:
    """Serve on an address until a signal, or until the worker ends. Returns the exit code of the process.

    `make_app` is called in the worker, after the fork. If it raises an LsqlError, the server ends with the exit code
    of the error; after any other exception it ends with 3. When the worker is to end, `on_exit` is called once in
    it, but only if `make_app` has returned. After `graceful_s`, or 2 s after a second signal, the worker is killed.

    Raises:
        LsqlError: PORT_IN_USE, PORT_NOT_ALLOWED or ADDRESS_NOT_LOCAL, before anything is started.
    """
    listener = bind(port, address)
    settings = Config()
    settings.set("worker_class", Worker)
    settings.set("logger_class", _Log)
    settings.set("graceful_timeout", graceful_s)
    settings.set("timeout", 0)  # health checks notice a worker that hangs
    settings.set("control_socket_disable", True)
    master = _Master(SimpleNamespace(cfg=settings, wsgi=make_app, on_exit=on_exit, limits=limits), listener)
    # A collection writes to all objects, so the two processes would no longer share those of the imported modules.
    gc.freeze()
    return master.end_with_worker()


def bind(port: int, address: str = EVERY_ADDRESS) -> socket.socket:
    """A listening socket. On `::` it accepts IPv4 as well; where IPv6 is off, only IPv4.

    Raises:
        LsqlError: PORT_IN_USE; PORT_NOT_ALLOWED for a port that this process may not bind; ADDRESS_NOT_LOCAL.
    """
    try:
        return _listening(port, address)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
    if number in _NOT_AVAILABLE and address == EVERY_ADDRESS:
        return bind(port, "0.0.0.0")
    if number in _NOT_AVAILABLE:
        raise LsqlError("ADDRESS_NOT_LOCAL", address=address)
    raise LsqlError("PORT_IN_USE" if number == errno.EADDRINUSE else "PORT_NOT_ALLOWED", port=port)


def _listening(port: int, address: str) -> socket.socket:
    is_ipv6 = ":" in address
    with ExitStack() as until_error:
        listener = until_error.enter_context(socket.socket(socket.AF_INET6 if is_ipv6 else socket.AF_INET))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_ipv6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, address != EVERY_ADDRESS)
        listener.bind((address, port))
        listener.listen()
        until_error.pop_all()
    return listener


class _Log(logging.LoggerAdapter[logging.Logger]):
    """What gunicorn asks for: a logger. Its warnings have the form of all others, and information is not logged."""

    def __init__(self, settings: object) -> None:
        super().__init__(logging.getLogger("gunicorn"), {})
        self.setLevel(logging.WARNING)

    def close_on_exec(self) -> None:
        """There is no file."""


class _Master(Arbiter):
    """gunicorn's master for one worker: it never starts another one. Each termination signal has the same effect."""

    SIGNALS = TERMINATION

    def __init__(self, app: SimpleNamespace, listener: socket.socket) -> None:
        super().__init__(app)
        self.LISTENERS = [listener]
        self._exit_reasons = ExitReasons()
        self._exit_code = EXIT_RUNTIME

    def end_with_worker(self) -> int:
        """Returns the exit code."""
        try:
            self.run()
        except SystemExit as end:
            if end.code:
                return EXIT_RUNTIME
        for pid in self.WORKERS:  # it was killed, as it did not end in time
            os.waitpid(pid, 0)
        return self._exit_code

    def signal(self, sig: int, frame: object) -> None:
        """Handles each termination signal as SIGINT. Only a second SIGINT makes gunicorn end after two seconds."""
        super().signal(signal.SIGINT, frame)

    def handle_int(self) -> None:
        self.handle_term()

    def spawn_worker(self) -> None:
        # A signal before the worker has its handlers would be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION)
        super().spawn_worker()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION)

    def manage_workers(self) -> None:
        """Called after each signal, also that of the end of a child."""
        if self.worker_age and not self.WORKERS:
            raise StopIteration
        super().manage_workers()

    def reap_workers(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if self.WORKERS.pop(ended[0], None):  # others are orphans: this may be process 1 of a container
                    self._exit_code = self._code(os.waitstatus_to_exitcode(ended[1]))

    def _code(self, code: int) -> int:
        if code >= 0:
            return code
        log("worker killed", LsqlError("SERVER_GONE", reason=self._exit_reasons.describe(code)))
        return EXIT_RUNTIME
