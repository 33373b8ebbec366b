"""The cluster of a test run: the one that KUBECONFIG names, or one of our own on this machine.

`python -m devkit.cluster COMMAND...` holds the cluster while the command runs.
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

from ci.cluster import images, lifecycle, machine, node
from ci.cluster.layout import KUBECONFIG, LOCK, NODE_IP
from ci.tools.cache import cache_lock
from devkit.kubectl import Kubectl, Resource

HOST_VARIABLE = "CLUSTER_HOST_IP"
HELD_VARIABLE = "LSQL_CLUSTER_HELD"
"""Set in the processes of a run that holds the machine's cluster."""
CHANGE_LOCK = "cluster-change"
"""Of the cache folder: one process of a run at a time boots the cluster or loads an image."""


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
            with cache_lock(CHANGE_LOCK):
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
    """Yields the cluster; one that was booted for this is taken down afterwards, one that ran already stays."""
    given = given_cluster()
    if given is not None:
        yield Cluster(given, os.environ.get(HOST_VARIABLE) or outgoing_address(), is_own=False)
        return
    with held_cluster():
        with cache_lock(CHANGE_LOCK):
            lifecycle.up()
        yield Cluster(KUBECONFIG, NODE_IP, is_own=True)


@contextmanager
def held_cluster() -> Iterator[None]:
    """Keeps the machine's one cluster for this process and its children; who boots it is one of these.

    Afterwards the cluster is taken down unless it ran before. Does nothing where a parent process or KUBECONFIG gives
    the cluster.
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
                assert not (found := machine.remains()), f"`down` did not remove {found}"


def outgoing_address() -> str:
    """The address by which this machine is seen from outside; a guess, which CLUSTER_HOST_IP replaces."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address for documentation: nothing is sent
        return str(probe.getsockname()[0])


def main() -> None:
    """Runs a command whose processes share the cluster, and ends with its exit code."""
    with held_cluster():
        code = subprocess.run(sys.argv[1:], check=False).returncode
    sys.exit(code)


if __name__ == "__main__":
    main()
