"""The connections of the HTTP server.

Tornado reads requests and writes responses in one thread that never blocks. A thread of the app gets a request when it
is complete, so a slow client holds no thread. A new connection is always accepted: at the limit, another one that no
thread works for is closed. Probes and metrics have threads of their own.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from flask import Response
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders, HTTPInputError, HTTPServerRequest, ResponseStartLine
from tornado.iostream import IOStream, UnsatisfiableReadError
from tornado.wsgi import WSGIContainer

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
LOG = logging.getLogger(__name__)

_STATUS = {
    "Content-Length too long": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "chunked body too large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "Unsupported Transfer-Encoding": HTTPStatus.NOT_IMPLEMENTED,
}
"""Tornado's errors, without what follows, to which it responds with 400 although HTTP has a status for them."""
_REASON_CHARS = 200


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


class HttpServer:
    """Serves a WSGI app on a listening socket. Created in a running event loop."""

    def __init__(self, app: Callable[..., Any], listener: socket.socket, limits: ConnectionLimits) -> None:
        logging.getLogger("tornado").setLevel(logging.ERROR)  # it reports what clients do
        listener.setblocking(False)
        self._listener = listener
        self._limits = limits
        self._open: set[Connection] = set()
        self._views = _Views(app, THREADS)
        self._probes = _Views(app, PROBE_THREADS)
        self._http = HTTPServer(
            self._handle_request,
            no_keep_alive=True,  # clients poll only every few seconds
            max_header_size=HEADER_LIMIT_BYTES - 1,
            max_body_size=BODY_LIMIT_BYTES,
        )
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()

    async def serve(self, is_stopping: Callable[[], bool]) -> None:
        """Serve until `is_stopping`, which is called after each `wake` and every second."""
        self._loop.add_reader(self._listener, self._accept)
        while not is_stopping():
            self._close_late()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), POLL_S)
            self._woken.clear()
        self._loop.remove_reader(self._listener)
        self._listener.close()

    async def finish(self, graceful_s: float) -> None:
        """Send the responses to complete requests for at most `graceful_s`."""
        deadline = time.monotonic() + graceful_s
        while self._close_incomplete() and time.monotonic() < deadline:
            await asyncio.sleep(POLL_S / 10)

    def wake(self) -> None:
        """Call `is_stopping` soon. Takes no lock, so signal handlers may call it."""
        self._loop.call_soon_threadsafe(self._woken.set)

    def _accept(self) -> None:
        """Accept one connection. Tornado would accept all that wait before it reads one of them."""
        try:
            client, address = self._listener.accept()
        except OSError:  # the client has gone
            return
        if len(self._open) >= self._limits.connections:
            self._close_one()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        # A socket for both families has IPv4 addresses as IPv6.
        connection = Connection(client, str(plain_address(address[0])), self._limits, self._open)
        self._http.handle_stream(connection, (connection.client, *address[1:]))

    def _handle_request(self, request: HTTPServerRequest) -> None:
        """Called with a complete request."""
        connection = _connection(request)
        if request.path.startswith("http"):  # the URI of a proxy's request, with scheme and host
            request.path = urlsplit(request.path).path
        connection.is_probe = request.path == "/metrics" or request.path.startswith("/health")
        connection.deadline = math.inf
        connection.view = asyncio.create_task(self._respond(request, connection))

    async def _respond(self, request: HTTPServerRequest, connection: Connection) -> None:
        try:
            await (self._probes if connection.is_probe else self._views).handle_request(request)
        except Exception as error:
            LOG.error("no response", exc_info=error, extra={"path": request.path})
            connection.close()
        connection.deadline = time.monotonic() + self._limits.response_s
        self._limit_waiting_bytes()

    def _close_late(self) -> None:
        now = time.monotonic()
        for connection in list(self._open):
            if now > connection.deadline:
                connection.close()

    def _close_one(self) -> None:
        """Close the oldest connection of the client that has most of them, so that it does not displace others."""
        closable = [connection for connection in self._open if not connection.is_running]
        number = Counter(connection.client for connection in closable)
        if closable:
            max(closable, key=lambda it: (not it.is_probe, number[it.client], -it.opened_at)).close()

    def _limit_waiting_bytes(self) -> None:
        """Close the connections with the largest responses, of equal ones the oldest. A single one has no limit."""
        waiting = sorted((it for it in self._open if it.unsent_bytes), key=lambda it: (-it.unsent_bytes, it.opened_at))
        while len(waiting) > 1 and sum(it.unsent_bytes for it in waiting) > self._limits.waiting_bytes:
            waiting.pop(0).close()

    def _close_incomplete(self) -> int:
        """Close connections without a complete request; returns the number of the others."""
        for connection in list(self._open):
            if connection.view is None:
                connection.close()
        return len(self._open)


class Connection(IOStream):
    """A connection of a client, for one request.

    Args:
        client: its address.
        opened: the open connections; this one is among them until it is closed.
    """

    def __init__(self, accepted: socket.socket, client: str, limits: ConnectionLimits, opened: set[Connection]) -> None:
        super().__init__(accepted)
        self.client = client
        self.opened_at = time.monotonic()
        self.deadline = self.opened_at + limits.request_s
        """When it is closed. While the app works for it, there is none."""
        self.view: asyncio.Task[None] | None = None
        """Makes the response, once the request is complete."""
        self.is_probe = False
        """Whether its request is complete, and for a probe or metrics."""
        self.is_running = False
        """Whether a thread of the app works for it."""
        self.unsent_bytes = 0
        self._opened = opened
        opened.add(self)

    def write(self, data: bytes | memoryview) -> asyncio.Future[None]:
        """Called by Tornado; its response to a malformed request has no body, and we send a problem in its place."""
        error = sys.exception()
        if isinstance(error, HTTPInputError):
            text = str(error)
            status = next((_STATUS[start] for start in _STATUS if text.startswith(start)), HTTPStatus.BAD_REQUEST)
            data = _problem(status, text)
        self.unsent_bytes += len(data)
        return super().write(data)

    def write_to_fd(self, data: memoryview) -> int:
        sent = super().write_to_fd(data)
        self.unsent_bytes -= sent
        return sent

    def close(self, exc_info: Any = False) -> None:
        if isinstance(exc_info, UnsatisfiableReadError) and not self.closed():
            self.write(_problem(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too large"))
        super().close(exc_info)
        self._opened.discard(self)
        if self.view is not None and not self.is_running:
            self.view.cancel()


class _Views(WSGIContainer):
    """Calls the app in threads of its own. The end of its client cancels a request that waits for a thread."""

    def __init__(self, app: Callable[..., Any], threads: int) -> None:
        super().__init__(app, ThreadPoolExecutor(threads))
        self._free = asyncio.Semaphore(threads)

    async def handle_request(self, request: HTTPServerRequest) -> None:
        """As that of Tornado, but in one call of a thread, with `Date` and without the version of the server."""
        connection = _connection(request)
        view = partial(Response.from_app, self.wsgi_application, self.environ(request), buffered=True)
        async with self._free:
            connection.is_running = True
            try:
                response = await asyncio.get_running_loop().run_in_executor(self.executor, view)
            finally:
                connection.is_running = False
        headers = HTTPHeaders()
        for name, value in response.headers.items():
            headers.add(name, value)
        headers.setdefault("Date", formatdate(usegmt=True))
        start = ResponseStartLine("HTTP/1.1", response.status_code, response.status.partition(" ")[2])
        assert request.connection is not None
        request.connection.write_headers(start, headers, response.get_data())
        request.connection.finish()

    def environ(self, request: HTTPServerRequest) -> dict[str, Any]:
        repeated = frozenset(name.lower() for name in request.headers if len(request.headers.get_list(name)) > 1)
        request.host = "localhost"  # Tornado fails on `a:b`; the app reads the header
        environment = super().environ(request)
        if environment.pop("HTTP_TRANSFER_ENCODING", None):  # the body is no longer in chunks
            environment["CONTENT_LENGTH"] = str(len(request.body))
        environment[REPEATED_HEADERS] = repeated
        return environment


def _connection(request: HTTPServerRequest) -> Connection:
    stream: Connection = request.connection.stream  # type: ignore[union-attr]
    return stream


def _problem(status: HTTPStatus, reason: str) -> bytes:
    """The response to a request that the app does not get."""
    code = "REQUEST_NOT_HTTP" if status == HTTPStatus.BAD_REQUEST else "REQUEST_INVALID"
    described = problem(LsqlError(code, reason=reason[:_REASON_CHARS]), "", status)
    body = described.model_dump_json(by_alias=True).encode()
    head = [
        f"HTTP/1.1 {described.status} {described.title}",
        f"Content-Type: {MEDIA_TYPE}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body
