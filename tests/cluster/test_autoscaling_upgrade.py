"""The number of workers when an upgrade enables or disables autoscaling.

Only an API server shows what becomes of a field that is in one manifest and not in the next: Helm 3 compares manifests,
Helm 4 lets the server decide by the owners of fields. No pod has to run for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from devkit.cluster_release import Helm
from devkit.kubectl import Kubectl
from tests.cluster.conftest import HelmFactory

NAME = "fast"
WORKERS = f"{NAME}-workers"
WITHOUT: Mapping[str, Any] = {
    "sql": "INSERT INTO fast SELECT STREAM * FROM vehicles",
    "kafka": {"bootstrapServers": "kafka:9092"},
    "replicas": 0,
    "validation": {"enabled": False},
    "persistence": {"accessModes": ["ReadWriteMany"]},
    "workers": {"replicas": 3},
}
WITH = {**WITHOUT, "autoscaling": {"enabled": True, "kind": "HorizontalPodAutoscaler"}}


def test_autoscaling_begins_with_one_worker_and_upgrades_keep_the_number_until_it_is_disabled(
    namespace: Kubectl, helm: HelmFactory
) -> None:
    release = helm(namespace)
    release.install_without_wait(NAME, WITHOUT)
    assert replicas(namespace) == 3

    upgrade(release, WITH)
    assert replicas(namespace) == 1

    four = {**WITH, "autoscaling": {**WITH["autoscaling"], "minReplicas": 4}}
    upgrade(release, four)
    namespace.wait_until(lambda: replicas(namespace) == 4, 60, "the HPA sets its minimum")
    upgrade(release, {**four, "pipeline": "fleet"})
    assert replicas(namespace) == 4

    # Helm sets the number before it removes the HPA, which could set its minimum in between.
    upgrade(release, WITH)
    # Kubernetes records no owner of the number that an HPA sets, so that Helm 4 may change it.
    upgrade(release, WITHOUT)
    assert replicas(namespace) == 3


def replicas(kubectl: Kubectl) -> int:
    return int(kubectl.get("deployment", WORKERS)["spec"]["replicas"])


def upgrade(release: Helm, values: Mapping[str, Any]) -> None:
    """Upgrade to these values, without waiting for pods."""
    release.run("upgrade", NAME, release.chart, "--values=-", stdin=json.dumps(values))
