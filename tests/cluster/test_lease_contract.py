"""The contract of a standby's Lease on a real API server, with the objects and the rights of the chart."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from devkit.kubectl import Kubectl, KubectlFailed
from lsql_runner.lease.api import RestLeaseApi
from lsql_runner.lease.connection import LeaseConnection
from lsql_runner.lease.record import record_of, with_record
from tests.cluster.conftest import HelmFactory
from tests.contract.lease_contract import HELD, LeaseContract

NAME = "orders"
VALUES: dict[str, Any] = {
    "sql": "INSERT INTO a SELECT STREAM * FROM b",
    "kafka": {"bootstrapServers": "kafka:9092"},
    "persistence": {"existingClaim": "shared"},
    "validation": {"enabled": False},
    "standby": {"replicas": 1},
    "replicas": 0,
}
"""A release without pods."""


class RealLeaseUnderTest:
    """A Lease, and the credentials of the service account of a release."""

    def __init__(self, kubectl: Kubectl, folder: Path, until_end: ExitStack) -> None:
        self._kubectl, self._folder, self._until_end = kubectl, folder, until_end
        config = json.loads(kubectl.run("config", "view", "--raw", "--minify", "--flatten", "--output=json"))
        cluster = config["clusters"][0]["cluster"]
        self._server = cluster["server"]
        (folder / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        (folder / "token").write_text(kubectl.run("create", "token", NAME))

    def open(self, name: str = "") -> RestLeaseApi:
        connection = LeaseConnection(
            namespace=self._kubectl.namespace, name=name or NAME, server=self._server, credentials=self._folder
        )
        return self._until_end.enter_context(closing(RestLeaseApi(connection)))


@pytest.fixture
def subject(namespace: Kubectl, newest_helm: HelmFactory, tmp_path: Path) -> Iterator[RealLeaseUnderTest]:
    newest_helm(namespace).install_without_wait(NAME, VALUES)
    with ExitStack() as until_end:
        yield RealLeaseUnderTest(namespace, tmp_path, until_end)


class TestLease(LeaseContract):
    pass


def test_an_upgrade_of_helm_keeps_the_holder_and_the_account_has_no_other_right(
    namespace: Kubectl, helm: HelmFactory, tmp_path: Path
) -> None:
    deploying = helm(namespace)
    deploying.install_without_wait(NAME, VALUES)
    with ExitStack() as until_end:
        api = RealLeaseUnderTest(namespace, tmp_path, until_end).open()
        api.write(with_record(api.read(), HELD))
        deploying.upgrade(NAME, {**VALUES, "commonLabels": {"team": "fleet"}})

        lease = api.read()
        assert (record_of(lease), lease["metadata"]["labels"]["team"]) == (HELD, "fleet")

    account = f"--as=system:serviceaccount:{namespace.namespace}:{NAME}"
    for verb, resource in (("create", "leases"), ("list", "leases"), ("delete", f"leases/{NAME}"), ("get", "secrets")):
        with pytest.raises(KubectlFailed, match="no"):
            namespace.run("auth", "can-i", verb, resource, account)
