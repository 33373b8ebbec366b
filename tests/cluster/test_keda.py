"""What KEDA does with the ScaledObject of the chart, and upgrades with it.

Only KEDA itself shows what its operator, metrics server and admission webhook do with the object. No pod of a release
has to run for it. `make test-keda` builds KEDA and runs this.
"""

from __future__ import annotations

import json

import pytest

from devkit.cluster_release import Helm, HelmFailed
from devkit.helm import objects_of
from devkit.kubectl import Kubectl, KubectlFailed, Resource
from devkit.release_with_traffic import merged
from tests.cluster.conftest import HelmFactory
from tests.cluster.test_autoscaling_upgrade import NAME, WITHOUT, WORKERS, replicas, upgrade

pytestmark = [pytest.mark.keda, pytest.mark.timeout(900), pytest.mark.usefixtures("own_cluster", "keda")]

KEDA = {"autoscaling": {"enabled": True}, "networkPolicy": {"enabled": False}}
WITH = merged(WITHOUT, KEDA)


def test_upgrades_change_the_kind_in_two_steps_keep_the_number_and_remove_what_keda_has_created(
    namespace: Kubectl, helm: HelmFactory
) -> None:
    release = helm(namespace)
    release.install_without_wait(NAME, merged(WITH, {"autoscaling": {"kind": "HorizontalPodAutoscaler"}}))
    with pytest.raises(HelmFailed, match="HorizontalPodAutoscaler fast-workers scales the workers"):
        upgrade(release, WITH)
    with pytest.raises(KubectlFailed, match="already managed by the hpa 'fast-workers'"):
        namespace.create(scaled_object(release), dry_run=True)

    upgrade(release, merged(WITH, {"autoscaling": {"dryRun": True}}))
    assert replicas(namespace) == 3
    upgrade(release, merged(WITH, {"autoscaling": {"minReplicas": 4}}))
    namespace.wait_until(lambda: replicas(namespace) == 4, 60, "KEDA's HPA sets its minimum")
    upgrade(release, merged(WITH, {"pipeline": "fleet"}))
    # Without a minimum and without a number the HPA changes nothing while Helm sets the number and removes the object.
    namespace.wait_until(lambda: lowest(namespace) == 1, 60, "KEDA changes the minimum of its HPA")
    assert replicas(namespace) == 4

    upgrade(release, WITHOUT)
    namespace.wait_until(lambda: not namespace.list("hpa"), 60, "KEDA's HPA is removed")
    assert (namespace.find("scaledobject", WORKERS), replicas(namespace)) == (None, 3)


def scaled_object(release: Helm) -> Resource:
    """The ScaledObject of the chart."""
    options = ("--values=-", "--show-only=templates/workers-scaledobject.yaml")
    [manifest] = objects_of(release.run("template", NAME, release.chart, *options, stdin=json.dumps(WITH)))
    return manifest


def lowest(kubectl: Kubectl) -> int:
    return int(kubectl.get("hpa", f"keda-hpa-{WORKERS}")["spec"]["minReplicas"])
