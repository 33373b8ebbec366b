"""A release with workers: its tasks run in pods that the cluster starts, moves and ends.

Only a cluster shows that the pods find each other by the headless Service, through their network policies, with the
Secret and the claim of the release.
"""

from __future__ import annotations

import pytest

from devkit.broker import Broker
from devkit.cluster_workers import await_workers, worker_pods
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic, counting
from tests.cluster.conftest import HelmFactory

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def release(namespace: Kubectl, newest_helm: HelmFactory, kafka: Broker, image: str) -> ReleaseWithTraffic:
    """A release with state and two workers."""
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
    release.install(
        sql=counting(release.source, release.target),
        persistence={"accessModes": ["ReadWriteMany"]},
        workers={"replicas": 2},
    )
    return release


def scale(release: ReleaseWithTraffic, count: int) -> None:
    release.helm.kubectl.run("scale", f"deployment/{release.name}-workers", f"--replicas={count}")


def test_workers_are_scaled_and_killed_while_records_arrive(release: ReleaseWithTraffic) -> None:
    kubectl = release.helm.kubectl
    await_workers(release, 2)
    assert release.await_records().duplicates == 0
    assert not any(pod["spec"].get("automountServiceAccountToken") for pod in worker_pods(release))

    with release.traffic:
        scale(release, 3)
        await_workers(release, 3)
        kubectl.delete("pod", worker_pods(release)[0]["metadata"]["name"], "--grace-period=0", "--force")
        await_workers(release, 3)
        scale(release, 1)
        await_workers(release, 1)
    assert release.await_records().duplicates == 0

    uid = release.processor.uid()
    kubectl.delete("pod", release.processor.pod()["metadata"]["name"], "--grace-period=0", "--force")
    release.traffic.write(50)
    release.processor.await_other_pod(uid)
    await_workers(release, 1)
    report = release.await_records()

    assert report.duplicates == 0
    assert release.processor.stream()["state"] == "running"
    assert release.processor.restarts() == 0
