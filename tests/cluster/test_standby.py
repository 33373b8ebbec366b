"""A release with a standby: its pods are killed and suspended, and records go on. Prints the times.

Only a cluster shows that the pods find the Lease with the token of the chart, that the Service answers for the leader,
and that a container that is suspended from outside is replaced, and stands by when it continues.
"""

from __future__ import annotations

import json
import signal
import time

import pytest

from bench.follow import Follower
from bench.pauses import longest_pause_ms
from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.cluster_standby import DEADLINE_S, await_pair, first_record_s, leader_of, lease_of
from devkit.kubectl import Kubectl, Resource
from devkit.release_with_traffic import ReleaseWithTraffic, counting
from tests.cluster.conftest import HelmFactory

STANDBY_S, ALONE_S = 8, 20
"""The first new record, on an idle machine. This is asserted with a factor, because tests share two cores."""
BUSY = 3
TARGET_PARTITIONS = 2
pytestmark = pytest.mark.timeout(600)


def state_of(pod: Resource) -> Resource:
    """The state of its container; empty before it is created."""
    statuses = pod["status"].get("containerStatuses") or [{}]
    return dict(statuses[0].get("state", {}))


def stream_of(kubectl: Kubectl, pod: str) -> dict[str, object]:
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/{pod}:8083/proxy/stream"
    stream: dict[str, object] = json.loads(kubectl.raw(path))
    return stream


def test_a_leader_that_is_killed_suspended_or_updated_is_replaced(
    own_cluster: KubernetesCluster, namespace: Kubectl, newest_helm: HelmFactory, kafka: Broker, image: str
) -> None:
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
    release.install(
        sql=counting(release.source, release.target),
        persistence={"accessModes": ["ReadWriteMany"]},
        standby={"replicas": 1},
    )
    await_pair(release)
    seconds: dict[str, float] = {}
    with release.traffic:
        for pod in release.processor.pods():
            seen = stream_of(namespace, pod["metadata"]["name"])
            assert (seen["state"], seen["standby"]["leader"]) == ("running", lease_of(release).holder)  # type: ignore[index]

        term, leader, began = lease_of(release).transitions, leader_of(release), time.monotonic()
        namespace.delete("pod", leader, "--grace-period=0", "--force", "--wait=false")
        seconds["pod killed"] = first_record_s(release, began, lambda: lease_of(release).transitions > term)
        await_pair(release)

        term, leader = lease_of(release).transitions, leader_of(release)
        suspended = namespace.get("pod", leader)
        began = time.monotonic()
        own_cluster.signal_container(suspended, signal.SIGSTOP)
        try:
            seconds["suspended"] = first_record_s(release, began, lambda: lease_of(release).transitions > term)
        finally:
            own_cluster.signal_container(suspended, signal.SIGCONT)
        namespace.wait_until(
            lambda: namespace.get("pod", leader)["status"]["containerStatuses"][0]["restartCount"] > 0,
            DEADLINE_S,
            "the suspended container has ended",
        )
        assert "PROCESSOR_REPLACED" in namespace.logs(leader, "--previous")
        await_pair(release)

        term, began = lease_of(release).transitions, time.monotonic()
        with Follower(kafka.bootstrap, [release.target], TARGET_PARTITIONS) as follower:
            release.upgrade(commonAnnotations={"example.com/change": "2"})
            assert lease_of(release).transitions > term
            seconds["update, in all"] = time.monotonic() - began
            await_pair(release)
            arrivals_ms = [at_ms for *_, at_ms in follower.records(release.target)]
        seconds["update, longest time without results"] = longest_pause_ms(arrivals_ms) / 1000
    assert release.await_records().duplicates == 0

    release.upgrade(standby={"replicas": 0})
    namespace.wait_until(lambda: len(release.processor.pods()) == 1, DEADLINE_S, "one pod")
    release.processor.await_ready()
    with release.traffic:
        uid, began = release.processor.uid(), time.monotonic()
        namespace.delete("pod", release.processor.pod()["metadata"]["name"], "--grace-period=0", "--force")

        def has_other_container() -> bool:
            pods = release.processor.pods()
            return len(pods) == 1 and release.processor.uid() != uid and "running" in state_of(pods[0])

        alone = first_record_s(release, began, has_other_container)
    assert release.await_records().duplicates == 0

    print("first record after, in seconds:", {**seconds, "pod killed, without a standby": alone})
    assert max(seconds["pod killed"], seconds["suspended"]) < BUSY * STANDBY_S
    assert seconds["update, longest time without results"] < BUSY * STANDBY_S
    assert alone < BUSY * ALONE_S
