"""Pods, processes and brokers fail, and no record is lost. The release runs after every test."""

import time
from collections.abc import Iterator

import pytest

from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic, at_least_once
from tests.cluster.conftest import HelmFactory, fresh_namespace

OUTAGE_S = 120
POLL_S = 1


@pytest.fixture(scope="module")
def broker(cluster: KubernetesCluster) -> Iterator[Broker]:
    """A broker that only this module uses, because a test stops it."""
    with Broker(host=cluster.host) as own:
        yield own


@pytest.fixture(scope="module")
def release(kubectl: Kubectl, broker: Broker, image: str, newest_helm: HelmFactory) -> Iterator[ReleaseWithTraffic]:
    with fresh_namespace(kubectl) as namespace:
        release = ReleaseWithTraffic(newest_helm(namespace), broker, image)
        release.install()
        release.await_records()
        yield release


def test_a_deleted_pod_is_replaced_without_duplicates(release: ReleaseWithTraffic) -> None:
    old = release.processor.uid()

    with release.traffic:
        release.helm.kubectl.delete("pod", release.processor.pod()["metadata"]["name"])
        release.processor.await_other_pod(old)

    assert release.await_records().duplicates == 0


@pytest.mark.parametrize("program", ["java", "lsql"])
def test_a_killed_process_restarts_the_container_and_loses_nothing(release: ReleaseWithTraffic, program: str) -> None:
    restarts = release.processor.restarts()

    with release.traffic:
        release.processor.signal(program)
        release.processor.await_restart(restarts)

    assert at_least_once(release.await_records())


def test_a_killed_container_loses_nothing(own_cluster: KubernetesCluster, release: ReleaseWithTraffic) -> None:
    restarts = release.processor.restarts()

    with release.traffic:
        own_cluster.kill_container(release.processor.pod())
        release.processor.await_restart(restarts)

    assert at_least_once(release.await_records())


def test_a_broker_outage_of_two_minutes_causes_no_restart_and_loses_nothing(
    release: ReleaseWithTraffic, broker: Broker
) -> None:
    pod, restarts = release.processor.uid(), release.processor.restarts()

    with release.traffic:
        broker.stop()
        back_at = time.monotonic() + OUTAGE_S
        release.helm.kubectl.wait_until(lambda: not release.processor.is_ready(), OUTAGE_S, "the pod is not ready")
        while time.monotonic() < back_at:
            assert release.processor.restarts() == restarts
            time.sleep(POLL_S)
        broker.start()
        release.processor.await_ready()

    assert (release.processor.uid(), release.processor.restarts()) == (pod, restarts)
    assert at_least_once(release.await_records())
