"""A volume that is full: the processor says so, loses nothing, and goes on by itself when there is room again."""

import pytest

from devkit.broker import Broker
from devkit.cluster import Cluster
from devkit.cluster_feed import Fed, counting
from devkit.kubectl import Kubectl, KubectlFailed
from tests.cluster.conftest import HelmFactory

FILLER = "/var/lib/lsql-runner/filler"
FILL = f"""
with open({FILLER!r}, "wb", buffering=0) as file:
    while file.write(bytes(4096)):
        pass
"""
EMPTY = f"import os; os.remove({FILLER!r})"


@pytest.fixture
def fed(own_cluster: Cluster, namespace: Kubectl, kafka: Broker, image: str, newest_helm: HelmFactory) -> Fed:
    made = Fed(newest_helm(namespace), kafka, image)
    made.install(
        sql=counting(made.source, made.target),
        persistence={"storageClass": "tiny", "size": "32Mi"},
        resources={"limits": {"memory": "1Gi"}},
    )
    made.arrive()
    return made


def test_it_goes_on_when_a_full_volume_has_room_again(fed: Fed) -> None:
    pod = fed.processor.pod()["metadata"]["name"]
    with pytest.raises(KubectlFailed, match="No space left on device"):
        fed.helm.kubectl.exec(pod, "python", "-c", FILL)

    with fed.traffic:
        fed.helm.kubectl.wait_until(lambda: not fed.processor.is_ready(), 120, "it says that it is not ready")
    fed.helm.kubectl.exec(pod, "python", "-c", EMPTY)

    fed.processor.await_ready()
    assert fed.arrive().missing == ()
