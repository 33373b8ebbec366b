"""The proxy of the demo's broker: clients may connect early, and are served when it is open."""

import socket
from collections.abc import Iterator
from threading import Thread

import pytest

from demo.broker_proxy import BrokerProxy

DEADLINE_S = 10


@pytest.fixture
def proxy() -> Iterator[BrokerProxy]:
    made = BrokerProxy()
    yield made
    made.close()


@pytest.fixture
def echo() -> Iterator[str]:
    """The address of a server that returns what it receives, until its client ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                while data := connection.recv(100):
                    connection.sendall(data)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(DEADLINE_S)


def connect(proxy: BrokerProxy) -> socket.socket:
    host, port = proxy.address.split(":")
    return socket.create_connection((host, int(port)), timeout=DEADLINE_S)


def test_an_early_client_is_served_when_the_proxy_is_open(proxy: BrokerProxy, echo: str) -> None:
    with connect(proxy) as client:
        client.sendall(b"hello")
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.recv(5)

        proxy.open(echo)

        client.settimeout(DEADLINE_S)
        assert client.recv(5) == b"hello"


def test_the_end_of_a_client_ends_the_connection_to_the_server(proxy: BrokerProxy, echo: str) -> None:
    proxy.open(echo)
    with connect(proxy) as client:
        client.sendall(b"bye")
        client.shutdown(socket.SHUT_WR)

        assert client.recv(5) == b"bye"
        assert client.recv(5) == b""


def test_the_end_of_the_broker_ends_the_connection(proxy: BrokerProxy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gone = f"127.0.0.1:{listener.getsockname()[1]}"
    proxy.open(gone)
    with connect(proxy) as client:
        assert client.recv(5) == b""


def test_a_closed_proxy_refuses_connections(proxy: BrokerProxy) -> None:
    proxy.close()

    with pytest.raises(ConnectionRefusedError):
        connect(proxy)
