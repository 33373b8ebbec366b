"""The contract of the console's cluster port, on a real API server through lightkube."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lightkube import Client, KubeConfig
from lightkube.models.autoscaling_v2 import CrossVersionObjectReference, HorizontalPodAutoscalerSpec
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment, StatefulSet
from lightkube.resources.autoscaling_v2 import HorizontalPodAutoscaler
from lightkube.resources.core_v1 import Event, Namespace, Pod, Secret, ServiceAccount

from lsql_runner.console.cluster import MANAGER
from lsql_runner.console.lightkube_cluster import LightkubeCluster
from lsql_runner.console.workloads import Kind
from tests.contract.cluster_contract import (
    ConfigMapContract,
    PodContract,
    ScaleContract,
    SecretContract,
    WorkloadContract,
)


class RealClusterUnderTest:
    """A new namespace on the API server of a kubeconfig."""

    def __init__(self, client: Client) -> None:
        self.cluster = LightkubeCluster(client)
        self.namespace = f"contract-{uuid.uuid4().hex[:8]}"
        self._client = client
        client.create(Namespace(metadata=ObjectMeta(name=self.namespace)))

    def create(self, manifest: Mapping[str, Any], kind: Kind) -> None:
        if kind == "StatefulSet":
            spec = {**manifest["spec"], "serviceName": manifest["metadata"]["name"]}
            self._client.create(msgspec.convert({**manifest, "spec": spec}, StatefulSet))
        else:
            self._client.create(msgspec.convert(dict(manifest), Deployment))

    def create_pod(self, name: str, labels: Mapping[str, str]) -> None:
        # A controller creates the default service account, with a delay or, on a bare API server, never.
        self._client.apply(ServiceAccount(metadata=ObjectMeta(name="default", namespace=self.namespace)))
        spec = PodSpec(containers=[Container(name="runner", image="nothing")], automountServiceAccountToken=False)
        self._client.create(
            Pod(metadata=ObjectMeta(name=name, namespace=self.namespace, labels=dict(labels)), spec=spec)
        )

    def create_secret(self, name: str, values: Mapping[str, str]) -> None:
        metadata = ObjectMeta(name=name, namespace=self.namespace)
        self._client.create(Secret(metadata=metadata, stringData=dict(values)))

    def create_autoscaler(self, name: str, kind: Kind, target: str) -> None:
        reference = CrossVersionObjectReference(kind=kind, name=target, apiVersion="apps/v1")
        spec = HorizontalPodAutoscalerSpec(scaleTargetRef=reference, maxReplicas=2)
        metadata = ObjectMeta(name=name, namespace=self.namespace)
        self._client.create(HorizontalPodAutoscaler(metadata=metadata, spec=spec))

    def events(self) -> list[tuple[str, str, str]]:
        events = self._client.list(Event, namespace=self.namespace)
        ours = [event for event in events if event.reportingComponent == MANAGER]
        return [(event.reason or "", event.involvedObject.name or "", event.message or "") for event in ours]


@pytest.fixture
def subject(kubeconfig: Path) -> Iterator[RealClusterUnderTest]:
    config = KubeConfig.from_file(str(kubeconfig))
    with Client(config=config, field_manager=MANAGER) as client:
        made = RealClusterUnderTest(client)
        try:
            yield made
        finally:
            client.delete(Namespace, made.namespace)


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
