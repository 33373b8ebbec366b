"""Which names the Host header of a request may have, for a processor and for the console."""

import socket
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from devkit.console_fixtures import FakeConsole, settings
from devkit.fake_processor import running
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.errors import LsqlError
from lsql_runner.web import allowed_hosts
from lsql_runner.web.allowed_hosts import AllowedHosts, own_names, with_own_names

IN_A_POD = """# written by the kubelet
nameserver 10.96.0.10
search fleet.svc.cluster.local svc.cluster.local cluster.local nodes.example
options ndots:5
"""
OWN_DOMAIN = "search fleet.svc.k8s.example. svc.k8s.example. k8s.example.\n"


def is_allowed(header: str | None, *patterns: str) -> bool:
    try:
        AllowedHosts(patterns).check(header)
    except LsqlError:
        return False
    return True


@pytest.mark.parametrize(
    "header",
    ["10.1.2.3:8083", "10.1.2.3", "[fd00::1]:8083", "[::1]", "localhost", "localhost:8083", "LOCALHOST", "localhost."],
)
def test_addresses_and_localhost_are_always_allowed(header: str) -> None:
    assert is_allowed(header)


def test_a_program_may_send_no_host() -> None:
    assert is_allowed(None)


@pytest.mark.parametrize(
    "header",
    ["evil.example:8083", "", "localhost.evil.example", "10.1.2.3.evil.example", "fd00::1", "[evil]", "a:b:c", "1.2.3"],
)
def test_other_names_are_refused(header: str) -> None:
    assert not is_allowed(header)


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("p.example", True),
        ("P.Example.:8083", True),
        ("x.p.example", False),
        ("a.many.example", True),
        ("a.b.many.example", True),
        ("many.example", False),
        ("evilmany.example", False),
    ],
)
def test_the_names_of_the_setting_are_allowed(header: str, allowed: bool) -> None:
    assert is_allowed(header, "p.example", "*.many.example") is allowed


def test_all_names_can_be_allowed() -> None:
    assert is_allowed("evil.example", "*")


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("fast-0", True),
        ("fast.fleet.svc", True),
        ("fast.fleet.svc.cluster.local:8083", True),
        ("fast-0.fast-headless.fleet.svc.cluster.local", True),
        ("fast.other.svc", False),
        ("fast.fleet.svc.evil.example", False),
        ("fast.fleet", False),
        ("fast.nodes.example", False),
    ],
)
def test_a_pod_has_the_names_of_its_namespace(header: str, allowed: bool) -> None:
    assert is_allowed(header, *own_names("fast-0", IN_A_POD)) is allowed


def test_the_domain_of_the_cluster_is_that_of_the_resolver() -> None:
    assert is_allowed("fast.fleet.svc.k8s.example", *own_names("fast-0", OWN_DOMAIN))
    assert not is_allowed("fast.fleet.svc.cluster.local", *own_names("fast-0", OWN_DOMAIN))


@pytest.mark.parametrize("resolver", ["", "search\n", "search corp.example\n", "search x.svc.corp.example\n"])
def test_another_machine_has_only_its_own_name(resolver: str) -> None:
    assert own_names("Ada-Laptop", resolver) == ("ada-laptop",)


def test_a_machine_without_a_resolver_has_its_own_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(allowed_hosts, "RESOLVER", tmp_path / "nothing")
    monkeypatch.setattr(socket, "gethostname", lambda: "box")

    assert with_own_names(("p.example",)) == ("p.example", "box")


def processor_client() -> FlaskClient:
    hosts = AllowedHosts(("fast.example",))
    return create_app(running(), lambda accept: (b"", "text/plain"), ApiAccess("open"), hosts=hosts).test_client()


def console_client() -> FlaskClient:
    return FakeConsole(settings(allowed_hosts=("console.example",))).app.test_client()


@pytest.mark.parametrize("path", ["/", "/stream", "/health/live", "/metrics", "/static/page.js", "/nothing"])
def test_the_processor_answers_no_other_host_and_names_the_setting(path: str) -> None:
    response = processor_client().get(path, headers={"Host": "evil.example:8083"})

    body = response.get_json(force=True)
    assert (response.status_code, response.mimetype) == (403, "application/problem+json")
    assert (body["code"], body["detail"]) == (
        "HOST_NOT_ALLOWED",
        "The request has the host name evil.example:8083, which is not allowed.",
    )
    assert "LSQL_ALLOWED_HOSTS (api.allowedHosts in the values of the chart)" in body["wayOut"]


def test_the_page_of_another_name_can_neither_read_nor_stop_although_the_browser_calls_it_the_same_site() -> None:
    sent = {"Host": "evil.example:8083", "Origin": "http://evil.example:8083", "Sec-Fetch-Site": "same-origin"}

    response = processor_client().post("/stop", headers=sent)

    assert (response.status_code, response.get_json(force=True)["code"]) == (403, "HOST_NOT_ALLOWED")


def test_the_console_answers_no_other_host_and_names_its_value() -> None:
    client = console_client()

    response = client.get("/", headers={"Host": "evil.example"})

    assert response.status_code == 403
    assert "allowedHosts (console.allowedHosts in the values of the chart)" in response.get_json(force=True)["wayOut"]
    assert client.get("/", headers={"Host": "console.example"}).status_code == 200


def test_a_long_host_is_shortened_in_the_error() -> None:
    with pytest.raises(LsqlError) as caught:
        AllowedHosts().check("x" * 5000)

    assert len(str(caught.value.params["host"])) == 200
