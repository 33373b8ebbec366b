"""Restarts and reboots of the test cluster's node, and their effects on pods."""

import pytest

from devkit.cluster import KubernetesCluster
from devkit.cluster_pods import await_running, pod
from devkit.kubectl import Kubectl, Resource

WAIT = "import signal; signal.pause()"


def running_since(resource: Resource) -> str:
    return str(resource["status"]["containerStatuses"][0]["state"]["running"]["startedAt"])


@pytest.mark.node
def test_containers_survive_a_restart_of_kubelet_and_containerd(
    own_cluster: KubernetesCluster, namespace: Kubectl, image: str
) -> None:
    namespace.create(pod("old", image, WAIT))
    before = await_running(namespace, "old")

    own_cluster.stop_node()
    own_cluster.start_node()
    namespace.create(pod("new", image, WAIT))
    await_running(namespace, "new")

    assert running_since(await_running(namespace, "old")) == running_since(before)


@pytest.mark.node
def test_a_reboot_starts_containers_again(own_cluster: KubernetesCluster, namespace: Kubectl, image: str) -> None:
    namespace.create(pod("old", image, WAIT))
    await_running(namespace, "old")

    own_cluster.reboot_node()

    namespace.wait_until(
        lambda: namespace.get("pod", "old")["status"]["containerStatuses"][0]["restartCount"] == 1, 60, "a restart"
    )
    await_running(namespace, "old")


def test_a_killed_container_is_started_again(own_cluster: KubernetesCluster, namespace: Kubectl, image: str) -> None:
    namespace.create(pod("old", image, WAIT))
    own_cluster.kill_container(await_running(namespace, "old"))

    namespace.wait_until(
        lambda: namespace.get("pod", "old")["status"]["containerStatuses"][0]["restartCount"] == 1, 60, "a restart"
    )
