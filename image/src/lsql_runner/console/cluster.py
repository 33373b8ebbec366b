"""The console's port to Kubernetes: a few verbs, plain data, three errors.

`lightkube_cluster` is the real one; devkit/fake_cluster.py its twin without a cluster. One suite of tests holds for
both (tests/contract).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lsql_runner.console.workloads import Kind
from lsql_runner.errors import LsqlError


class Missing(Exception):
    """The object does not exist."""


class Conflict(Exception):
    """Another client changed or created the object meanwhile."""


class ClusterError(Exception):
    """The API server cannot be reached, or it refuses: one sentence says why."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A ConfigMap: its resourceVersion, which a write must name, and its binary values."""

    version: str
    content: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class WorkloadEvent:
    """What becomes a Kubernetes Event on a workload."""

    namespace: str
    kind: Kind
    name: str
    uid: str
    type: Literal["Normal", "Warning"]
    reason: str
    """A word in CamelCase."""
    action: str
    text: str


class Cluster(Protocol):
    """Every method may raise ClusterError; those on one object Missing."""

    def workloads(self, namespace: str, kind: Kind) -> Iterator[Mapping[str, Any]]:
        """All workloads of the namespace and kind, page by page: one list call."""

    def workload(self, namespace: str, kind: Kind, name: str) -> Mapping[str, Any]:
        """One workload."""

    def label(self, namespace: str, kind: Kind, name: str, version: str, key: str, value: str) -> None:
        """Set a label on the workload's own metadata, if its resourceVersion still is `version`.

        Raises:
            Conflict: it is not.
        """

    def delete_workload(self, namespace: str, kind: Kind, name: str, uid: str) -> None:
        """Delete the workload and, in the background, its pods, if its uid still is `uid`.

        Raises:
            Conflict: another workload has its name now.
        """

    def configuration(self, namespace: str, name: str) -> Configuration:
        """A ConfigMap."""

    def write_configuration(self, namespace: str, name: str, version: str | None, content: Mapping[str, bytes]) -> None:
        """Set values of a ConfigMap whose resourceVersion is `version`; None creates it.

        Raises:
            Conflict: another client wrote or created it.
        """

    def note(self, note: WorkloadEvent) -> None:
        """Create an Event."""

    def pods(self, namespace: str, labels: Mapping[str, str]) -> list[str]:
        """The names of the pods that carry the labels, the newest first."""

    def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> list[str]:
        """The last lines that a container wrote."""


def refused(action: str, resource: str, error: Exception) -> LsqlError:
    """CLUSTER_REFUSED, for what a method of Cluster raised.

    Args:
        action: a verb, such as `read`.
        resource: as kubectl names it, such as `ConfigMap/processors`.
    """
    return LsqlError("CLUSTER_REFUSED", action=action, resource=resource, reason=str(error).rstrip("."))
