"""A cluster in memory: implements the console's port without Kubernetes, and passes the suite in tests/contract."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lsql_runner.console.cluster import Autoscaler, ClusterError, ConfigMapData, Conflict, Missing, WorkloadEvent
from lsql_runner.console.workloads import Kind, WorkloadKey

SQL = "SET defaults.topic.autocreate=true;\nINSERT INTO fast SELECT STREAM * FROM vehicles WHERE speed > 10"
CREATED = "2026-11-21T09:23:00Z"


def workload(
    name: str,
    *,
    namespace: str = "streams",
    sql: str | None = SQL,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    replicas: int = 1,
) -> dict[str, Any]:
    """The manifest of a processor, as this project's chart renders it; `$` of the SQL is doubled."""
    values = {"SQL_APP_ID": name, "SQL_BOOTSTRAP_SERVERS": "kafka:9092", **(env or {})}
    variables: list[dict[str, Any]] = [{"name": key, "value": value} for key, value in values.items()]
    if sql is not None:
        variables.insert(0, {"name": "SQL", "value": sql.replace("$", "$$")})
    chart_labels = {
        "app": name,
        "lenses": "lenses-processor",
        "lenses-user": "ada",
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/instance": name,
        "helm.sh/chart": "lsql-runner-0.1.0",
    }
    selector = {"app.kubernetes.io/name": "lsql-runner", "app.kubernetes.io/instance": name}
    container = {
        "name": "runner",
        "image": "lsql-runner:0.1.0",
        "ports": [{"containerPort": 8083, "name": "http"}],
        "env": variables,
    }
    return {
        "apiVersion": "apps/v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": chart_labels if labels is None else dict(labels),
            "annotations": {"meta.helm.sh/release-name": name} if annotations is None else dict(annotations),
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": {**selector, "pipeline": "traffic"}},
                "spec": {"containers": [container]},
            },
        },
    }


def workers(processor: str, *, namespace: str = "streams", replicas: int = 2) -> dict[str, Any]:
    """The manifest of the workers of a processor that `workload` has made, as this project's chart renders it."""
    labels = {
        "app.kubernetes.io/name": "lsql-runner",
        "app.kubernetes.io/instance": processor,
        "app.kubernetes.io/component": "worker",
    }
    container = {"name": "worker", "image": "lsql-runner:0.1.0", "args": ["lsql", "worker"]}
    return {
        "apiVersion": "apps/v1",
        "metadata": {"name": f"{processor}-workers", "namespace": namespace, "labels": {"app": processor, **labels}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


@dataclass
class FakePod:
    """The labels of a pod, and the lines of its log."""

    labels: dict[str, str]
    lines: list[str] = field(default_factory=list)


class FakeCluster:
    """The objects of a cluster in dicts.

    Attributes:
        down: requests raise ClusterError while it is set.
        pods_of: the pods by namespace and name, the oldest first.
        autoscalers_of: the HorizontalPodAutoscalers by namespace.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        """Method and arguments of each call."""
        self.refused: set[tuple[str, str]] = set()
        """Method and namespace of calls that the Role does not allow."""
        self.down = False
        self.events: list[WorkloadEvent] = []
        self.pods_of: dict[tuple[str, str], FakePod] = {}
        self.autoscalers_of: dict[str, list[Autoscaler]] = {}
        self._workloads: dict[WorkloadKey, dict[str, Any]] = {}
        self._config_maps: dict[tuple[str, str], ConfigMapData] = {}
        self.secrets: dict[tuple[str, str], dict[str, str]] = {}
        """By namespace and name: the values of a Secret by key."""
        self._versions = 0

    def add(self, manifest: Mapping[str, Any], kind: Kind = "Deployment") -> dict[str, Any]:
        """Create the workload as `kubectl create` does; returns the stored object."""
        stored = copy.deepcopy(dict(manifest))
        metadata = stored["metadata"]
        metadata.setdefault("uid", str(uuid.uuid4()))
        metadata.setdefault("creationTimestamp", CREATED)
        metadata["resourceVersion"] = self._next()
        self._workloads[metadata["namespace"], kind, metadata["name"]] = stored
        return stored

    def touch(self, namespace: str, kind: Kind, name: str, labels: Mapping[str, str] | None = None) -> None:
        """Change the object as another client would."""
        metadata = self._find(namespace, kind, name)["metadata"]
        metadata["labels"].update(labels or {})
        metadata["resourceVersion"] = self._next()

    def labels(self, namespace: str, kind: Kind, name: str) -> dict[str, str]:
        return dict(self._find(namespace, kind, name)["metadata"]["labels"])

    def call_count(self, method: str) -> int:
        """The number of calls of a method."""
        return sum(call[0] == method for call in self.calls)

    def workloads(self, namespace: str, kind: Kind) -> Iterator[Mapping[str, Any]]:
        self._allow("workloads", namespace, kind)
        for (where, what, _), workload in list(self._workloads.items()):
            if (where, what) == (namespace, kind):
                yield copy.deepcopy(workload)

    def workload(self, namespace: str, kind: Kind, name: str) -> Mapping[str, Any]:
        self._allow("workload", namespace, kind, name)
        return copy.deepcopy(self._find(namespace, kind, name))

    def label(self, namespace: str, kind: Kind, name: str, version: str, key: str, value: str) -> None:
        self._allow("label", namespace, kind, name)
        metadata = self._find(namespace, kind, name)["metadata"]
        if metadata["resourceVersion"] != version:
            raise Conflict("the object has been modified")
        metadata.setdefault("labels", {})[key] = value
        metadata["resourceVersion"] = self._next()

    def delete_workload(self, namespace: str, kind: Kind, name: str, uid: str) -> None:
        self._allow("delete_workload", namespace, kind, name)
        if self._find(namespace, kind, name)["metadata"]["uid"] != uid:
            raise Conflict(f"{name} is another workload now")
        del self._workloads[namespace, kind, name]

    def scale_deployment(self, namespace: str, name: str, uid: str, replicas: int) -> None:
        self._allow("scale_deployment", namespace, name, str(replicas))
        deployment = self._find(namespace, "Deployment", name)
        if deployment["metadata"]["uid"] != uid:
            raise Conflict(f"{name} is another Deployment now")
        deployment["spec"]["replicas"] = replicas
        deployment["metadata"]["resourceVersion"] = self._next()

    def autoscalers(self, namespace: str) -> list[Autoscaler]:
        self._allow("autoscalers", namespace)
        return list(self.autoscalers_of.get(namespace, ()))

    def config_map(self, namespace: str, name: str) -> ConfigMapData:
        self._allow("config_map", namespace, name)
        try:
            return self._config_maps[namespace, name]
        except KeyError:
            raise Missing(f"configmaps {name} not found") from None

    def write_config_map(self, namespace: str, name: str, version: str | None, content: Mapping[str, bytes]) -> None:
        self._allow("write_config_map", namespace, name)
        stored = self._config_maps.get((namespace, name))
        if stored is None and version is not None:
            raise Missing(f"configmaps {name} not found")
        if stored is not None and stored.version != version:
            raise Conflict("the object has been modified")
        merged = {**(stored.content if stored else {}), **content}
        if sum(map(len, merged.values())) > 1_048_576:
            raise ClusterError("Too long: may not be more than 1048576 bytes")
        self._config_maps[namespace, name] = ConfigMapData(self._next(), merged)

    def secret_value(self, namespace: str, name: str, key: str) -> str:
        self._allow("secret_value", namespace, name)
        try:
            return self.secrets[namespace, name][key].strip()
        except KeyError:
            raise Missing(f"secrets {name} not found") from None

    def create_event(self, event: WorkloadEvent) -> None:
        self._allow("create_event", event.namespace)
        self.events.append(event)

    def pods(self, namespace: str, labels: Mapping[str, str]) -> list[str]:
        self._allow("pods", namespace)
        matching = [
            name
            for (where, name), pod in self.pods_of.items()
            if where == namespace and labels.items() <= pod.labels.items()
        ]
        return matching[::-1]  # newest first

    def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        self._allow("log_tail", namespace, pod)
        try:
            return self.pods_of[namespace, pod].lines[-lines:]
        except KeyError:
            raise Missing(f"pods {pod} not found") from None

    def _allow(self, method: str, namespace: str, *rest: str) -> None:
        self.calls.append((method, namespace, *rest))
        if self.down:
            raise ClusterError("connection refused")
        if (method, namespace) in self.refused:
            raise ClusterError("forbidden")

    def _find(self, namespace: str, kind: Kind, name: str) -> dict[str, Any]:
        try:
            return self._workloads[namespace, kind, name]
        except KeyError:
            raise Missing(f"{kind} {name} not found") from None

    def _next(self) -> str:
        self._versions += 1
        return str(self._versions)
