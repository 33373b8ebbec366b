"""A release with workers in a cluster: its worker pods, and the workers that its processor knows."""

from __future__ import annotations

from collections.abc import Sequence

from devkit.kubectl import Resource
from devkit.release_with_traffic import ReleaseWithTraffic

JOINED_S = 180


def worker_pods(release: ReleaseWithTraffic) -> Sequence[Resource]:
    """The worker pods that are not being deleted."""
    pods = release.helm.kubectl.list(
        "pods", f"app.kubernetes.io/instance={release.name},app.kubernetes.io/component=worker"
    )
    return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]


def await_workers(release: ReleaseWithTraffic, count: int) -> None:
    """Wait until the processor has so many workers, none of which is leaving."""

    def has_all() -> bool:
        workers = release.processor.stream()["workers"] or []
        return len(workers) == count and not any(worker["leaving"] for worker in workers)

    release.helm.kubectl.wait_until(has_all, JOINED_S, f"{count} workers")
