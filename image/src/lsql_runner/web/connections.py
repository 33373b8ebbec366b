"""The connections of the HTTP server.

waitress reads requests and writes responses in one thread that never blocks. A thread of the app gets a request when it
is complete, so a slow client holds no thread. A new connection is always accepted: at the limit, another one that no
thread works for is closed. Probes and metrics have threads of their own.
"""

from __future__ import annotations

import logging
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, get_header_lines
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask

from lsql_runner.config.networks import plain_address
from lsql_runner.errors import LsqlError
from lsql_runner.web.forwarded import REPEATED_HEADERS
from lsql_runner.web.problems import MEDIA_TYPE, problem

THREADS = 8
PROBE_THREADS = 2
HEADER_LIMIT_BYTES = 64 * 1024
BODY_LIMIT_BYTES = 64 * 1024
SEND_BUFFER_BYTES = 256 * 1024
"""The kernel would enlarge the buffer of a client that reads slowly to megabytes."""
POLL_S = 1.0


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of the connections of all clients together.

    Attributes:
        connections: that are open at the same time.
        request_s: from connecting to the last byte of the request.
        response_s: from the end of the view to the last byte of the response.
        waiting_bytes: of responses that clients have not read yet.
    """

    connections: int = 100
    request_s: float = 10.0
    response_s: float = 60.0
    waiting_bytes: int = 16 * 1024 * 1024


class HttpServer(TcpWSGIServer):
    """Serves a WSGI app on a listening socket. waitress calls its other public methods, in the thread of `run`."""

    active_channels: dict[int, Connection]

    def __init__(self, app: Callable[..., Any], listener: socket.socket, limits: ConnectionLimits) -> None:
        logging.getLogger("waitress").setLevel(logging.WARNING)
        # It warns about each request that waits for a thread.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self.limits = limits
        self.channel_class = Connection
        self._probe_threads = _threads(PROBE_THREADS)
        super().__init__(
            app,
            _sock=listener,
            dispatcher=_threads(THREADS),
            adj=Adjustments(
                sockets=[listener],
                ident=None,
                clear_untrusted_proxy_headers=False,
                log_socket_errors=False,
                max_request_header_size=HEADER_LIMIT_BYTES,
                max_request_body_size=BODY_LIMIT_BYTES + 1,
                outbuf_overflow=limits.waiting_bytes,
            ),
            bind_socket=False,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
        )

    def run(self, is_stopping: Callable[[], bool], graceful_s: float) -> None:
        """Serve until `is_stopping`, which is called after each event and every second.

        Then close the listening socket, and send the responses to complete requests for at most `graceful_s`.
        """
        while not is_stopping():
            # Not while events are handled: an accepted connection would get the descriptor, and its next event.
            self._close_excess()
            wasyncore.poll2(POLL_S, self._map)
        self.accepting = False
        self.del_channel()
        self.socket.close()
        deadline = time.monotonic() + graceful_s
        while self._close_incomplete() and time.monotonic() < deadline:
            wasyncore.poll2(POLL_S / 10, self._map)

    def readable(self) -> bool:
        return bool(self.accepting)

    def fix_addr(self, addr: tuple[Any, ...]) -> tuple[Any, ...]:
        """The address of a client. A socket for both families has IPv4 addresses as IPv6."""
        return (str(plain_address(addr[0])), *addr[1:])

    def set_socket_options(self, conn: socket.socket) -> None:
        super().set_socket_options(conn)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)

    def add_task(self, task: Connection) -> None:
        path = getattr(task.requests[0], "path", "")
        task.is_probe = path == "/metrics" or path.startswith("/health")
        (self._probe_threads if task.is_probe else self.task_dispatcher).add_task(task)

    def _connections(self) -> list[Connection]:
        return list(self.active_channels.values())

    def _close_excess(self) -> None:
        now = time.monotonic()
        for connection in self._connections():
            if connection.is_late(now):
                connection.handle_close()
        if len(self.active_channels) >= self.limits.connections:
            self._close_one()
        self._limit_waiting_bytes()

    def _close_one(self) -> None:
        """Close the oldest connection of the client that has most of them, so that it does not displace others."""
        closable = [connection for connection in self._connections() if not connection.is_running]
        number = Counter(connection.client for connection in closable)
        if closable:
            max(closable, key=lambda it: (not it.is_probe, number[it.client], -it.opened_at)).handle_close()

    def _limit_waiting_bytes(self) -> None:
        """Close the connections with the largest responses, of equal ones the oldest. A single one has no limit."""
        waiting = [it for it in self._connections() if it.total_outbufs_len and not it.is_running]
        waiting.sort(key=lambda it: (-it.total_outbufs_len, it.opened_at))
        while len(waiting) > 1 and sum(it.total_outbufs_len for it in waiting) > self.limits.waiting_bytes:
            waiting.pop(0).handle_close()

    def _close_incomplete(self) -> int:
        """Close connections without a complete request; returns the number of the others."""
        for connection in self._connections():
            if not (connection.requests or connection.is_running or connection.total_outbufs_len):
                connection.handle_close()
        return len(self.active_channels)


class _Request(HTTPRequestParser):
    """A request that knows which of its headers are repeated. waitress joins their values with commas."""

    repeated_headers: frozenset[str] = frozenset()
    """Their names in lower case."""

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        lines = get_header_lines(header_plus.partition(b"\r\n")[2])
        number = Counter(line.partition(b":")[0].lower().decode("latin-1") for line in lines)
        self.repeated_headers = frozenset(name for name, times in number.items() if times > 1)


class Connection(HTTPChannel):
    """A connection of a client, for one request."""

    server: HttpServer
    parser_class = _Request

    def __init__(self, server: HttpServer, *args: Any, **options: Any) -> None:
        self.task_class = _ViewTask
        self.error_task_class = _ProblemTask
        self.opened_at = time.monotonic()
        self.is_probe = False
        """Whether its request is complete, and for a probe or metrics."""
        self.is_running = False
        """Whether a thread of the app works for it."""
        self._deadline = self.opened_at + server.limits.request_s
        super().__init__(server, *args, **options)

    @property
    def client(self) -> str:
        """The address of the client."""
        return str(self.addr[0])

    def is_late(self, now: float) -> bool:
        """Whether the client has not sent its request, or not read the response, in time."""
        return not self.requests and not self.is_running and now > self._deadline

    def service(self) -> None:
        self.is_running = True
        try:
            super().service()
        finally:
            self._deadline = time.monotonic() + self.server.limits.response_s
            self.is_running = False


class _ViewTask(WSGITask):
    """Gets the response of the app, and closes the connection after it: clients poll only every few seconds."""

    def get_environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = super().get_environment()
        environment[REPEATED_HEADERS] = self.request.repeated_headers
        return environment

    def build_response_header(self) -> bytes:
        self.set_close_on_finish()
        return bytes(super().build_response_header())


class _ProblemTask(ErrorTask):
    """The response to a request that the app does not get."""

    def execute(self) -> None:
        cause = self.request.error
        code = "REQUEST_NOT_HTTP" if cause.code == HTTPStatus.BAD_REQUEST else "REQUEST_INVALID"
        described = problem(LsqlError(code, reason=cause.body), "", cause.code)
        body = described.model_dump_json(by_alias=True).encode()
        self.status = f"{described.status} {described.title}"
        self.response_headers.append(("Content-Type", MEDIA_TYPE))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


def _threads(number: int) -> ThreadedTaskDispatcher:
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(number)
    return dispatcher
