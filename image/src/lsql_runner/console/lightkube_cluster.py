"""Implements the port `Cluster` with lightkube, which only this module imports."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
from lightkube import ApiError, Client
from lightkube.core.exceptions import ConfigError
from lightkube.models.core_v1 import EventSource, ObjectReference
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment, StatefulSet
from lightkube.resources.autoscaling_v2 import HorizontalPodAutoscaler
from lightkube.resources.core_v1 import ConfigMap, Event, Pod, Secret
from lightkube.types import PatchType

from lsql_runner.console.cluster import (
    MANAGER,
    Autoscaler,
    ClusterError,
    ConfigMapData,
    Conflict,
    Missing,
    WorkloadEvent,
)
from lsql_runner.console.manifest import as_mapping, as_mappings, as_text
from lsql_runner.console.workloads import Kind
from lsql_runner.errors import DetailTable

PAGE = 100
"""Workloads in one response. A workload with a program of 100 kB has about 200 kB, so a response has at most 20 MB."""
TIMEOUT_S = 15.0
LOG_LINE_CHARS = 2_000
_RESOURCES: dict[Kind, type[Deployment] | type[StatefulSet]] = {"Deployment": Deployment, "StatefulSet": StatefulSet}
_REASONS = DetailTable(
    {
        "REPLACED": "{name} was replaced by another workload",
        "NO_KEY": "the Secret {name} has no key {key}",
        "CONFIGURATION": "the configuration of the client is missing or invalid: {problem}",
    }
)


class LightkubeCluster:
    """A Cluster. The default client uses the pod's service account, else KUBECONFIG or ~/.kube/config."""

    def __init__(self, client: Client | None = None) -> None:
        with _translate_errors():
            self._client = client or Client(field_manager=MANAGER, timeout=httpx2.Timeout(TIMEOUT_S))

    def close(self) -> None:
        self._client.close()

    def workloads(self, namespace: str, kind: Kind) -> Iterator[Mapping[str, Any]]:
        with _translate_errors():
            for resource in self._client.list(_RESOURCES[kind], namespace=namespace, chunk_size=PAGE):
                yield resource.to_dict()

    def workload(self, namespace: str, kind: Kind, name: str) -> Mapping[str, Any]:
        with _translate_errors():
            return self._client.get(_RESOURCES[kind], name, namespace=namespace).to_dict()

    def label(self, namespace: str, kind: Kind, name: str, version: str, key: str, value: str) -> None:
        # A merge patch of only this label: Helm and `kubectl apply` keep fields of other managers, whichever way they
        # merge. The pod template does not change, so no pod restarts.
        change = {"metadata": {"resourceVersion": version, "labels": {key: value}}}
        with _translate_errors():
            self._client.patch(_RESOURCES[kind], name, change, namespace=namespace, patch_type=PatchType.MERGE)

    def delete_workload(self, namespace: str, kind: Kind, name: str, uid: str) -> None:
        # lightkube sends no body with a delete, so the precondition is checked here.
        if self.workload(namespace, kind, name)["metadata"].get("uid") != uid:
            raise Conflict(_REASONS("REPLACED", name=name))
        with _translate_errors():
            self._client.delete(_RESOURCES[kind], name, namespace=namespace)

    def scale_deployment(self, namespace: str, name: str, uid: str, replicas: int) -> None:
        change = {"metadata": {"uid": uid}, "spec": {"replicas": replicas}}
        with _translate_errors():
            self._client.patch(Deployment.Scale, name, change, namespace=namespace, patch_type=PatchType.MERGE)

    def autoscalers(self, namespace: str) -> list[Autoscaler]:
        with _translate_errors():
            autoscalers = self._client.list(HorizontalPodAutoscaler, namespace=namespace, chunk_size=PAGE)
            return [_autoscaler(each.to_dict()) for each in autoscalers]

    def config_map(self, namespace: str, name: str) -> ConfigMapData:
        with _translate_errors():
            config_map = self._client.get(ConfigMap, name, namespace=namespace)
        content = {key: base64.b64decode(text) for key, text in (config_map.binaryData or {}).items()}
        return ConfigMapData((config_map.metadata and config_map.metadata.resourceVersion) or "", content)

    def write_config_map(self, namespace: str, name: str, version: str | None, content: Mapping[str, bytes]) -> None:
        encoded = {key: base64.b64encode(value).decode() for key, value in content.items()}
        with _translate_errors():
            if version is None:
                metadata = ObjectMeta(name=name, namespace=namespace)
                self._client.create(ConfigMap(metadata=metadata, binaryData=encoded))
            else:
                change = {"metadata": {"resourceVersion": version}, "binaryData": encoded}
                self._client.patch(ConfigMap, name, change, namespace=namespace, patch_type=PatchType.MERGE)

    def secret_value(self, namespace: str, name: str, key: str) -> str:
        with _translate_errors():
            secret = self._client.get(Secret, name, namespace=namespace)
        if key not in (secret.data or {}):
            raise Missing(_REASONS("NO_KEY", name=name, key=key))
        return base64.b64decode((secret.data or {})[key]).decode(errors="replace").strip()

    def create_event(self, event: WorkloadEvent) -> None:
        now = datetime.now(UTC)
        target = ObjectReference(
            apiVersion="apps/v1", kind=event.kind, namespace=event.namespace, name=event.name, uid=event.uid
        )
        created = Event(
            metadata=ObjectMeta(generateName=f"{event.name[:200]}.", namespace=event.namespace),
            involvedObject=target,
            type=event.type,
            reason=event.reason,
            action=event.action,
            message=event.text[:1000],
            source=EventSource(component=MANAGER),
            reportingComponent=MANAGER,
            reportingInstance=MANAGER,
            firstTimestamp=now,
            lastTimestamp=now,
            count=1,
        )
        with _translate_errors():
            self._client.create(created)

    def pods(self, namespace: str, labels: Mapping[str, str]) -> list[str]:
        with _translate_errors():
            pods = [pod.metadata for pod in self._client.list(Pod, namespace=namespace, labels=dict(labels))]
        known = [(str(m.creationTimestamp or ""), m.name or "") for m in pods if m is not None]
        return [name for _, name in sorted(known, reverse=True)]

    def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        with _translate_errors():
            lines_of_log = self._client.log(
                pod, namespace=namespace, container=container, tail_lines=lines, newlines=False
            )
            return [line[:LOG_LINE_CHARS] for line in lines_of_log]


def _autoscaler(resource: Mapping[str, Any]) -> Autoscaler:
    metadata, spec = as_mapping(resource.get("metadata")), as_mapping(resource.get("spec"))
    target = as_mapping(spec.get("scaleTargetRef"))
    owners = as_mappings(metadata.get("ownerReferences"))
    return Autoscaler(
        name=as_text(metadata.get("name")),
        kind=as_text(target.get("kind")),
        target=as_text(target.get("name")),
        owner=f"{owners[0].get('kind')}/{owners[0].get('name')}" if owners else "",
    )


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Turn errors of lightkube and its HTTP client into the errors of the port."""
    try:
        yield
    except ApiError as error:
        why = error.status.message or f"HTTP {error.status.code}"
        if error.status.code == 404:
            raise Missing(why) from None
        if error.status.code == 409:
            raise Conflict(why) from None
        raise ClusterError(why) from None
    except httpx2.HTTPError as error:
        raise ClusterError(f"{type(error).__name__}: {error}") from None
    except ConfigError as error:
        raise ClusterError(_REASONS("CONFIGURATION", problem=str(error))) from None
