"""The console's port to Kubernetes: a few operations, plain data, three errors.

`lightkube_cluster` implements it; `devkit/fake_cluster.py` does so in memory. Both pass the suite in tests/contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lsql_runner.console.workloads import Kind
from lsql_runner.errors import LsqlError

MANAGER = "lsql-console"
"""The name under which Kubernetes records changes of the job and the console."""


class Missing(Exception):
    """The Kubernetes object does not exist."""


class Conflict(Exception):
    """Another client changed or created the object in the meantime."""


class ClusterError(Exception):
    """The API server cannot be reached or refuses the request; the message is the reason."""


@dataclass(frozen=True, slots=True)
class ConfigMapData:
    """A ConfigMap: its binary values, and the resourceVersion that a write must pass."""

    version: str
    content: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadEvent:
    """The content of a Kubernetes Event on a workload."""

    namespace: str
    kind: Kind
    name: str
    uid: str
    type: Literal["Normal", "Warning"]
    reason: str
    """A word in CamelCase."""
    action: str
    text: str


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """A HorizontalPodAutoscaler and its target."""

    name: str
    kind: str
    """The kind of the scaled workload, such as `Deployment`."""
    target: str
    """The name of the scaled workload."""
    owner: str
    """What has created it, such as `ScaledObject/fast-vehicles`; empty if that is not known."""


class Cluster(Protocol):
    """Every method may raise ClusterError. Methods on a named object may raise Missing."""

    def workloads(self, namespace: str, kind: Kind) -> Iterator[Mapping[str, Any]]:
        """The manifests of all workloads of this kind, by one list call that is read page by page."""

    def workload(self, namespace: str, kind: Kind, name: str) -> Mapping[str, Any]:
        """The manifest of one workload."""

    def label(self, namespace: str, kind: Kind, name: str, version: str, key: str, value: str) -> None:
        """Set a label in the metadata of a workload whose resourceVersion is still `version`.

        Raises:
            Conflict: the resourceVersion has changed.
        """

    def delete_workload(self, namespace: str, kind: Kind, name: str, uid: str) -> None:
        """Delete the workload whose uid is still `uid`. Kubernetes deletes its pods in the background.

        Raises:
            Conflict: another workload has the name now.
        """

    def scale_deployment(self, namespace: str, name: str, uid: str, replicas: int) -> None:
        """Set the replicas of the Deployment whose uid is still `uid`, by its subresource `scale`.

        Raises:
            Conflict: another Deployment has the name now.
        """

    def autoscalers(self, namespace: str) -> list[Autoscaler]:
        """All HorizontalPodAutoscalers. KEDA creates one for each ScaledObject."""

    def config_map(self, namespace: str, name: str) -> ConfigMapData:
        """Read a ConfigMap."""

    def write_config_map(self, namespace: str, name: str, version: str | None, content: Mapping[str, bytes]) -> None:
        """Set binary values of a ConfigMap whose resourceVersion is still `version`; None creates the ConfigMap.

        Raises:
            Conflict: another client wrote or created it.
        """

    def secret_value(self, namespace: str, name: str, key: str) -> str:
        """The value of a key of a Secret, without white space around it.

        Raises:
            Missing: the Secret has no such key.
        """

    def create_event(self, event: WorkloadEvent) -> None:
        """Create an Event on a workload."""

    def pods(self, namespace: str, labels: Mapping[str, str]) -> list[str]:
        """The names of the pods with these labels, newest first."""

    def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        """The last lines of a container's log."""


def refusal(action: str, resource: str, error: Exception) -> LsqlError:
    """CLUSTER_REFUSED, from an exception of a Cluster.

    Args:
        action: a verb, such as `read`.
        resource: as kubectl names it, such as `ConfigMap/processors`.
    """
    return LsqlError("CLUSTER_REFUSED", action=action, resource=resource, reason=str(error).rstrip("."))
