"""Small pods for the tests of the cluster."""

from devkit.kubectl import Kubectl, Resource

USER = 10001


def pod(name: str, image: str, code: str, claim: str = "", as_root: bool = False) -> Resource:
    """A pod that runs a Python program; a claim is mounted at /data. Unless `as_root`, it satisfies the restricted Pod
    Security level.
    """
    container: Resource = {
        "name": "main",
        "image": image,
        "command": ["python", "-c", code],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec: Resource = {
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "securityContext": {
            "runAsUser": 0 if as_root else USER,
            "runAsNonRoot": not as_root,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    if claim:
        container["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": spec}


def claim(name: str, size: str, storage_class: str | None = None) -> Resource:
    """A claim for a volume, by default of the default storage class."""
    spec: Resource = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def await_running(kubectl: Kubectl, name: str, deadline_s: float = 60) -> Resource:
    """Wait until the pod's container runs; returns the pod."""

    def running() -> Resource | None:
        pod = kubectl.get("pod", name)
        statuses = pod["status"].get("containerStatuses", [])
        return pod if statuses and statuses[0].get("started") and "running" in statuses[0]["state"] else None

    return kubectl.wait_until(running, deadline_s, f"pod {name} runs") or {}
