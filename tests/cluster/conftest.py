"""Fixtures of the tests on a real Kubernetes: the cluster, a namespace, a broker that pods reach, Helm, the image.

KUBECONFIG names a cluster to use; without it one is booted on this machine and taken down afterwards. Under
`make test-cluster` two processes share the cluster, each in namespaces of its own; then the tests marked `node` run
alone, since they disturb every pod.
"""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ci.tools.image import default_tag
from devkit.broker import Broker
from devkit.cluster import Cluster, given_cluster, running_cluster
from devkit.cluster_release import Helm
from devkit.container import built_image
from devkit.helm import HELMS, tool
from devkit.kubectl import Kubectl

IMAGE_VARIABLE = "RUNNER_IMAGE"
"""Names another image to test, as `registry.example.com/lsql-runner:1`; `make image` makes the default."""
SESSION_S = 300
"""Booting, and copying an image: what a test may wait for before it begins."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Gives each test time for what a cluster does, and deselects those that stop a node where it is not ours."""
    ours = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    for item in ours:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SESSION_S))
    if given_cluster() is not None:
        left_out = [item for item in ours if "own_cluster" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The cluster of this run."""
    with running_cluster() as running:
        yield running


@pytest.fixture
def own_cluster(cluster: Cluster) -> Cluster:
    """The cluster, where a test stops its node or needs its volumes: never one that other people use."""
    assert cluster.is_own
    return cluster


@pytest.fixture(scope="session")
def kubeconfig(cluster: Cluster) -> Path:
    """The file by which a client is the cluster's administrator."""
    return cluster.kubeconfig


@pytest.fixture(scope="session")
def kubectl(cluster: Cluster) -> Kubectl:
    """kubectl, in the namespace `default`."""
    return cluster.kubectl


@contextmanager
def fresh_namespace(kubectl: Kubectl) -> Iterator[Kubectl]:
    """A namespace that holds pods to the restricted level; its pods are gone afterwards, the rest soon after."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    kubectl.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    try:
        yield kubectl.within(name)
    finally:
        kubectl.run("delete", "namespace", name, "--wait=false")
        kubectl.within(name).run("delete", "pods", "--all", "--grace-period=1")


@pytest.fixture
def namespace(kubectl: Kubectl) -> Iterator[Kubectl]:
    """kubectl, in a new namespace."""
    with fresh_namespace(kubectl) as fresh:
        yield fresh


@pytest.fixture(scope="module")
def shared_namespace(kubectl: Kubectl) -> Iterator[Kubectl]:
    """kubectl, in a namespace that the tests of a module share."""
    with fresh_namespace(kubectl) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def kafka(cluster: Cluster) -> Iterator[Broker]:
    """A broker that pods reach; a test that stops one makes its own."""
    with Broker(host=cluster.host) as broker:
        yield broker


@pytest.fixture(scope="session")
def image(cluster: Cluster) -> str:
    """The name of the runner's image, known to the cluster's nodes."""
    name = os.environ.get(IMAGE_VARIABLE) or default_tag()
    if cluster.is_own:
        cluster.load(built_image(name))
    return name


HelmFactory = Callable[[Kubectl], Helm]


@pytest.fixture(params=HELMS)
def helm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HelmFactory:
    """Each Helm in turn, for a namespace."""
    home = tmp_path_factory.mktemp("helm")
    return lambda kubectl: Helm(tool(request.param), kubectl, home)


@pytest.fixture(scope="session")
def newest_helm(tmp_path_factory: pytest.TempPathFactory) -> HelmFactory:
    """The newest Helm, for tests that are not about Helm."""
    home = tmp_path_factory.mktemp("helm")
    return lambda kubectl: Helm(tool(HELMS[-1]), kubectl, home)
