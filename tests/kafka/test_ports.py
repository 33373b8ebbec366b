"""The ports of a running processor: one for its API; ports of Spark and py4j are for this machine, with a secret."""

from __future__ import annotations

import http.client
import socket
import struct
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from devkit.broker import Broker
from devkit.listening import Listening, listening
from devkit.records import Record
from devkit.runner import Runner

pytestmark = pytest.mark.timeout(200)

SETTINGS = "SET defaults.topic.autocreate=true; SET auto.offset.reset='earliest';"
RPC_REQUEST = 3
"""The type of a request in Spark's protocol: its number, the length of its body, and the body."""


@pytest.fixture(scope="module")
def runner(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """A processor with a query without state and one with state, that has written its first batch."""
    mark = uuid.uuid4().hex[:8]
    source = f"in-{mark}"
    broker.create_topic(source, 2)
    sql = (
        f"{SETTINGS} INSERT INTO out-{mark} SELECT STREAM * FROM {source} WHERE n > 0;"
        f" INSERT INTO sums-{mark} SELECT STREAM COUNT(*) AS n FROM {source} GROUP BY n;"
    )
    broker.produce(source, [Record(None, b'{"n": 1}') for _ in range(10)])
    folder = tmp_path_factory.mktemp("ports")
    with Runner(broker.bootstrap, sql, f"ports-{mark}", folder, LSQL_ALLOWED_HOSTS="p.example") as running:
        running.read_to(10)
        yield running


def test_only_the_port_of_the_api_can_be_reached_from_other_machines(runner: Runner) -> None:
    ports = listening(runner.pid)

    assert {port for port in ports if not port.is_loopback} == {Listening("::", runner.port)}
    assert any(port.is_loopback for port in ports)  # Spark and py4j listen


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("p.example", 200), (socket.gethostname(), 200), ("evil.example", 403)],
)
def test_the_api_answers_requests_to_its_names_only(runner: Runner, host: str, status: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", runner.port, timeout=20)
    with closing(connection):
        connection.request("GET", "/stream", headers={"Host": f"{host}:{runner.port}"})

        assert connection.getresponse().status == status


def test_sparks_ports_answer_only_a_client_with_the_secret(runner: Runner) -> None:
    ports = [port.port for port in listening(runner.pid) if port.is_loopback]
    with ThreadPoolExecutor() as threads:  # some never answer
        answers = list(threads.map(answer, ports))

    # The port of py4j does not speak this protocol, and closes the connection.
    of_spark = [text for text in answers if text]
    assert len(of_spark) == 2, answers  # messages, and blocks of data
    assert all(b"Expected SaslMessage" in text for text in of_spark), answers


def answer(port: int) -> bytes:
    """The answer to a request without authentication; nothing if the server closes the connection."""
    body = b"no message of SASL"
    request = struct.pack(">bqi", RPC_REQUEST, 7, len(body)) + body
    received = bytearray()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(struct.pack(">q", 8 + len(request)) + request)
        try:
            while part := client.recv(65536):
                received += part
                if len(received) >= 8 and len(received) >= struct.unpack(">q", received[:8])[0]:
                    break
        except (ConnectionError, TimeoutError):
            pass
    return bytes(received)
