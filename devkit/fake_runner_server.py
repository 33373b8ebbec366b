"""An HTTP server that responds as many runners do, on one port, or does not respond."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lsql_runner.console.workloads import ProcessorWorkload

_ERROR: dict[str, Any] = {"code": "QUERY_FAILED", "message": "", "wayOut": "", "params": {}, "position": None}
_TOPIC = {"keyFormat": "STRING", "valueFormat": "JSON", "keyType": "string", "valueType": "string"}
_SCALING = {"wanted": None, "current": 1, "lagRecords": None, "arrivingPerSecond": None, "catchUpSeconds": None}
STORE = {"name": "s", "query": "q", "keySchema": "string", "valueSchema": "long", "rows": 3, "bytes": None}
"""A store of GET /metadata."""


def stream(**changes: Any) -> dict[str, Any]:
    """The response to GET /stream of a running processor, with the fields that the console reads.

    Parts of errors, topics and scaling that `changes` leave out are added.
    """
    report = _running() | changes
    report["topics"] = [_TOPIC | {"schemaOrigin": "sampled", "partitions": 1} | topic for topic in report["topics"]]
    if report["reason"]:
        report["reason"] = _ERROR | report["reason"]
    if report["lastError"]:
        report["lastError"] = _ERROR | {"at": report["since"]} | report["lastError"]
    if report["scaling"]:
        report["scaling"] = _SCALING | {"dryRun": False, "minimum": 1, "maximum": 8, "reason": ""} | report["scaling"]
    return report


def _running() -> dict[str, Any]:
    return {
        "state": "running",
        "since": "2026-11-21T09:23:00Z",
        "version": "0.1.0",
        "reason": None,
        "lastError": None,
        "topics": [{"topic": "vehicles", "role": "source"}, {"topic": "fast", "role": "target"}],
        "lag": 7,
        "rates": {"recordsInPerSecond": 12.5, "recordsOutPerSecond": 2.5},
        "scaling": None,
        "fieldOfALaterVersion": True,
    }


HEALTHY = {"status": "ok", "state": "running", "reasons": []}


@dataclass
class Answers:
    """The responses of runners by path (`/<name>/stream`), and the requests that they got.

    Attributes:
        by_path: status and body; by default a healthy runner's.
        silent: whether the runner of a name does not respond.
    """

    by_path: dict[str, tuple[int, Any]] = field(default_factory=dict)
    silent: Callable[[str], bool] = lambda name: False
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and user of each request."""
    authorizations: list[str] = field(default_factory=list, kw_only=True)
    """The header Authorization of each request."""
    max_concurrent: int = 0
    """The highest number of concurrent requests to runners that respond."""


@contextmanager
def runners(answers: Answers) -> Iterator[Callable[[ProcessorWorkload], str]]:
    """Start the server; yields a function that returns the address of a processor."""
    ended = threading.Event()
    count_lock = threading.Lock()
    concurrent = 0

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            nonlocal concurrent
            _, name, path = self.path.split("/", 2)
            answers.requests.append((self.command, self.path, self.headers.get("X-Forwarded-User", "")))
            answers.authorizations.append(self.headers.get("Authorization", ""))
            if answers.silent(name):
                ended.wait(60)
                return
            with count_lock:
                concurrent += 1
                answers.max_concurrent = max(answers.max_concurrent, concurrent)
            try:
                self._answer(path)
            finally:
                with count_lock:
                    concurrent -= 1

        do_POST = do_GET

        def _answer(self, path: str) -> None:
            usual = HEALTHY if path == "health" else stream() if path == "stream" else {}
            status, body = answers.by_path.get(self.path, (200, usual))
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            return

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                return

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield lambda processor: f"http://127.0.0.1:{server.server_port}/{processor.name}"
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
