"""Serves external metrics with TLS to the aggregator of the API server.

The rest of the console is served without TLS. This port has one client, so the server of the standard library is
enough: a thread for each connection, and a limit of their number.
"""

from __future__ import annotations

import json
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lsql_runner.console.aggregator import TrustSource, common_name
from lsql_runner.errors import Detail, DetailTable, LsqlError

LOG = logging.getLogger(__name__)
CONNECTIONS = 64
HANDSHAKE_S = 10.0
IDLE_S = 120.0
"""A connection without a request is closed after this time."""
WARNING_S = 10.0
"""At most one warning about refused connections in this time."""

_REASONS = DetailTable(
    {
        "NAME": "the client certificate belongs to {name}, not to the API server",
        "HANDSHAKE": "the client has no certificate of the authority of the API server ({reason})",
    }
)

Respond = Callable[[str, str], tuple[int, Any]]
"""Takes the path and the label selector of a GET; returns status and JSON."""


class MetricsServer:
    """Serves from `start` until `close`, on a listening socket, which it closes."""

    def __init__(self, listener: socket.socket, respond: Respond, trust: TrustSource) -> None:
        self._server = _Server(listener, respond, trust)
        self._thread = threading.Thread(target=self._server.serve_forever, name="external-metrics", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, respond: Respond, trust: TrustSource) -> None:
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.respond = respond
        self._trust = trust
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._warned_at = -WARNING_S

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # the thread could not be started
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Called in the thread of the connection, so that a slow handshake delays no other."""
        trust = self._trust()
        if trust is None:
            return
        request.settimeout(HANDSHAKE_S)
        try:
            with trust.context.wrap_socket(request, server_side=True) as secured:
                name = common_name(secured.getpeercert())
                if not trust.aggregator.allows(name):
                    self._refuse(str(client_address[0]), _REASONS("NAME", name=name[:80]))
                    return
                secured.settimeout(IDLE_S)
                with suppress(TimeoutError):
                    super().finish_request(secured, client_address)
        except ssl.SSLError as error:
            self._refuse(str(client_address[0]), _REASONS("HANDSHAKE", reason=error.reason or "unknown"))
        except OSError:  # the client has closed the connection
            return

    def handle_error(self, request: Any, client_address: Any) -> None:
        LOG.exception("a request for an external metric failed")

    def _refuse(self, address: str, reason: Detail) -> None:
        error = LsqlError("CALLER_UNTRUSTED", reason=reason)
        now = time.monotonic()
        if now - self._warned_at >= WARNING_S:
            self._warned_at = now
            LOG.warning("connection refused", extra={"code": error.code, "error": error.message, "address": address})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        selector = parse_qs(url.query).get("labelSelector", [""])[0]
        status, body = self.server.respond(url.path, selector)
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are counted in the metrics."""

    def version_string(self) -> str:
        return "lsql-console"
