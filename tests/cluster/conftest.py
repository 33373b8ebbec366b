"""Fixtures of the tests on a real Kubernetes: the cluster, a namespace, a broker that pods can reach, Helm, the image.

Without KUBECONFIG a cluster is booted on this machine and removed afterwards. Under `make test-cluster` three processes
share the cluster, each with its own namespaces. Tests of one module or class share fixtures, and stay in one process.
"""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ci.tools.image import default_tag
from devkit.broker import Broker
from devkit.cluster import KubernetesCluster, given_cluster, running_cluster
from devkit.cluster_release import Helm
from devkit.container import built_image
from devkit.helm import HELMS, tool
from devkit.keda import installed_keda
from devkit.kubectl import Kubectl

IMAGE_VARIABLE = "RUNNER_IMAGE"
"""Names another image to test, such as `registry.example.com/lsql-runner:1`; `make image` builds the default."""
SESSION_S = 300
"""Time for a test to wait until the cluster is booted and the image is loaded."""
LONGEST = (
    "test_release.py",
    "test_standby.py",
    "test_failures.py",
    "test_workers.py",
    "test_chart_testing.py",
)
"""The modules that take more than a minute. They begin first, so that no process ends with one of them alone."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the tests, and give each enough time. With KUBECONFIG, deselect the tests that stop a node."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    ours = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    for item in ours:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SESSION_S))
    if given_cluster() is not None:
        left_out = [item for item in ours if "own_cluster" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def cluster() -> Iterator[KubernetesCluster]:
    """The cluster of this run."""
    with running_cluster() as running:
        yield running


@pytest.fixture
def own_cluster(cluster: KubernetesCluster) -> KubernetesCluster:
    """The cluster that was booted on this machine, for tests that stop its node or need its volumes."""
    assert cluster.is_own
    return cluster


@pytest.fixture(scope="session")
def keda(cluster: KubernetesCluster) -> Iterator[Kubectl]:
    """KEDA in the cluster, for tests marked `keda`; kubectl, in its namespace."""
    with installed_keda(cluster) as kubectl:
        yield kubectl


@pytest.fixture(scope="session")
def kubeconfig(cluster: KubernetesCluster) -> Path:
    """The kubeconfig file of the cluster's administrator."""
    return cluster.kubeconfig


@pytest.fixture(scope="session")
def kubectl(cluster: KubernetesCluster) -> Kubectl:
    """kubectl, in the namespace `default`."""
    return cluster.kubectl


@contextmanager
def fresh_namespace(kubectl: Kubectl) -> Iterator[Kubectl]:
    """A namespace with the restricted Pod Security level. Afterwards its pods are deleted at once, the rest in the
    background.
    """
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
def kafka(cluster: KubernetesCluster) -> Iterator[Broker]:
    """A broker that pods can reach. A test that stops its broker starts another one."""
    with Broker(host=cluster.host) as broker:
        yield broker


@pytest.fixture(scope="session")
def image(cluster: KubernetesCluster) -> str:
    """The name of the runner's image, loaded into the nodes of the cluster."""
    name = os.environ.get(IMAGE_VARIABLE) or default_tag()
    if cluster.is_own:
        cluster.load(built_image(name))
    return name


HelmFactory = Callable[[Kubectl], Helm]


@pytest.fixture(params=HELMS)
def helm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HelmFactory:
    """Each version of Helm, for a namespace."""
    home = tmp_path_factory.mktemp("helm")
    return lambda kubectl: Helm(tool(request.param), kubectl, home)


@pytest.fixture(scope="session")
def newest_helm(tmp_path_factory: pytest.TempPathFactory) -> HelmFactory:
    """The newest Helm, for tests that are not about Helm."""
    home = tmp_path_factory.mktemp("helm")
    return lambda kubectl: Helm(tool(HELMS[-1]), kubectl, home)
