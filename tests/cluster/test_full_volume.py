"""A full volume: the processor reports it, loses nothing, and continues when there is space again."""

import pytest

from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.kubectl import Kubectl, KubectlFailed
from devkit.release_with_traffic import ReleaseWithTraffic, counting
from tests.cluster.conftest import HelmFactory

FILLER = "/var/lib/lsql-runner/filler"
FILL = f"""
with open({FILLER!r}, "wb", buffering=0) as file:
    while file.write(bytes(4096)):
        pass
"""
EMPTY = f"import os; os.remove({FILLER!r})"


@pytest.fixture
def release(
    own_cluster: KubernetesCluster, namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory
) -> ReleaseWithTraffic:
    release = ReleaseWithTraffic(newest_helm(namespace), kafka, image)
    release.install(
        sql=counting(release.source, release.target),
        persistence={"storageClass": "tiny", "size": "32Mi"},
        resources={"limits": {"memory": "1Gi"}},
    )
    release.await_records()
    return release


def test_a_processor_continues_when_its_full_volume_has_space_again(release: ReleaseWithTraffic) -> None:
    pod = release.processor.pod()["metadata"]["name"]
    with pytest.raises(KubectlFailed, match="No space left on device"):
        release.helm.kubectl.exec(pod, "python", "-c", FILL)

    with release.traffic:
        release.helm.kubectl.wait_until(lambda: not release.processor.is_ready(), 120, "the pod is not ready")
    release.helm.kubectl.exec(pod, "python", "-c", EMPTY)

    release.processor.await_ready()
    assert release.await_records().missing == ()
