"""The node stops or reboots, and no record is lost. The release runs after every test."""

from collections.abc import Iterator

import pytest

from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic, at_least_once
from tests.cluster.conftest import HelmFactory, fresh_namespace

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def release(kubectl: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> Iterator[ReleaseWithTraffic]:
    with fresh_namespace(kubectl) as namespace:
        release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
        release.install()
        release.await_records()
        yield release


def test_it_keeps_processing_while_kubelet_and_containerd_are_stopped(
    own_cluster: KubernetesCluster, release: ReleaseWithTraffic
) -> None:
    restarts, duplicates = release.processor.restarts(), release.await_records().duplicates

    own_cluster.stop_node()
    try:
        release.traffic.write(20)
        assert release.await_records().duplicates == duplicates
    finally:
        own_cluster.start_node()
    release.processor.await_ready()

    assert release.processor.restarts() == restarts


def test_a_reboot_of_the_node_loses_nothing(own_cluster: KubernetesCluster, release: ReleaseWithTraffic) -> None:
    restarts = release.processor.restarts()

    with release.traffic:
        own_cluster.reboot_node()
        release.processor.await_restart(restarts)

    assert at_least_once(release.await_records())
