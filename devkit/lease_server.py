"""The part of the API of Kubernetes that a standby uses: one Lease, over HTTP on 127.0.0.1.

It refuses an outdated version as the real API server does; tests/contract runs one suite on both.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lsql_runner.lease.connection import LeaseConnection
from lsql_runner.lease.record import LeaseRecord, record_of

NAMESPACE, NAME = "streams", "orders"
PATH = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{NAME}"


class LeaseServer:
    """The Lease, and how the server responds.

    Attributes:
        document: the object; None if it does not exist.
        refusal: a status with which the server refuses all requests; None for normal answers.
        port: of the server.
        requests: the number of requests by method.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.refusal: int | None = None
        self.document: dict[str, Any] | None = None
        self.requests: Counter[str] = Counter()
        self._version = 0
        self._lock = threading.Lock()
        self.create()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def connection(self) -> LeaseConnection:
        return LeaseConnection(namespace=NAMESPACE, name=NAME, server=self.url)

    @property
    def environment(self) -> dict[str, str]:
        """The settings of processes that use the Lease."""
        return {"LSQL_LEASE": f"{NAMESPACE}/{NAME}", "LSQL_LEASE_SERVER": self.url}

    @property
    def record(self) -> LeaseRecord:
        return record_of(self.document or {})

    def create(self) -> None:
        """Make the Lease as the chart does: without a specification."""
        metadata = {"name": NAME, "uid": str(uuid.uuid4())}
        self.store({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata})

    def answer(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Status and body of the answer to a request."""
        with self._lock:
            self.requests[method] += 1
            if self.refusal is not None:
                return self.refusal, {"kind": "Status", "message": "refused by the test"}
            if self.document is None or path != PATH:
                return 404, {"kind": "Status", "message": "not found"}
            if method == "PUT" and body is not None:
                if body["metadata"].get("resourceVersion") != str(self._version):
                    return 409, {"kind": "Status", "message": "the object has been modified"}
                self.store(body)
            return 200, self.document

    def change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Change the object as another client does."""
        with self._lock:
            assert self.document is not None
            self.store(change(self.document))

    def store(self, document: Mapping[str, Any]) -> None:
        """Replace the object, as another client does."""
        self._version += 1
        self.document = {**document, "metadata": {**document["metadata"], "resourceVersion": str(self._version)}}


@contextmanager
def lease_server() -> Iterator[LeaseServer]:
    """Start the server; it ends with the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(None)

        def do_PUT(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            status, answer = lease.answer(self.command, self.path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that was killed is no error."""

    server = Server(("127.0.0.1", 0), Handler)
    lease = LeaseServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield lease
    finally:
        server.shutdown()
        server.server_close()
