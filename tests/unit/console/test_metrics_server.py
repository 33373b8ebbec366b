"""The port of external metrics answers the aggregator of the API server, over TLS, and nobody else."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devkit.certificates import Authority, Certificate
from devkit.fake_cluster import FakeCluster
from lsql_runner.console.aggregator import CONFIG_MAP, NAMESPACE, AggregatorTrust, read_request_header
from lsql_runner.console.metrics_server import CONNECTIONS, MetricsServer
from lsql_runner.errors import LsqlError
from lsql_runner.web.server import bind

ALLOWED = ["front-proxy", "aggregator"]
DEADLINE_S = 20.0


class Site:
    """A server on a real port, the cluster that says whom it answers, and clients with certificates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requestheader = Authority()
        self.own = Authority()
        self.cluster = FakeCluster()
        self.asked: list[tuple[str, str]] = []
        self.publish(self.requestheader, ALLOWED)
        self.renew()
        self.trust = AggregatorTrust(self.cluster, folder / "tls.crt", folder / "tls.key")
        listener = bind(0, "127.0.0.1")
        self.port = int(listener.getsockname()[1])
        self.server = MetricsServer(listener, self.respond, self.trust.current)
        self.server.start()

    def respond(self, path: str, selector: str) -> tuple[int, Any]:
        self.asked.append((path, selector))
        return 200, {"kind": "ExternalMetricValueList"}

    def publish(self, authority: Authority, names: list[str]) -> None:
        """Write the ConfigMap as the API server does."""
        content = {
            "requestheader-client-ca-file": authority.certificate.encode(),
            "requestheader-allowed-names": json.dumps(names).encode(),
        }
        self.cluster.set_config_map(NAMESPACE, CONFIG_MAP, content)

    def renew(self) -> None:
        """Write a new certificate of the server."""
        made = self.own.issue("watch.home.svc")
        (self.folder / "tls.crt").write_text(made.chain)
        (self.folder / "tls.key").write_text(made.key)

    def connect(self, certificate: Certificate | None) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cadata=self.own.certificate)
        if certificate is not None:
            path = self.folder / "client.pem"
            path.write_text(certificate.chain + certificate.key)
            context.load_cert_chain(path)
        connection = http.client.HTTPSConnection("watch.home.svc", self.port, context=context, timeout=DEADLINE_S)
        connection._create_connection = lambda address, *rest: socket.create_connection(  # type: ignore[attr-defined]
            ("127.0.0.1", self.port), DEADLINE_S
        )
        return connection

    def get(self, certificate: Certificate | None, path: str = "/apis?labelSelector=app%3Dfast%2C%21x") -> int:
        """The status of the response. Raises OSError if the server does not answer."""
        connection = self.connect(certificate)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    try:
        yield made
    finally:
        made.server.close()


def test_the_aggregator_is_answered(site: Site) -> None:
    assert site.trust.refresh()
    aggregator = site.requestheader.issue("front", common_name="front-proxy")

    assert site.get(aggregator) == 200
    assert site.asked == [("/apis", "app=fast,!x")]


def test_a_connection_is_kept_for_the_next_request(site: Site) -> None:
    site.trust.refresh()
    connection = site.connect(site.requestheader.issue("front", common_name="aggregator"))
    try:
        for _ in range(3):
            connection.request("GET", "/apis")
            assert json.loads(connection.getresponse().read()) == {"kind": "ExternalMetricValueList"}
            assert connection.sock is not None
    finally:
        connection.close()


@pytest.mark.parametrize("case", ["no certificate", "another authority", "another name", "plain HTTP"])
def test_nobody_else_is_answered(site: Site, case: str, caplog: pytest.LogCaptureFixture) -> None:
    site.trust.refresh()
    certificates = {
        "another authority": Authority().issue("front", common_name="front-proxy"),
        "another name": site.requestheader.issue("front", common_name="kubelet"),
    }
    if case == "plain HTTP":
        plain = http.client.HTTPConnection("127.0.0.1", site.port, timeout=DEADLINE_S)
        plain.request("GET", "/apis")
        with pytest.raises((OSError, http.client.HTTPException)):
            plain.getresponse()
        plain.close()
    else:
        with pytest.raises((OSError, http.client.HTTPException)):
            site.get(certificates.get(case))

    assert site.asked == []
    assert site.get(site.requestheader.issue("front", common_name="front-proxy")) == 200
    warnings: list[Any] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.code for record in warnings] == ["CALLER_UNTRUSTED"]


def test_an_empty_list_of_names_allows_every_name_of_the_authority(site: Site) -> None:
    site.publish(site.requestheader, [])
    site.trust.refresh()

    assert site.get(site.requestheader.issue("front", common_name="anything")) == 200
    with pytest.raises((OSError, http.client.HTTPException)):
        site.get(None)


def test_before_the_authority_is_known_nobody_is_answered(site: Site) -> None:
    site.cluster.down = True
    assert not site.trust.refresh()

    with pytest.raises((OSError, http.client.HTTPException)):
        site.get(site.requestheader.issue("front", common_name="front-proxy"))


def test_a_new_authority_and_a_new_certificate_are_used_without_a_restart(site: Site) -> None:
    site.trust.refresh()
    old, site.requestheader, site.own = site.requestheader, Authority(), Authority()
    site.publish(site.requestheader, ALLOWED)
    site.renew()
    site.trust.refresh()

    assert site.get(site.requestheader.issue("front", common_name="front-proxy")) == 200
    with pytest.raises((OSError, http.client.HTTPException)):
        site.get(old.issue("front", common_name="front-proxy"))


def test_the_last_authority_stays_while_the_cluster_cannot_be_read(site: Site) -> None:
    site.trust.refresh()
    site.cluster.down = True

    assert not site.trust.refresh()
    assert site.get(site.requestheader.issue("front", common_name="front-proxy")) == 200


def test_silent_connections_delay_nobody_and_are_limited(site: Site) -> None:
    site.trust.refresh()
    silent = [socket.create_connection(("127.0.0.1", site.port), DEADLINE_S) for _ in range(CONNECTIONS - 1)]
    try:
        assert site.get(site.requestheader.issue("front", common_name="front-proxy")) == 200
    finally:
        for each in silent:
            each.close()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({}, "NO_AUTHORITY"),
        ({"requestheader-client-ca-file": b" "}, "NO_AUTHORITY"),
        ({"requestheader-client-ca-file": b"x", "requestheader-allowed-names": b"front"}, "INVALID"),
        ({"requestheader-client-ca-file": b"x", "requestheader-allowed-names": b"{}"}, "INVALID"),
    ],
)
def test_a_cluster_without_an_aggregation_layer_is_reported(content: dict[str, bytes], reason: str) -> None:
    with pytest.raises(LsqlError) as caught:
        read_request_header(content)

    found: Any = caught.value.params["reason"]
    assert (caught.value.code, found.code) == ("AGGREGATOR_UNKNOWN", reason)


def test_an_authority_that_is_no_certificate_is_reported(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.cluster.set_config_map(NAMESPACE, CONFIG_MAP, {"requestheader-client-ca-file": b"no certificate"})

    assert not site.trust.refresh()
    [record] = [each for each in caplog.records if each.levelno == logging.WARNING]
    assert record.code == "AGGREGATOR_UNKNOWN"  # type: ignore[attr-defined]
