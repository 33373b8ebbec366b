"""A node loses power: a standby takes over from it, and a leader goes on without it.

Only a second node shows what the others see: connections that are not closed but silent, and pods that the API server
takes for ready, because it notices a lost node after 50 s. Prints the times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.cluster_pods import USER, await_running, claim, pod
from devkit.cluster_standby import DEADLINE_S, await_pair, first_record_s, is_ready, leader_of, lease_of
from devkit.cluster_traffic import LongestPause
from devkit.kubectl import Kubectl, Resource
from devkit.release_with_traffic import ReleaseWithTraffic, counting
from tests.cluster.conftest import HelmFactory

FIRST = "node1"
STANDBY_S = 8
"""The first new record of a standby, on an idle machine."""
BUSY = 3
RECORDS = 200
"""Five seconds of records: longer than the Lease lasts, and longer than several batches."""
SERVE = "import socket, signal; s = socket.create_server(('', 8000)); c = s.accept(); signal.pause()"
ASK = """
import os, signal, socket, time
connection = socket.create_connection(({address!r}, 8000), timeout=2)
open("/data/connected", "w").close()
while not os.path.exists("/data/off"):
    time.sleep(0.05)
try:
    print("closed", connection.recv(1), flush=True)
except TimeoutError:
    print("silent", flush=True)
signal.pause()
"""
pytestmark = [pytest.mark.node, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def node2(cluster: KubernetesCluster, image: str) -> Iterator[str]:
    """The name of a second node, which the tests power off and start again."""
    with cluster.second_node(image) as name:
        yield name


@contextmanager
def cordoned(kubectl: Kubectl, node: str) -> Iterator[None]:
    """Start no pods on a node."""
    kubectl.run("cordon", node)
    try:
        yield
    finally:
        kubectl.run("uncordon", node)


@contextmanager
def without_power(cluster: KubernetesCluster, node: str) -> Iterator[None]:
    """Power a node off, and start it again afterwards."""
    cluster.power_off(node)
    try:
        yield
    finally:
        cluster.start_node(node)


def one_per_node(**labels: str) -> list[dict[str, Any]]:
    """Topology spread constraints: each of two pods has a node of its own, also if a node is cordoned."""
    return [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": labels},
        }
    ]


def install_at(
    release: ReleaseWithTraffic, node: str, other: str, is_there: Callable[[], object], **values: Any
) -> None:
    """Install a release whose first pods are on a node; when `is_there`, further ones may be on the other node."""
    release.values |= {
        "sql": counting(release.source, release.target),
        "persistence": {"accessModes": ["ReadWriteMany"]},
    }
    release.values |= values
    release.traffic.write(50)
    with cordoned(release.helm.kubectl, other):
        release.helm.install_without_wait(release.name, release.values)
        release.helm.kubectl.wait_until(is_there, DEADLINE_S, f"{release.name} on {node}")


def node_of(kubectl: Kubectl, name: str) -> str:
    return str(kubectl.get("pod", name)["spec"].get("nodeName", ""))


def on(node: str, described: Resource) -> Resource:
    """The pod on a node."""
    described["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    return described


def await_restarted(kubectl: Kubectl, name: str) -> None:
    """Wait until the container of a pod was started again and is ready."""
    kubectl.wait_until(
        lambda: is_ready(found := kubectl.get("pod", name)) and found["status"]["containerStatuses"][0]["restartCount"],
        DEADLINE_S,
        f"{name} is ready again",
    )


def await_more_records(release: ReleaseWithTraffic, count: int) -> None:
    """Wait until the target has so many records more."""
    before = sum(release.broker.end_offsets(release.target).values())
    release.helm.kubectl.wait_until(
        lambda: sum(release.broker.end_offsets(release.target).values()) >= before + count, DEADLINE_S, "new records"
    )


def test_pods_of_two_nodes_share_a_volume_and_a_lost_node_is_silent(
    own_cluster: KubernetesCluster, namespace: Kubectl, image: str, node2: str
) -> None:
    shared = claim("data", "16Mi")
    shared["spec"]["accessModes"] = ["ReadWriteMany"]
    namespace.create(shared, on(node2, pod("server", image, SERVE, "data")))
    address = await_running(namespace, "server")["status"]["podIP"]
    namespace.create(on(FIRST, pod("client", image, ASK.format(address=address), "data")))
    await_running(namespace, "client")
    connected = "import os; print(os.path.exists('/data/connected'), os.stat('/data').st_gid)"
    namespace.wait_until(
        lambda: namespace.exec("server", "python", "-c", connected) == f"True {USER}\n",
        30,
        "the file of the other node",
    )

    with without_power(own_cluster, node2):
        namespace.exec("client", "python", "-c", "open('/data/off', 'w')")
        assert namespace.wait_until(lambda: namespace.logs("client"), 30, "the result of the client") == "silent\n"

    await_restarted(namespace, "server")


def test_a_standby_takes_over_from_a_lost_node_and_a_leader_goes_on_without_that_of_its_standby(
    own_cluster: KubernetesCluster, namespace: Kubectl, newest_helm: HelmFactory, kafka: Broker, image: str, node2: str
) -> None:
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
    install_at(
        release,
        node2,
        FIRST,
        lambda: leader_of(release),
        standby={"replicas": 1},
        topologySpreadConstraints=one_per_node(app=release.name),
    )
    await_pair(release)
    lost, term = leader_of(release), lease_of(release).transitions
    assert node_of(namespace, lost) == node2

    with release.traffic:
        began = time.monotonic()
        with without_power(own_cluster, node2):
            taken_over_s = first_record_s(release, began, lambda: lease_of(release).transitions > term)
        await_restarted(namespace, lost)

        leader, term = namespace.get("pod", leader_of(release)), lease_of(release).transitions
        assert (leader["spec"]["nodeName"], leader["metadata"]["name"] != lost) == (FIRST, True)
        with LongestPause(kafka, release.target) as pause:
            namespace.delete("pod", lost, "--grace-period=0", "--force")
            await_pair(release)
            assert node_of(namespace, lost) == node2
            with without_power(own_cluster, node2):
                await_more_records(release, RECORDS)
    assert release.await_records().duplicates == 0

    now = namespace.get("pod", leader["metadata"]["name"])
    assert lease_of(release).transitions == term
    assert now["metadata"]["uid"] == leader["metadata"]["uid"]
    assert now["status"]["containerStatuses"][0]["restartCount"] == 0
    print(
        f"first record after power off: {taken_over_s:.1f} s; longest pause without the standby: {pause.seconds:.1f} s"
    )
    assert taken_over_s < BUSY * STANDBY_S
    assert pause.seconds < STANDBY_S
