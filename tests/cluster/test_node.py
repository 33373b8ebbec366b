"""The node stops or reboots, and no record is lost. After every test the release runs."""

from collections.abc import Iterator

import pytest

from devkit.broker import Broker
from devkit.cluster import Cluster
from devkit.cluster_feed import Fed, at_least_once
from devkit.kubectl import Kubectl
from tests.cluster.conftest import HelmFactory, fresh_namespace

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def fed(kubectl: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> Iterator[Fed]:
    with fresh_namespace(kubectl) as namespace:
        made = Fed(newest_helm(namespace), kafka, image)
        made.install()
        made.arrive()
        yield made


def test_it_works_on_while_kubelet_and_containerd_are_away(own_cluster: Cluster, fed: Fed) -> None:
    restarts, doubled = fed.processor.restarts(), fed.arrive().doubled

    own_cluster.stop_node()
    try:
        fed.traffic.write(20)
        assert fed.arrive().doubled == doubled
    finally:
        own_cluster.start_node()
    fed.processor.await_ready()

    assert fed.processor.restarts() == restarts


def test_a_reboot_of_the_node_loses_nothing(own_cluster: Cluster, fed: Fed) -> None:
    restarts = fed.processor.restarts()

    with fed.traffic:
        own_cluster.reboot_node()
        fed.processor.await_restart(restarts)

    assert at_least_once(fed.arrive())
