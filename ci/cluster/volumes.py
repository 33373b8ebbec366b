"""Provides volumes for claims: a process of the host that watches the API and creates a folder for each claim.

The volumes have the type `local`, not `hostPath`, so that the kubelet applies a pod's fsGroup as for a real disk. A
volume that several pods may mount (ReadWriteMany) is on every node, because all nodes are on this machine; others are
on the first node.
"""

import http.client
import json
import re
import shutil
import ssl
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ci.cluster.layout import KUBECONFIG, NODE1, NODES, PKI, VOLUMES
from ci.cluster.processes import command

PROVISIONER = "lsql-runner/volumes"
WATCH_S = 30
"""How often all objects are listed again, which retries failed operations."""
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}

Resource = dict[str, Any]


@dataclass(frozen=True)
class StorageClass:
    """A storage class; if `is_sized`, its volumes are limited to the size of the claim."""

    name: str
    is_sized: bool
    is_default: bool = False


STORAGE_CLASSES = {
    each.name: each
    for each in (
        StorageClass("local", is_sized=False, is_default=True),
        StorageClass("tiny", is_sized=True),  # a separate file system, which can be full
    )
}


class Api:
    """Requests and watches of the API, as the administrator."""

    def __init__(self) -> None:
        cluster = json.loads(KUBECONFIG.read_text())["clusters"][0]["cluster"]
        self._address = urllib.parse.urlsplit(cluster["server"]).netloc
        self._tls = ssl.create_default_context(cafile=str(PKI / "ca.crt"))
        self._tls.load_cert_chain(PKI / "admin.crt", PKI / "admin.key")

    def request(self, method: str, path: str, body: Resource | None = None, accept: tuple[int, ...] = ()) -> None:
        """Send a request. Raises OSError if the response is neither a success nor a status in `accept`."""
        connection = self._connect()
        try:
            headers = {"Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
            if answer.status >= 300 and answer.status not in accept:
                raise OSError(f"{method} {path}: {answer.status} {text}")
        finally:
            connection.close()

    def watch(self, path: str) -> Iterator[Resource]:
        """Each existing object, then each object that is added or changed within WATCH_S."""
        connection = self._connect()
        try:
            connection.request("GET", f"{path}?watch=true&timeoutSeconds={WATCH_S}")
            answer = connection.getresponse()
            if answer.status != 200:
                raise OSError(f"GET {path}: {answer.status} {answer.read()!r}")
            for line in answer:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    yield event["object"]
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._address, context=self._tls, timeout=WATCH_S + 30)


def provide(api: Api, claim: Resource) -> None:
    """Create the volume of a pending claim, if its storage class is one of these."""
    storage_class = STORAGE_CLASSES.get(claim["spec"].get("storageClassName", ""))
    if storage_class is None or claim["status"].get("phase") != "Pending" or "deletionTimestamp" in claim["metadata"]:
        return
    name = f"pvc-{claim['metadata']['uid']}"
    folder = VOLUMES / name
    if not folder.exists():
        size = claim["spec"]["resources"]["requests"]["storage"]
        make_folder(folder, bytes_of(size) if storage_class.is_sized else None)
        _log(f"{name} for {claim['metadata']['namespace']}/{claim['metadata']['name']}")
    api.request("POST", "/api/v1/persistentvolumes", persistent_volume(name, claim, folder), accept=(409,))


def remove(api: Api, volume: Resource) -> None:
    """Remove a volume that its claim has released."""
    spec = volume["spec"]
    is_free = volume["status"].get("phase") == "Released" and spec["persistentVolumeReclaimPolicy"] == "Delete"
    if spec.get("storageClassName") not in STORAGE_CLASSES or not is_free:
        return
    name = volume["metadata"]["name"]
    api.request("DELETE", f"/api/v1/persistentvolumes/{name}", accept=(404,))
    remove_folder(VOLUMES / name)
    _log(f"{name} removed")


def persistent_volume(name: str, claim: Resource, folder: Path) -> Resource:
    """The volume of a claim, bound to it from the start."""
    is_shared = "ReadWriteMany" in claim["spec"]["accessModes"]
    nodes = [node.name for node in NODES] if is_shared else [NODE1.name]
    at_node = {"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}
    metadata = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER}},
        "spec": {
            "storageClassName": claim["spec"]["storageClassName"],
            "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
            "accessModes": claim["spec"]["accessModes"],
            "persistentVolumeReclaimPolicy": "Delete",
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
            "local": {"path": str(folder)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [at_node]}]}},
        },
    }


def make_folder(folder: Path, limit_bytes: int | None) -> None:
    """Create the folder of a volume; with a limit, it is the root of a small file system in a file."""
    if limit_bytes is None:
        folder.mkdir(parents=True)
        return
    file = folder.with_suffix(".ext4")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as image:
        image.truncate(limit_bytes)
    # No journal and no reserve for root, so that the limit is the size of the claim.
    command(["mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", "-E", "nodiscard", file])
    folder.mkdir()
    try:
        command(["mount", "-o", "loop", file, folder])
    except BaseException:
        folder.rmdir()
        raise


def remove_folder(folder: Path) -> None:
    """Remove the folder of a volume with its content."""
    if folder.is_mount():
        command(["umount", "--lazy", folder])
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(".ext4").unlink(missing_ok=True)


def bytes_of(quantity: str) -> int:
    """The number of bytes of a Kubernetes quantity: `16Mi` is 16777216."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z]*)", quantity)
    if match is None or match[2] not in UNITS:
        raise ValueError(f"{quantity!r} is no size: use a number and one of {', '.join(filter(None, UNITS))}")
    return int(float(match[1]) * UNITS[match[2]])


def serve(api: Api, path: str, handle: Callable[[Api, Resource], None]) -> None:
    """Pass every object of a kind to a function, without end; errors are logged and retried."""
    while True:
        try:
            for resource in api.watch(path):
                try:
                    handle(api, resource)
                except Exception as error:
                    _log(f"{resource['metadata']['name']}: {error!r}")
        except (OSError, http.client.HTTPException) as error:
            _log(f"{path}: {error!r}")
            time.sleep(1)


def main() -> None:
    """Serve claims and remove volumes until the process is killed."""
    api = Api()
    threading.Thread(target=serve, args=(api, "/api/v1/persistentvolumes", remove), daemon=True).start()
    serve(api, "/api/v1/persistentvolumeclaims", provide)


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
