"""The NetworkPolicies of both charts in effect: the pods of a release reach what they need, and others do not.

Rendered rules do not show that they suffice for a release with workers. The network of the test cluster ignores
policies: `make test-network-policy` builds a program that enforces them, and runs the tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.cluster_console import ASK, CHART
from devkit.cluster_pods import await_running, pod
from devkit.cluster_workers import await_workers, worker_pods
from devkit.kubectl import Kubectl
from devkit.release_with_traffic import ReleaseWithTraffic, counting
from tests.cluster.conftest import HelmFactory, fresh_namespace

pytestmark = [pytest.mark.network_policy, pytest.mark.timeout(600), pytest.mark.usefixtures("own_cluster")]

PARTITIONS = 8
"""More than the slots of a worker, so that both workers have tasks."""
RECORDS = 200
API, MASTER, CONSOLE = 8083, 7077, 8084
EFFECT_S = 30
"""A policy takes effect a moment after it, or a pod that it selects, was created."""
PROMETHEUS = {"app.kubernetes.io/name": "prometheus"}

SERVE = "import socket, signal; s = socket.create_server(('', 8000)); signal.pause()"
CONNECT = """
import json, socket, sys
def connects(address):
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
    except OSError:
        return False
    return True
print(json.dumps([address for address in sys.argv[1:] if connects(address)]))
"""
"""A Python program that prints which of its arguments it can connect to."""
LISTEN = """
import json, pathlib, socket, sys
rows = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path("/proc/net", name).read_text().splitlines()]
ports = {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}
def is_open(port):
    with socket.socket() as client:
        return client.connect_ex((sys.argv[1], port)) == 0
print(json.dumps(sorted(filter(is_open, ports))))
"""
"""A Python program that prints the ports on which its pod, whose address is the argument, listens for other pods."""


@dataclass(frozen=True)
class Pod:
    """A pod that connects to others."""

    kubectl: Kubectl
    name: str

    @property
    def ip(self) -> str:
        """Its address."""
        return str(self.kubectl.get("pod", self.name)["status"]["podIP"])

    def listens_on(self) -> set[int]:
        """The ports on which it listens for other pods."""
        return set(json.loads(self.kubectl.exec(self.name, "python", "-c", LISTEN, self.ip)))

    def reaches(self, *addresses: str) -> set[str]:
        """The subset of the addresses, as `10.0.0.1:80`, to which it can connect."""
        return set(json.loads(self.kubectl.exec(self.name, "python", "-c", CONNECT, *addresses)))

    def await_reaches(self, expected: set[str], *others: str) -> None:
        """Wait until it can connect to the expected addresses, and to none of the others."""
        self.kubectl.wait_until(
            lambda: self.reaches(*expected, *others) == expected, EFFECT_S, f"{self.name} reaches {expected} only"
        )


@dataclass(frozen=True)
class Story:
    """A release with two workers, a console in another namespace, and in both a pod that no policy selects."""

    release: ReleaseWithTraffic
    processor: Pod
    workers: tuple[Pod, Pod]
    neighbour: Pod
    """In the namespace of the release."""
    stranger: Pod
    """In the namespace of the console."""
    prometheus: Pod
    """There, with the label of Prometheus."""
    api: str
    master: str
    console: str

    @property
    def worker_ports(self) -> set[str]:
        """The addresses on which the workers listen."""
        return {f"{worker.ip}:{port}" for worker in self.workers for port in worker.listens_on()}


def start(kubectl: Kubectl, name: str, image: str, **labels: str) -> Pod:
    """Start a pod that listens on port 8000."""
    described = pod(name, image, SERVE)
    described["metadata"]["labels"] |= labels
    kubectl.create(described)
    await_running(kubectl, name)
    return Pod(kubectl, name)


@pytest.fixture(scope="module")
def enforced(cluster: KubernetesCluster) -> Iterator[None]:
    """Policies are in effect."""
    with cluster.enforced_policies():
        yield


@pytest.fixture(scope="module")
def story(
    enforced: None, kubectl: Kubectl, shared_namespace: Kubectl, newest_helm: HelmFactory, kafka: Broker, image: str
) -> Iterator[Story]:
    release = ReleaseWithTraffic(newest_helm(shared_namespace), kafka, image, partitions=PARTITIONS)
    release.install(
        sql=counting(release.source, release.target),
        persistence={"accessModes": ["ReadWriteMany"]},
        workers={"replicas": 2},
        state={"partitions": PARTITIONS},
        networkPolicy={"restrictEgress": True},
    )
    await_workers(release, 2)
    with fresh_namespace(kubectl) as other:
        values = {
            "image": release.values["image"],
            "namespaces": [shared_namespace.namespace],
            "console": {"pollSeconds": 1},
            "networkPolicy": {"enabled": True, "ingressFrom": [{"podSelector": {}}]},
        }
        replace(newest_helm(other), chart=CHART).install("watch", values)
        first, second = (Pod(shared_namespace, worker["metadata"]["name"]) for worker in worker_pods(release))
        processor = Pod(shared_namespace, release.processor.pod()["metadata"]["name"])
        [console] = other.list("pods", "app.kubernetes.io/component=console")
        yield Story(
            release,
            processor,
            (first, second),
            neighbour=start(shared_namespace, "neighbour", image),
            stranger=start(other, "stranger", image),
            prometheus=start(other, "prometheus", image, **PROMETHEUS),
            api=f"{processor.ip}:{API}",
            master=f"{processor.ip}:{MASTER}",
            console=f"{console['status']['podIP']}:{CONSOLE}",
        )


@contextmanager
def without_policies(*namespaces: Kubectl) -> Iterator[None]:
    """Delete the policies of some namespaces, and create them again afterwards."""
    deleted = [(kubectl, kubectl.list("networkpolicies")) for kubectl in namespaces]
    for kubectl, _ in deleted:
        kubectl.run("delete", "networkpolicies", "--all")
    try:
        yield
    finally:
        for kubectl, policies in deleted:
            for policy in policies:
                del policy["metadata"]["resourceVersion"], policy["metadata"]["uid"]
            kubectl.create(*policies)


def test_a_release_with_workers_processes_records(story: Story) -> None:
    story.release.traffic.write(RECORDS)
    report = story.release.await_records()

    stream = story.release.processor.stream()
    restarts = [
        pod["status"]["containerStatuses"][0]["restartCount"] for pod in story.release.helm.kubectl.list("pods")
    ]
    assert (report.missing, report.duplicates) == ((), 0)
    assert (stream["state"], stream["restarts"], len(stream["workers"])) == ("running", 0, 2)
    assert set(restarts) == {0}, "probes reach the pods"


def test_the_console_finds_the_processor_of_another_namespace(story: Story) -> None:
    def states() -> list[str]:
        said = story.stranger.kubectl.exec(
            *(story.stranger.name, "python", "-c", ASK, "GET", "http://watch:8084/api/v1/streams", "")
        )
        return [stream["state"] for stream in json.loads(said.partition(" ")[2])["streams"]]

    story.stranger.kubectl.wait_until(lambda: states() == ["running"], 60, "the console shows it running")


def test_a_processor_listens_on_its_api_and_for_workers_only(story: Story) -> None:
    assert story.processor.listens_on() == {API, MASTER, MASTER + 1, MASTER + 2}


def test_only_the_release_reaches_workers_and_master_and_only_known_pods_the_api(story: Story) -> None:
    first, second = story.workers
    workers, inner = story.worker_ports, {story.master, *story.worker_ports}
    assert {address.partition(":")[0] for address in workers} == {first.ip, second.ip}

    story.processor.await_reaches(workers)
    first.await_reaches(inner, story.api)
    story.neighbour.await_reaches({story.api}, story.console, *inner)
    story.prometheus.await_reaches({story.api, story.console}, *inner)
    story.stranger.await_reaches({story.console}, story.api, *inner)


def test_processor_and_workers_connect_to_dns_and_brokers_only(story: Story) -> None:
    allowed = {story.release.broker.bootstrap}
    forbidden = f"{story.stranger.ip}:8000"
    resolve = "import socket; print(socket.gethostbyname('kubernetes.default.svc.cluster.local'))"

    for restricted in (story.processor, *story.workers):
        restricted.await_reaches(allowed, forbidden, story.console)
        assert restricted.kubectl.exec(restricted.name, "python", "-c", resolve).startswith("10.96.")
    story.neighbour.await_reaches({*allowed, forbidden})


def test_without_the_policies_the_same_connections_succeed(story: Story) -> None:
    refused = {story.api, story.master, *story.worker_ports}

    with without_policies(story.stranger.kubectl, story.neighbour.kubectl):
        story.stranger.await_reaches(refused)
        story.neighbour.await_reaches({story.console, *refused})
        story.processor.await_reaches({story.console, f"{story.stranger.ip}:8000"})
        story.workers[0].await_reaches({story.console, f"{story.stranger.ip}:8000"})
    story.stranger.await_reaches(set(), *refused)
