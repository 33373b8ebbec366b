"""A real API server accepts the objects of the chart, and its pods satisfy the restricted Pod Security level."""

import json
from pathlib import Path

import pytest

from devkit.cluster import KubernetesCluster
from devkit.cluster_pods import pod
from devkit.helm import HELMS, ROOT, Object, only_object, pod_specs, render, render_file, values_files
from devkit.kubectl import Kubectl, KubectlFailed
from devkit.release_with_traffic import merged
from tests.cluster.test_autoscaling_upgrade import WITH
from tests.thorough import inputs

DEFINED_ELSEWHERE = ("monitoring.coreos.com", "gateway.networking.k8s.io", "keda.sh")
"""Groups of the Prometheus operator, of the Gateway API and of KEDA, whose kinds not every cluster defines."""


@pytest.fixture(scope="module")
def undefined(kubectl: Kubectl) -> tuple[str, ...]:
    """The groups that the server does not define."""
    served = {group["name"] for group in json.loads(kubectl.run("get", "--raw", "/apis"))["groups"]}
    return tuple(group for group in DEFINED_ELSEWHERE if group not in served)


def test_the_test_cluster_defines_every_kind_of_the_chart(
    own_cluster: KubernetesCluster, undefined: tuple[str, ...]
) -> None:
    assert own_cluster.is_own
    assert undefined == ()


def test_the_restricted_level_refuses_a_pod_that_runs_as_root(shared_namespace: Kubectl, image: str) -> None:
    with pytest.raises(KubectlFailed, match="violates PodSecurity"):
        shared_namespace.create(pod("root", image, "", as_root=True))


def portable(manifest: Object) -> Object:
    """An object without its namespace and without a pod's priority class, which the test cluster does not have."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
    kept = {**manifest, "metadata": metadata}
    if manifest["kind"] == "Pod":
        kept["spec"] = {key: value for key, value in manifest["spec"].items() if key != "priorityClassName"}
    return kept


@pytest.mark.parametrize("file", values_files(), ids=lambda file: str(file.relative_to(ROOT)))
@pytest.mark.parametrize("helm", inputs(HELMS, HELMS[-1].__eq__))  # tests/chart compares what both render
def test_objects_are_accepted_and_pods_are_restricted(
    shared_namespace: Kubectl, undefined: tuple[str, ...], helm: str, file: Path
) -> None:
    objects = render_file(file, helm)
    accounts = [manifest for manifest in objects if manifest["kind"] == "ServiceAccount"]
    others = [
        portable(manifest)
        for manifest in objects
        if not manifest["apiVersion"].startswith(undefined) and manifest not in accounts
    ]
    pods = [
        portable({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec})
        for number, (_, spec) in enumerate(pod_specs(objects))
    ]

    # Created, not only validated: a pod is refused if its service account is missing.
    if accounts:
        shared_namespace.apply(*map(portable, accounts))
    # Pods are also created alone, because the level only warns about pods of a workload.
    shared_namespace.create(*others, *pods, dry_run=True)

    assert len(pods) >= 2


@pytest.mark.parametrize("trigger", ["metrics-api", "prometheus"])
def test_the_definition_of_keda_accepts_a_scaled_object(
    own_cluster: KubernetesCluster, shared_namespace: Kubectl, trigger: str
) -> None:
    assert own_cluster.is_own
    scaled_object = {"trigger": trigger, "prometheusAddress": "http://prometheus:9090"}
    values = {
        "networkPolicy": {"enabled": False},
        "autoscaling": {"kind": "ScaledObject", "scaledObject": scaled_object},
    }
    objects = render(merged(WITH, values))

    shared_namespace.create(portable(only_object(objects, "ScaledObject")), dry_run=True)
