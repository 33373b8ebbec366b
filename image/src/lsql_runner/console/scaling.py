"""Scales the workers of a processor on request of a user, unless something else scales them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lsql_runner.console.cluster import Cluster, ClusterError, Conflict, Missing, refusal
from lsql_runner.console.manifest import as_mapping, as_mappings
from lsql_runner.console.runners import RunnerUnavailable
from lsql_runner.console.workers import WorkersDeployment, read_workers
from lsql_runner.console.workloads import ProcessorWorkload
from lsql_runner.errors import DetailTable, LsqlError

_WARNINGS = DetailTable(
    {
        "NO_WORKERS_LEFT": "without workers, {name} processes no records",
        "MORE_THAN_PARTITIONS": "the largest source topic of {name} has {partitions} partitions, so of {workers} "
        "workers at least {idle} read nothing",
    }
)


@dataclass(frozen=True, slots=True)
class ScaleResult:
    """The numbers of workers before and after, and warnings for the user."""

    before: int
    after: int
    warnings: tuple[str, ...]


class RunnerStreams(Protocol):
    def get(self, processor: ProcessorWorkload, path: str) -> tuple[int, Any]:
        """Status and JSON of a GET; see Runners.get."""


def scale_workers(
    cluster: Cluster, runners: RunnerStreams, processor: ProcessorWorkload, workers: int, maximum: int
) -> ScaleResult:
    """Set the number of workers. The processor need not respond.

    Raises:
        LsqlError: SCALE_REFUSED, SCALE_OUT_OF_RANGE, SCALED_BY_AUTOSCALER, CLUSTER_REFUSED.
    """
    deployment = processor.workers
    if deployment is None:
        raise LsqlError("SCALE_REFUSED", name=processor.name, workers=workers)
    if not 0 <= workers <= maximum:
        raise LsqlError("SCALE_OUT_OF_RANGE", name=processor.name, workers=workers, maximum=maximum)
    resource = f"Deployment/{deployment.name}"
    try:
        if autoscaler := _autoscaler(cluster, deployment):
            raise LsqlError("SCALED_BY_AUTOSCALER", name=processor.name, workers=workers, autoscaler=autoscaler)
        now = read_workers(cluster.workload(deployment.namespace, "Deployment", deployment.name)) or deployment
        cluster.scale_deployment(deployment.namespace, deployment.name, deployment.uid, workers)
    except Missing:
        raise LsqlError("SCALE_REFUSED", name=processor.name, workers=workers) from None
    except (Conflict, ClusterError) as error:
        raise refusal("scale", resource, error) from None
    return ScaleResult(now.replicas, workers, tuple(_warnings(runners, processor, workers)))


def _autoscaler(cluster: Cluster, workers: WorkersDeployment) -> str:
    """What scales the workers, as kubectl names it; empty if nothing does."""
    for scaler in cluster.autoscalers(workers.namespace):
        if (scaler.kind, scaler.target) == ("Deployment", workers.name):
            return (
                scaler.owner if scaler.owner.startswith("ScaledObject/") else f"HorizontalPodAutoscaler/{scaler.name}"
            )
    return ""


def _warnings(runners: RunnerStreams, processor: ProcessorWorkload, workers: int) -> list[str]:
    if workers == 0:
        return [_WARNINGS("NO_WORKERS_LEFT", name=processor.name)]
    partitions = _largest_source(runners, processor)
    if partitions is None or workers <= partitions:
        return []
    idle = workers - partitions
    return [_WARNINGS("MORE_THAN_PARTITIONS", name=processor.name, partitions=partitions, workers=workers, idle=idle)]


def _largest_source(runners: RunnerStreams, processor: ProcessorWorkload) -> int | None:
    """The partitions of the largest source topic; None if the processor does not say."""
    try:
        _, stream = runners.get(processor, "/stream")
    except RunnerUnavailable:
        return None
    topics = as_mappings(as_mapping(stream).get("topics"))
    return max((_partitions(topic) for topic in topics if topic.get("role") == "source"), default=0) or None


def _partitions(topic: Mapping[str, Any]) -> int:
    partitions = topic.get("partitions")
    return partitions if isinstance(partitions, int) else 0
