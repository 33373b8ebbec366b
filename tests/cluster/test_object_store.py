"""A release whose state is in an object store: no claim, a connector from a second image, and workers.

Only a cluster shows that the pods get the jars from the init container and the credentials from the Secret, and that a
new pod, whose volume is empty, continues. `make test-object-store` runs it, with the store and the jars that it needs.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.tools.image import base_image
from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.cluster_workers import await_workers
from devkit.jars import jar_folder
from devkit.kubectl import Kubectl
from devkit.object_store import SECRET_KEY, ObjectStore
from devkit.release_with_traffic import ReleaseWithTraffic, counting
from tests.cluster.conftest import HelmFactory

pytestmark = [pytest.mark.object_store, pytest.mark.timeout(600)]

CONNECTOR = "localhost/lsql-s3a-jars:tests"
CREDENTIALS = ("fs.s3a.access.key", "fs.s3a.secret.key")


@pytest.fixture
def connector(own_cluster: KubernetesCluster, tmp_path: Path) -> str:
    """An image with the jars of S3's connector, as the guide describes it."""
    shutil.copytree(jar_folder("s3a-jars"), tmp_path / "jars")
    (tmp_path / "Containerfile").write_text(f"FROM {base_image()}\nCOPY jars /jars\n")
    build = ["podman", "build", "--quiet", "--isolation=chroot", "--layers", f"--tag={CONNECTOR}", str(tmp_path)]
    subprocess.run(build, check=True, capture_output=True)
    own_cluster.load(CONNECTOR)
    return CONNECTOR


@pytest.fixture
def store(own_cluster: KubernetesCluster) -> Iterator[ObjectStore]:
    """A store that pods can reach."""
    with ObjectStore(own_cluster.host) as running:
        yield running


def core_site(store: ObjectStore) -> str:
    """The credentials in the form of Hadoop."""
    options = store.options()
    properties = (f"<property><name>{name}</name><value>{options[name]}</value></property>" for name in CREDENTIALS)
    return f"<configuration>{''.join(properties)}</configuration>"


def test_a_release_with_workers_keeps_its_state_in_a_store_when_its_pod_is_lost(
    namespace: Kubectl, newest_helm: HelmFactory, kafka: Broker, image: str, connector: str, store: ObjectStore
) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "store"}}
    namespace.create({**secret, "stringData": {"core-site.xml": core_site(store)}})
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
    release.install(
        sql=counting(release.source, release.target),
        persistence={"enabled": False},
        state={
            "uri": f"{store.uri}/fleet",
            "options": {name: value for name, value in store.options().items() if name not in CREDENTIALS},
            "existingSecret": "store",
            "connector": {"image": connector},
        },
        workers={"replicas": 2, "resources": {"requests": {"memory": "832Mi"}, "limits": {"memory": "832Mi"}}},
    )
    await_workers(release, 2)
    assert release.await_records().duplicates == 0
    assert namespace.list("persistentvolumeclaims") == []

    uid = release.processor.uid()
    with release.traffic:
        namespace.delete("pod", release.processor.pod()["metadata"]["name"], "--grace-period=0", "--force")
        release.processor.await_other_pod(uid)
        await_workers(release, 2)
    report = release.await_records()

    stream = release.processor.stream()
    assert (report.missing, report.duplicates) == ((), 0)
    assert (stream["state"], stream["generation"], stream["deliveryGuarantee"]) == ("running", 1, "exactly_once")
    assert release.processor.restarts() == 0
    logs = namespace.logs(release.processor.pod()["metadata"]["name"])
    assert SECRET_KEY not in logs
    assert "Traceback" not in logs
