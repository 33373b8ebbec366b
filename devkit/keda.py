"""KEDA in the test cluster: its operator, metrics server and admission webhook, in pods."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ci.cluster import control_plane
from devkit.cluster import KubernetesCluster
from devkit.jars import jar_folder
from devkit.kubectl import Kubectl

NAMESPACE = "keda"
IMAGE = "localhost/keda:tests"
"""The image in ci/keda/kustomization.yaml."""
CONTAINERFILE = "FROM scratch\nCOPY . /\nUSER 65532:65532\n"
DEPLOYMENTS = ("keda-operator", "keda-metrics-apiserver", "keda-admission")
APISERVICE = "v1beta1.external.metrics.k8s.io"
READY_S = 180


@contextmanager
def installed_keda(cluster: KubernetesCluster) -> Iterator[Kubectl]:
    """Yield kubectl for the namespace of KEDA when KEDA serves external metrics and checks ScaledObjects.

    Afterwards all ScaledObjects are deleted, and then KEDA: without it they would stay, because of their finalizers.
    """
    folder = jar_folder(NAMESPACE)
    load_image(cluster, folder / "bin")
    kubectl = cluster.kubectl.within(NAMESPACE)
    try:
        # By the server, because the definition of ScaledJob is too long for the annotation of kubectl.
        control_plane.kubectl("apply", "--server-side", f"--kustomize={folder}")
        kubectl.wait_until(lambda: all(is_available(kubectl, name) for name in DEPLOYMENTS), READY_S, "pods are ready")
        kubectl.wait_until(lambda: serves(kubectl), READY_S, "KEDA serves external metrics and checks ScaledObjects")
        yield kubectl
    finally:
        kubectl.run("delete", "scaledobjects", "--all", "--all-namespaces")
        control_plane.kubectl("delete", f"--kustomize={folder}", "--ignore-not-found")


def load_image(cluster: KubernetesCluster, programs: Path) -> None:
    """Build the image of the programs, and load it into the cluster."""
    with tempfile.TemporaryDirectory() as scratch:
        containerfile = Path(scratch, "Containerfile")
        containerfile.write_text(CONTAINERFILE)
        build = ["podman", "build", "--quiet", "--isolation=chroot", "--layers", f"--file={containerfile}"]
        subprocess.run([*build, f"--tag={IMAGE}", programs], check=True, capture_output=True)
    cluster.load(IMAGE)


def is_available(kubectl: Kubectl, deployment: str) -> bool:
    """Whether the pod of a Deployment is ready."""
    return bool(kubectl.get("deployment", deployment)["status"].get("availableReplicas"))


def serves(kubectl: Kubectl) -> bool:
    """Whether the API server reaches the metrics server, and knows the certificate of the webhook."""
    conditions = kubectl.get("apiservice", APISERVICE).get("status", {}).get("conditions", [])
    hooks = kubectl.get("validatingwebhookconfiguration", "keda-admission")["webhooks"]
    return all("caBundle" in hook["clientConfig"] for hook in hooks) and any(
        condition["type"] == "Available" and condition["status"] == "True" for condition in conditions
    )
