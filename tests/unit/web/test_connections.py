"""The server as a real process, with clients that send slowly, read slowly, or only hold connections."""

import json
import os
import select
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from ci.tools.ports import free_port
from devkit.process import Process, accepts_connections
from lsql_runner.web.connections import HEADER_LIMIT_BYTES

PROGRAM = """
import json, sys, threading
from flask import Flask, request
from lsql_runner.web.connections import ConnectionLimits
from lsql_runner.web.server import serve

port, limits = int(sys.argv[1]), json.loads(sys.argv[2])
released = threading.Event()

def make_app():
    app = Flask("tiny")
    app.add_url_rule("/health/live", "live", lambda: "alive")
    app.add_url_rule("/metrics", "metrics", lambda: "up 1")
    app.add_url_rule("/echo", "echo", lambda: request.get_data(), methods=["POST"])
    app.add_url_rule("/large", "large", lambda: b"x" * 4_000_000)
    app.add_url_rule("/blocked", "blocked", lambda: str(released.wait(60)))
    app.add_url_rule("/repeated", "repeated", lambda: sorted(request.environ["lsql.repeated_headers"]))
    app.add_url_rule("/health/release", "release", lambda: str(released.set()))
    return app

sys.exit(serve(make_app, port, lambda: None, graceful_s=1, limits=ConnectionLimits(**limits)))
"""
FAST_S = 5
"""The timeout of the chart's probes."""
DEADLINE_S = 20
LISTENING = 3
"""The sockets of a worker without clients: the listening one, and two with which its event loop is woken."""


class TinyServer(Process):
    """The program above, with limits of its connections."""

    def __init__(self, **limits: float) -> None:
        self.port = free_port()
        super().__init__(
            [sys.executable, "-c", PROGRAM, str(self.port), json.dumps(limits)],
            name="tiny",
            probe=lambda: accepts_connections(self.port) and self.get("/health/live") == "alive",
            env={"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )

    def get(self, path: str, timeout_s: float = FAST_S) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=timeout_s) as response:
            return str(response.read().decode())

    def send(self, text: str, address: str = "127.0.0.1") -> socket.socket:
        """A new connection from this address on which `text` is sent."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S, source_address=(address, 0))
        client.sendall(text.encode())
        return client

    @contextmanager
    def clients(self, number: int, text: str) -> Iterator[list[socket.socket]]:
        """That many connections on which `text` is sent, and nothing else is done."""
        with ExitStack() as stack:
            yield [stack.enter_context(self.send(text)) for _ in range(number)]

    def worker_sockets(self) -> int:
        """The sockets that the worker has open."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        (worker,) = children
        return sum(_target(entry).startswith("socket:") for entry in Path(f"/proc/{worker}/fd").iterdir())


def _target(descriptor: Path) -> str:
    """What the descriptor is, or nothing when the process has closed it since it was listed."""
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:
        return ""


@pytest.fixture(scope="module")
def server() -> Iterator[TinyServer]:
    with TinyServer() as running:
        yield running


@pytest.fixture(scope="module")
def small_server() -> Iterator[TinyServer]:
    with TinyServer(connections=20) as running:
        yield running


def is_closed(client: socket.socket) -> bool:
    """Whether the server has closed the connection, or does so before the deadline."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def accepts_a_byte(client: socket.socket) -> bool:
    try:
        client.sendall(b"x")
    except ConnectionError:
        return False
    return True


def response(client: socket.socket) -> tuple[bytes, bytes]:
    """Head and body of the response, up to the end of the connection."""
    received = bytearray()
    with suppress(ConnectionResetError):
        while part := client.recv(65536):
            received += part
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    return head, body


def await_true(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


UNFINISHED = {
    "nothing": "",
    "half a line": "GET /health/li",
    "half a header": "GET /large HTTP/1.1\r\nHost: here\r\nAccept: ",
    "half a body": "POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n{",
    "half a chunk": "POST /echo HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n{",
    "no reader": "GET /large HTTP/1.1\r\nHost: here\r\n\r\n",
    "blocked views": "GET /blocked HTTP/1.1\r\nHost: here\r\n\r\n",
    "kept alive": "GET /health/live HTTP/1.1\r\nHost: here\r\nConnection: keep-alive\r\n\r\n",
}


@pytest.mark.parametrize("text", UNFINISHED.values(), ids=UNFINISHED.keys())
def test_forty_clients_that_do_not_finish_delay_neither_probes_nor_metrics(server: TinyServer, text: str) -> None:
    with server.clients(40, text):
        assert server.get("/health/live") == "alive"
        assert server.get("/metrics") == "up 1"
    server.get("/health/release")


@pytest.mark.parametrize(
    "text", ["", UNFINISHED["no reader"], UNFINISHED["blocked views"]], ids=["nothing", "no reader", "blocked"]
)
def test_a_flood_of_connections_is_limited_and_delays_no_probe(text: str) -> None:
    with TinyServer(connections=20) as server, server.clients(200, text):
        assert server.get("/health/live") == "alive"
        assert server.worker_sockets() <= 20 + LISTENING


def test_a_client_with_many_connections_does_not_displace_that_of_another(small_server: TinyServer) -> None:
    other = small_server.send("GET /metrics HTTP/1.1\r\n", address="127.0.0.2")
    with other, small_server.clients(60, ""):
        small_server.get("/health/live")
        other.sendall(b"Host: here\r\n\r\n")
        assert response(other)[1] == b"up 1"


@pytest.mark.parametrize("name", ["nothing", "half a header", "half a body"])
def test_a_request_that_is_not_complete_in_time_is_dropped(name: str) -> None:
    with TinyServer(request_s=0.5) as server, server.send(UNFINISHED[name]) as client:
        assert is_closed(client)


def test_a_client_that_sends_a_byte_now_and_then_gets_no_more_time() -> None:
    with TinyServer(request_s=1) as server, server.send("GET /metrics HTTP/1.1\r\nX: ") as client:
        await_true(lambda: not accepts_a_byte(client))


def test_a_response_that_is_not_read_in_time_is_dropped() -> None:
    with TinyServer(response_s=0.5) as server, server.clients(3, UNFINISHED["no reader"]):
        await_true(lambda: server.worker_sockets() > LISTENING)
        await_true(lambda: server.worker_sockets() == LISTENING)


def test_of_responses_that_nobody_reads_only_some_wait() -> None:
    with TinyServer(waiting_bytes=6_000_000) as server, server.clients(6, UNFINISHED["no reader"]) as clients:
        await_true(lambda: len(select.select(clients, [], [], 0)[0]) == len(clients))
        await_true(lambda: server.worker_sockets() <= 2 + LISTENING)
        received = [len(response(client)[1]) for client in clients]

    assert 1 <= received.count(4_000_000) <= 2


def test_a_large_response_is_complete() -> None:
    with TinyServer(waiting_bytes=1000) as server:
        assert len(server.get("/large")) == 4_000_000


def test_a_request_with_a_body_gets_its_response() -> None:
    with (
        TinyServer() as server,
        server.send("POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\nhi") as client,
    ):
        assert response(client)[1] == b"hi"


def test_a_body_in_chunks_reaches_the_app_as_a_whole(server: TinyServer) -> None:
    chunks = "2\r\nhi\r\n4\r\n you\r\n0\r\n\r\n"
    with server.send(f"POST /echo HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}") as client:
        assert response(client)[1] == b"hi you"


@pytest.mark.parametrize("host", ["here:", "a:b", "[::1]:80"])
def test_whether_a_host_is_allowed_is_decided_by_the_app(server: TinyServer, host: str) -> None:
    with server.send(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n") as client:
        assert response(client)[1] == b"up 1"


def test_a_request_may_name_the_whole_uri(server: TinyServer) -> None:
    with server.send("GET http://here/metrics?x=1 HTTP/1.1\r\nHost: here\r\n\r\n") as client:
        assert response(client)[1] == b"up 1"


def test_a_response_has_a_date_and_does_not_tell_the_version_of_the_server(server: TinyServer) -> None:
    with server.send("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n") as client:
        head = response(client)[0]

    assert b"\r\nDate: " in head
    assert b"\r\nServer: " not in head


def test_the_app_knows_which_headers_are_repeated(server: TinyServer) -> None:
    headers = "Host: here\r\nX-Groups: dev\r\nx-groups: ops\r\nX-User: ada, eve\r\n"
    with server.send(f"GET /repeated HTTP/1.1\r\n{headers}\r\n") as client:
        assert json.loads(response(client)[1]) == ["x-groups"]


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("this is no HTTP\r\n\r\n", 400, "REQUEST_NOT_HTTP"),
        (("GET / HTTP/1.1\r\nX: " + "x" * HEADER_LIMIT_BYTES)[:HEADER_LIMIT_BYTES], 431, "REQUEST_INVALID"),
        ("POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 70000\r\n\r\n", 413, "REQUEST_INVALID"),
        ("POST /echo HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n11111\r\n", 413, "REQUEST_INVALID"),
        ("POST /echo HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "REQUEST_INVALID"),
    ],
)
def test_a_request_that_the_app_does_not_get_has_a_problem_as_response(
    server: TinyServer, text: str, status: int, code: str
) -> None:
    with server.send(text) as client:
        head, body = response(client)

    assert f" {status} ".encode() in head.splitlines()[0]
    assert b"application/problem+json" in head
    assert (json.loads(body)["code"], json.loads(body)["status"]) == (code, status)
