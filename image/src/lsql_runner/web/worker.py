"""The worker of the server: the process that contains the application.

It ends on each termination signal, and when its master has gone: `on_exit` runs while requests end.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from gunicorn.workers import base

from lsql_runner.container.out_of_memory import raise_oom_score
from lsql_runner.errors import EXIT_RUNTIME, LsqlError

if TYPE_CHECKING:
    from lsql_runner.web.connections import HttpServer

TERMINATION = tuple(
    number
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    if signal.getsignal(number) is not signal.SIG_IGN
)
"""Without those that are ignored at the start: SIGHUP under nohup, SIGINT and SIGQUIT in the background of a script."""
LOG = logging.getLogger("lsql_runner.server")


class Worker(base.Worker):
    """A worker class of gunicorn: created in the master, and run in the process that it forks."""

    _exit_code = EXIT_RUNTIME
    _server: HttpServer | None = None

    def init_process(self) -> None:
        """Serve until a signal, and end the process. Termination signals must be blocked."""
        try:
            raise_oom_score(os.getpid())
            super().init_process()
        except LsqlError as error:
            log("cannot start", error)
            self._exit_code = error.exit_code
        except Exception as error:
            LOG.critical("cannot serve" if self.booted else "cannot start", exc_info=error)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._exit_code)  # the code after the fork is the master's

    def init_signals(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in TERMINATION:
            signal.signal(number, self.handle_exit)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINATION)

    def handle_exit(self, sig: int, frame: object) -> None:
        """The handler of termination signals. It raises no exception and takes no lock."""
        self.alive = False
        if self._server is not None:
            self._server.wake()

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        # Imported while the JVM starts, and only in the process that needs it.
        from lsql_runner.web.connections import ConnectionLimits, HttpServer

        self._server = HttpServer(self.wsgi, self.sockets[0], self.app.limits or ConnectionLimits())
        await self._server.serve(lambda: not self.alive or os.getppid() != self.ppid)
        ending = threading.Thread(target=self._call_on_exit, name="exit_callback", daemon=True)
        ending.start()  # requests do not delay it
        await self._server.finish(self.cfg.graceful_timeout)
        ending.join(self.cfg.graceful_timeout)
        if not ending.is_alive():
            self._exit_code = 0

    def _call_on_exit(self) -> None:
        try:
            self.app.on_exit()
        except Exception as error:
            LOG.error("the application did not end cleanly", exc_info=error)


def log(what: str, error: LsqlError) -> None:
    """Log an error of the server."""
    LOG.error(what, extra={"code": error.code, "error": error.message, "way_out": error.way_out})
