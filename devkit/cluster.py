"""The cluster of a test run: the one that KUBECONFIG names, or one of our own on this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ci.cluster import images, lifecycle, machine, node
from ci.cluster.layout import KUBECONFIG, LOCK, NODE_IP
from ci.tools.setup import cache_lock
from devkit.kubectl import Kubectl, Resource

HOST_VARIABLE = "CLUSTER_HOST_IP"


@dataclass(frozen=True)
class Cluster:
    """A cluster, and how far a test may go with it."""

    kubeconfig: Path
    host: str
    """An address of this machine that pods reach: where a test's broker listens."""
    is_own: bool
    """Whether it is the one that `ci.cluster` booted here: only of that one the node may be stopped."""

    @property
    def kubectl(self) -> Kubectl:
        """The cluster, seen from the namespace `default`."""
        return Kubectl(self.kubeconfig)

    def load(self, image: str) -> None:
        """Makes an image of podman's known to the nodes; a cluster of other people's must have it already."""
        if self.is_own:
            images.load(image)

    def tag(self, image: str, name: str) -> None:
        """Gives an image another name on the node."""
        images.tag(image, name)

    def stop_node(self) -> None:
        """Stops kubelet and containerd; containers run on."""
        node.stop_node()

    def start_node(self) -> None:
        """Starts them again, and returns when the node takes pods."""
        node.start_node()

    def reboot_node(self) -> None:
        """Ends everything that runs in pods, and starts the node again."""
        node.reboot_node()

    def kill_container(self, pod: Resource) -> None:
        """Kills the first process of a pod's first container (KILL), from the outside."""
        node.kill_container(pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://"))


def given_cluster() -> Path | None:
    """The file of a cluster that KUBECONFIG names and that is not ours."""
    given = Path(os.environ.get("KUBECONFIG") or KUBECONFIG)
    return None if given.resolve() == KUBECONFIG else given


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Gives the cluster; one that was booted for this is taken down afterwards, one that ran already stays."""
    given = given_cluster()
    if given is not None:
        yield Cluster(given, os.environ.get(HOST_VARIABLE) or outgoing_address(), is_own=False)
        return
    with cache_lock(LOCK):
        booted = lifecycle.up()
        try:
            yield Cluster(KUBECONFIG, NODE_IP, is_own=True)
        finally:
            if booted:
                lifecycle.down()
                assert not (left := machine.leftovers()), f"`down` left behind: {left}"


def outgoing_address() -> str:
    """The address by which this machine is seen from outside; a guess, which CLUSTER_HOST_IP replaces."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address for documentation: nothing is sent
        return str(probe.getsockname()[0])
