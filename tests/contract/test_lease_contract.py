"""The Lease server of devkit fulfils the contract. tests/cluster runs it on a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from devkit.lease_server import lease_server
from lsql_runner.lease.api import RestLeaseApi
from tests.contract.lease_contract import LeaseContract


class ServerUnderTest:
    def __init__(self, until_end: ExitStack) -> None:
        self._until_end = until_end
        self._connection = until_end.enter_context(lease_server()).connection

    def open(self, name: str = "") -> RestLeaseApi:
        connection = replace(self._connection, name=name or self._connection.name)
        return self._until_end.enter_context(closing(RestLeaseApi(connection)))


@pytest.fixture
def subject() -> Iterator[ServerUnderTest]:
    with ExitStack() as until_end:
        yield ServerUnderTest(until_end)


class TestLease(LeaseContract):
    pass
