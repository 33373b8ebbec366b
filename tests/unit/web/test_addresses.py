"""The addresses that the server listens on, and its clients' addresses."""

import errno
import os
import socket
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from ci.tools.ports import free_port
from devkit.process import Process
from lsql_runner.errors import LsqlError
from lsql_runner.web.server import bind

PROGRAM = """
import sys
from flask import Flask, request
from lsql_runner.web.server import serve

def make_app():
    app = Flask("tiny")
    app.add_url_rule("/client", "client", lambda: request.remote_addr)
    return app

sys.exit(serve(make_app, int(sys.argv[1]), lambda: None, graceful_s=1, address=sys.argv[2]))
"""


class TinyServer(Process):
    """The program above."""

    def __init__(self, address: str, probed: str) -> None:
        self.port = free_port()
        super().__init__(
            [sys.executable, "-c", PROGRAM, str(self.port), address],
            name="tiny",
            probe=lambda: self.client_at(probed) != "",
            env={"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )

    def client_at(self, address: str) -> str:
        """The address of the client in a request to this address."""
        host = f"[{address}]" if ":" in address else address
        with urllib.request.urlopen(f"http://{host}:{self.port}/client", timeout=5) as response:
            return str(response.read().decode())

    def accepts(self, address: str) -> bool:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as client:
            client.settimeout(5)
            return client.connect_ex((address, self.port)) == 0


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


LOOPBACK = ["127.0.0.1", *(["::1"] if _has_ipv6() else [])]
"""The addresses of this machine that each machine has; some containers have no IPv6."""


@pytest.fixture(scope="module")
def everywhere() -> Iterator[TinyServer]:
    with TinyServer("::", "127.0.0.1") as running:
        yield running


@pytest.mark.parametrize("address", LOOPBACK)
def test_a_server_of_all_addresses_has_clients_of_ipv4_and_ipv6_with_their_address(
    everywhere: TinyServer, address: str
) -> None:
    assert everywhere.client_at(address) == address


@pytest.mark.parametrize("address", LOOPBACK)
def test_a_server_of_one_address_listens_on_no_other(address: str) -> None:
    with TinyServer(address, address) as server:
        accepted = {other for other in (*LOOPBACK, "127.0.0.2") if server.accepts(other)}

    assert accepted == {address}


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_an_address_of_another_machine_is_refused_as_such(address: str) -> None:
    with pytest.raises(LsqlError) as caught:
        bind(free_port(), address)

    assert (caught.value.code, caught.value.params) == ("ADDRESS_NOT_LOCAL", {"address": address})


def test_where_ipv6_is_off_the_server_listens_on_all_ipv4_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.socket

    def without_ipv6(family: int = socket.AF_INET, *rest: Any) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return real(family, *rest)

    monkeypatch.setattr(socket, "socket", without_ipv6)
    with bind(free_port()) as listener:
        assert (listener.family, listener.getsockname()[0]) == (socket.AF_INET, "0.0.0.0")

    with pytest.raises(LsqlError) as caught:
        bind(free_port(), "::1")
    assert caught.value.code == "ADDRESS_NOT_LOCAL"
