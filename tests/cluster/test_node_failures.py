"""A node loses power: a standby takes over from it, a leader goes on without it, tasks of workers run elsewhere.

Only a second node shows what the others see: connections that are not closed but silent, and pods that the API server
takes for ready, because it notices a lost node after 50 s. Prints the times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.cluster_pods import USER, await_running, claim, pod
from devkit.cluster_standby import DEADLINE_S, await_pair, first_record_s, leader_of, lease_of
from devkit.cluster_traffic import LongestPause
from devkit.cluster_workers import await_workers, worker_pods
from devkit.kubectl import Kubectl, Resource, is_ready
from devkit.release_with_traffic import ReleaseWithTraffic, counting
from tests.cluster.conftest import HelmFactory

FIRST = "node1"
SILENCE_S = 20
"""After this time, a worker that does not answer is lost."""
STANDBY_S, WORKER_LOST_S = 8, SILENCE_S + 5
"""The first new record of a standby, and of workers after one is lost, on an idle machine."""
PROCESSOR_S = 20
"""The first new record of a processor without a standby, from the start of its next pod."""
NOTICED_S = 50 + 20
"""After this time the pod of a lost node is deleted, and a StatefulSet starts the next one: the API server notices the
node, and pods are collected every 20 s."""
BUSY = 3
PARTITIONS = 8
"""More than the slots of a worker, so that both workers have tasks."""
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


@contextmanager
def out_of_service(kubectl: Kubectl, node: str) -> Iterator[None]:
    """Tell Kubernetes that a node is off, as the guide says, so that its pods are replaced."""
    taint = "node.kubernetes.io/out-of-service"
    kubectl.run("taint", "node", node, f"{taint}=nodeshutdown:NoExecute")
    try:
        yield
    finally:
        kubectl.run("taint", "node", node, f"{taint}-")


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


def has_node(pods: Sequence[Resource]) -> bool:
    """Whether one of the pods has a node."""
    return any(pod["spec"].get("nodeName") for pod in pods)


def node_of(kubectl: Kubectl, name: str) -> str:
    return str(kubectl.get("pod", name)["spec"].get("nodeName", ""))


def on(node: str, described: Resource) -> Resource:
    """The pod on a node."""
    described["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    return described


def await_restarted(kubectl: Kubectl, name: str) -> None:
    """Wait until the container of a pod was started again and is ready."""
    kubectl.wait_until(
        lambda: (
            is_ready(resource := kubectl.get("pod", name))
            and resource["status"]["containerStatuses"][0]["restartCount"]
        ),
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


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_processor_without_a_standby_continues_on_another_node(
    own_cluster: KubernetesCluster,
    namespace: Kubectl,
    newest_helm: HelmFactory,
    kafka: Broker,
    image: str,
    node2: str,
    kind: str,
) -> None:
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
    install_at(release, node2, FIRST, lambda: has_node(release.processor.pods()), workload={"kind": kind})
    release.processor.await_ready()
    lost = release.processor.uid()

    with release.traffic:
        await_more_records(release, RECORDS)
        with without_power(own_cluster, node2):
            began = time.monotonic()
            with out_of_service(namespace, node2):
                continues_s = first_record_s(
                    release, began, lambda: any(pod["metadata"]["uid"] != lost for pod in release.processor.pods())
                )
    assert release.await_records().duplicates == 0

    print(f"{kind}: first record after the node is marked: {continues_s:.1f} s")
    assert continues_s < BUSY * PROCESSOR_S + (NOTICED_S if kind == "StatefulSet" else 0)


def test_tasks_of_a_worker_whose_node_is_lost_run_on_another_worker(
    own_cluster: KubernetesCluster, namespace: Kubectl, newest_helm: HelmFactory, kafka: Broker, image: str, node2: str
) -> None:
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image, partitions=PARTITIONS)
    spread = one_per_node(**{"app.kubernetes.io/instance": release.name, "app.kubernetes.io/component": "worker"})
    install_at(
        release,
        FIRST,
        node2,
        lambda: has_node(release.processor.pods()) and has_node(worker_pods(release)),
        workers={"replicas": 2, "topologySpreadConstraints": spread},
        state={"partitions": PARTITIONS},
    )
    await_workers(release, 2)
    assert {worker["spec"]["nodeName"] for worker in worker_pods(release)} == {FIRST, node2}
    assert release.await_records().duplicates == 0

    with release.traffic:
        await_more_records(release, RECORDS)
        with LongestPause(kafka, release.target) as pause, without_power(own_cluster, node2):
            await_workers(release, 1)
            await_more_records(release, RECORDS)
    assert release.await_records().duplicates == 0

    stream = release.processor.stream()
    assert (stream["state"], stream["restarts"], release.processor.restarts()) == ("running", 0, 0)
    print(f"longest pause after the node of a worker is lost: {pause.seconds:.1f} s")
    assert SILENCE_S / 2 < pause.seconds < BUSY * WORKER_LOST_S  # less, and the lost worker had no task
