"""Servers between a client and a schema registry, such as a proxy with authentication, and servers that are not
registries.
"""

from __future__ import annotations

import base64
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import StreamRequestHandler
from tempfile import TemporaryDirectory
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from devkit.certificates import Authority, Certificate

ALERT_DRAIN_S = 2
MAX_SILENCE_S = 120


class _Server(ThreadingHTTPServer):
    """A server on a random port of 127.0.0.1 that serves within the block; with `tls`, over TLS."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, handler: type[StreamRequestHandler], tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self._tls = tls
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_port}"

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self._tls is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(10)
        with suppress(OSError):
            try:
                secured = self._tls.wrap_socket(request, server_side=True)
            except ssl.SSLError:
                _close_after_drain(request)
                return
            with secured:
                super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # some tests have clients that close their connections

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join(10)


def _close_after_drain(connection: socket.socket) -> None:
    """Close a connection so that the last bytes arrive: closing with unread data would discard them."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(ALERT_DRAIN_S)
    while connection.recv(65536):
        pass


class RegistryProxy(_Server):
    """A reverse proxy of a registry. With `credentials` (user and password) it requires them.

    Paths that end in `missing_path` are not found. `url` has the path of the registry. Within `disconnecting` and
    `silent` the registry is unavailable through this proxy; the registry itself runs on, for other tests.
    """

    def __init__(
        self,
        registry_url: str,
        credentials: tuple[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        missing_path: str | None = None,
    ) -> None:
        host, _, path = registry_url.removeprefix("http://").partition("/")
        wanted = credentials and "Basic " + base64.b64encode(":".join(credentials).encode()).decode()

        resumed = Event()

        class Handler(_Handler):
            def answer(self, body: bytes | None) -> tuple[int, str, bytes]:
                resumed.wait(MAX_SILENCE_S)
                if wanted and self.headers.get("Authorization") != wanted:
                    return 401, "application/json", b'{"error_code": 401, "message": "Unauthorized"}'
                if missing_path and self.path.endswith(missing_path):
                    return 404, "application/json", b'{"message": "Not Found"}'
                return _forwarded(f"http://{host}{self.path}", self.command, body)

        resumed.set()
        self._resumed = resumed
        self._shut = False
        super().__init__(Handler, tls)
        self.url += f"/{path}"

    @contextmanager
    def disconnecting(self) -> Iterator[None]:
        """Within the block connections are closed without a response."""
        self._shut = True
        try:
            yield
        finally:
            self._shut = False

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Within the block requests get no response for MAX_SILENCE_S; after it, those that still wait get one."""
        self._resumed.clear()
        try:
            yield
        finally:
            self._resumed.set()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return not self._shut


class PageServer(_Server):
    """A server that responds to every request with one page."""

    def __init__(
        self,
        status: int = 200,
        body: str | bytes = "<html>Welcome</html>",
        content_type: str = "text/html",
        encoding: str = "",
    ) -> None:
        data = body.encode() if isinstance(body, str) else body

        class Handler(_Handler):
            content_encoding = encoding

            def answer(self, body_of_request: bytes | None) -> tuple[int, str, bytes]:
                return status, content_type, data

        super().__init__(Handler)


class SlowServer(_Server):
    """A server that sends one byte every `pause_s`, for longer than any client waits."""

    def __init__(self, pause_s: float) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with suppress(OSError):
                    while not server.ends:
                        self.wfile.write(b"H")
                        server.wait(pause_s)

        self.ends = False
        self._waiting = socket.socketpair()
        super().__init__(Handler)

    def wait(self, seconds: float) -> None:
        """Wait for a time, or until the end of the block."""
        self._waiting[0].settimeout(seconds)
        with suppress(TimeoutError):
            self._waiting[0].recv(1, socket.MSG_PEEK)

    def __exit__(self, *error: Any) -> None:
        self.ends = True
        self._waiting[1].close()
        super().__exit__(*error)
        self._waiting[0].close()


class BannerServer(_Server):
    """A server that sends bytes of another protocol, or nothing, and closes the connection."""

    def __init__(self, banner: bytes = b"220 mail.example ESMTP\r\n502 What?\r\n\r\n") -> None:
        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                self.wfile.write(banner)
                _close_after_drain(self.connection)

        super().__init__(Handler)


class _Handler(BaseHTTPRequestHandler):
    content_encoding = ""

    def answer(self, body: bytes | None) -> tuple[int, str, bytes]:
        """Status, content type and body of the response."""
        raise NotImplementedError

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        status, content_type, data = self.answer(self.rfile.read(length) if length else None)
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        if self.content_encoding:
            self.send_header("Content-Encoding", self.content_encoding)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_DELETE = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


def _forwarded(url: str, method: str, body: bytes | None) -> tuple[int, str, bytes]:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.headers["Content-Type"], response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read()
    except OSError:
        return 502, "text/html", b"<html>Bad gateway</html>"


def server_tls(own: Certificate, clients_of: Authority | None = None) -> ssl.SSLContext:
    """TLS with a certificate; with an authority, only for clients with a certificate that it has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        file = f"{folder}/own.pem"
        with open(file, "w") as pem:
            pem.write(own.chain + own.key)
        context.load_cert_chain(file)
    if clients_of is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=clients_of.certificate)
    return context
