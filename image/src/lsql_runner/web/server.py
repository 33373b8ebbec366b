"""Serves an application over HTTP with two processes: this one, the master, and a worker that contains the application.
That of a processor includes the supervisor and its JVM, that of the console its watch of the cluster.

serve -> binds the port -> forks the worker -> make_app() -> serves
SIGTERM, Ctrl-C        -> worker: on_exit() while requests end -> both processes exit with 0
the worker ended       -> the master exits with its code (3 if it was killed), so that Kubernetes restarts the container
"""

from __future__ import annotations

import errno
import gc
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

from flask import Flask

from lsql_runner.config.networks import EVERY_ADDRESS
from lsql_runner.container.out_of_memory import ExitReasons
from lsql_runner.errors import EXIT_RUNTIME, LsqlError
from lsql_runner.web.connections import ConnectionLimits
from lsql_runner.web.worker import TERMINATION, Worker, leave, log

GRACEFUL_S = 30
_IMPATIENT_S = 2
_NOT_AVAILABLE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
"""Errors for an address that no interface has, and for one of IPv6 where IPv6 is off."""


def serve(
    make_app: Callable[[], Flask],
    port: int,
    on_exit: Callable[[], None],
    graceful_s: float = GRACEFUL_S,
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
    # A collection writes to all objects, so the two processes would no longer share those of the imported modules.
    gc.freeze()
    worker = Worker(make_app, on_exit, graceful_s, limits or ConnectionLimits())
    signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION)
    pid = os.fork()
    if pid == 0:
        try:
            leave(worker.run(listener))
        finally:
            os._exit(EXIT_RUNTIME)
    listener.close()
    return _Master(pid, graceful_s).run()


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


class _Master:
    """Waits for the worker, and passes on termination signals. It never starts another worker."""

    def __init__(self, worker: int, graceful_s: float) -> None:
        self._worker = worker
        self._graceful_s = graceful_s
        self._exit_reasons = ExitReasons()
        self._deadline: float | None = None

    def run(self) -> int:
        """Returns the exit code. Termination signals must be blocked."""
        received, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        for number in (*TERMINATION, signal.SIGCHLD):
            signal.signal(number, lambda number, frame: None)  # without a handler, no byte is written to the pipe
        signal.set_wakeup_fd(wakeup)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION)
        while (code := self._collect()) is None:
            if select.select([received], [], [], self._remaining_s())[0]:
                if set(os.read(received, 256)) & set(TERMINATION):
                    self._end()
            else:
                os.kill(self._worker, signal.SIGKILL)
                os.waitpid(self._worker, 0)
                return EXIT_RUNTIME
        return code

    def _end(self) -> None:
        seconds = self._graceful_s if self._deadline is None else _IMPATIENT_S
        deadline = time.monotonic() + seconds
        self._deadline = deadline if self._deadline is None else min(self._deadline, deadline)
        os.kill(self._worker, signal.SIGTERM)

    def _remaining_s(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _collect(self) -> int | None:
        """Collect children that ended; returns the exit code if the worker is one of them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return EXIT_RUNTIME
            if pid == 0:
                return None
            if pid == self._worker:  # others are orphans: this may be process 1 of a container
                return self._code(os.waitstatus_to_exitcode(status))

    def _code(self, code: int) -> int:
        if code >= 0:
            return code
        log("worker killed", LsqlError("WORKER_GONE", reason=self._exit_reasons.describe(code)))
        return EXIT_RUNTIME
