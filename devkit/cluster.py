"""The Kubernetes cluster of a test run: the one of KUBECONFIG, or one on this machine.

`python -m devkit.cluster COMMAND...` keeps the cluster while the command runs.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from ci.cluster import images, lifecycle, machine, node_faults
from ci.cluster.layout import KUBECONFIG, LOCK, NODE1, NODE2, NODES, Node
from ci.tools.cache import cache_lock
from devkit.kubectl import Kubectl, Resource

HOST_VARIABLE = "CLUSTER_HOST_IP"
HELD_VARIABLE = "LSQL_CLUSTER_HELD"
"""Set in the processes of a run that uses the cluster of this machine."""
CHANGE_LOCK = "cluster-change"
"""A lock in the cache folder: one process of a run at a time boots the cluster or loads an image."""


@dataclass(frozen=True)
class KubernetesCluster:
    """A cluster, and what a test may do with it."""

    kubeconfig: Path
    host: str
    """An address of this machine that pods can reach: where the broker of a test listens."""
    is_own: bool
    """Whether `ci.cluster` booted it on this machine. Tests may stop the node only of such a cluster."""

    @property
    def kubectl(self) -> Kubectl:
        """kubectl for the namespace `default`."""
        return Kubectl(self.kubeconfig)

    def load(self, image: str) -> None:
        """Load an image from podman into the first node. A cluster of KUBECONFIG must have the image already."""
        if self.is_own:
            with cache_lock(CHANGE_LOCK):
                images.load(image)

    def tag(self, image: str, name: str) -> None:
        """Add a name to an image on the first node."""
        images.tag(image, name)

    def stop_node(self) -> None:
        """Stop kubelet and containerd of the first node; containers keep running."""
        node_faults.stop_node(NODE1)

    def start_node(self, name: str = NODE1.name) -> None:
        """Start kubelet and containerd; returns when the node accepts pods."""
        node_faults.start_node(_node(name))

    def reboot_node(self) -> None:
        """End all processes in pods of the first node, and start it again."""
        node_faults.reboot_node(NODE1)

    @contextmanager
    def second_node(self, *names: str) -> Iterator[str]:
        """Yield the name of a second node with these images of podman. It is removed with its pods afterwards.

        The tests that use it run alone (`node`), because pods of all tests could be on it.
        """
        try:
            lifecycle.add_node(NODE2, *names)
            yield NODE2.name
        finally:
            lifecycle.remove_node(NODE2)

    @contextmanager
    def enforced_policies(self) -> Iterator[None]:
        """Enforce NetworkPolicies meanwhile, for all pods of the first node.

        The tests that use it run alone (`network_policy`).
        """
        try:
            lifecycle.enforce_policies()
            yield
        finally:
            lifecycle.ignore_policies()

    def power_off(self, name: str) -> None:
        """End all processes of a node at once, and cut its network before. `start_node` starts it again."""
        node_faults.power_off(_node(name))

    def kill_container(self, pod: Resource) -> None:
        """Kill the first process of a pod's first container (KILL), from outside of the pod."""
        node_faults.kill_container(_node(pod["spec"]["nodeName"]), _container_id(pod))

    def signal_container(self, pod: Resource, number: Signals) -> None:
        """Send a signal to all processes of a pod's first container, from outside of the pod."""
        node_faults.signal_container(_node(pod["spec"]["nodeName"]), _container_id(pod), number)


def _node(name: str) -> Node:
    return next(node for node in NODES if node.name == name)


def _container_id(pod: Resource) -> str:
    container: str = pod["status"]["containerStatuses"][0]["containerID"]
    return container.removeprefix("containerd://")


def given_cluster() -> Path | None:
    """The kubeconfig file of KUBECONFIG, if it is not for the cluster on this machine."""
    given = Path(os.environ.get("KUBECONFIG") or KUBECONFIG)
    return None if given.resolve() == KUBECONFIG else given


@contextmanager
def running_cluster() -> Iterator[KubernetesCluster]:
    """Yield the cluster. A cluster that this function booted is removed afterwards; one that already ran stays."""
    given = given_cluster()
    if given is not None:
        yield KubernetesCluster(given, os.environ.get(HOST_VARIABLE) or outgoing_address(), is_own=False)
        return
    with held_cluster():
        with cache_lock(CHANGE_LOCK):
            lifecycle.up()
        yield KubernetesCluster(KUBECONFIG, NODE1.ip, is_own=True)


@contextmanager
def held_cluster() -> Iterator[None]:
    """Keep the cluster of this machine for this process and its children, one of which boots it.

    Afterwards the cluster is removed unless it ran before. Does nothing if a parent process or KUBECONFIG provides the
    cluster.
    """
    if os.environ.get(HELD_VARIABLE) or given_cluster() is not None:
        yield
        return
    assert "PYTEST_XDIST_WORKER" not in os.environ, "several processes share a cluster under `make test-cluster` only"
    with cache_lock(LOCK):
        was_up = lifecycle.is_up()
        os.environ[HELD_VARIABLE] = "yes"
        try:
            yield
        finally:
            del os.environ[HELD_VARIABLE]
            if not was_up:
                lifecycle.down()
                assert not (remains := machine.remains()), f"`down` did not remove {remains}"


def outgoing_address() -> str:
    """The address of this machine in its network: a guess, which CLUSTER_HOST_IP replaces."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address reserved for documentation: nothing is sent
        return str(probe.getsockname()[0])


def main() -> None:
    """Run a command whose processes share the cluster; exit with its exit code."""
    with held_cluster():
        code = subprocess.run(sys.argv[1:], check=False).returncode
    sys.exit(code)


if __name__ == "__main__":
    main()
