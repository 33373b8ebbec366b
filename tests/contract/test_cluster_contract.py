"""The fake cluster fulfils the contract. tests/cluster runs it on a real API server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from devkit.fake_cluster import FakeCluster, FakePod
from lsql_runner.console.cluster import Autoscaler
from lsql_runner.console.workloads import Kind
from tests.contract.cluster_contract import (
    ConfigMapContract,
    PodContract,
    ScaleContract,
    SecretContract,
    WorkloadContract,
)


class FakeClusterUnderTest:
    namespace = "streams"

    def __init__(self) -> None:
        self.cluster = FakeCluster()

    def create(self, manifest: Mapping[str, Any], kind: Kind) -> None:
        self.cluster.add(manifest, kind)

    def create_pod(self, name: str, labels: Mapping[str, str]) -> None:
        self.cluster.pods_of[self.namespace, name] = FakePod(dict(labels))

    def create_secret(self, name: str, values: Mapping[str, str]) -> None:
        self.cluster.secrets[self.namespace, name] = dict(values)

    def create_autoscaler(self, name: str, kind: Kind, target: str) -> None:
        self.cluster.autoscalers_of.setdefault(self.namespace, []).append(Autoscaler(name, kind, target, owner=""))

    def events(self) -> list[tuple[str, str, str]]:
        return [(event.reason, event.name, event.text) for event in self.cluster.events]


@pytest.fixture
def subject() -> FakeClusterUnderTest:
    return FakeClusterUnderTest()


class TestWorkloads(WorkloadContract):
    pass


class TestScale(ScaleContract):
    pass


class TestConfigMaps(ConfigMapContract):
    pass


class TestSecrets(SecretContract):
    pass


class TestPods(PodContract):
    pass
