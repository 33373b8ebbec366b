"""The images of a node: pause, which is built here, and images that are copied from podman."""

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

from ci.cluster.layout import NODE1, PAUSE_IMAGE, TOOLS, Node, environment
from ci.cluster.processes import ClusterFailed, command

ATTEMPTS = 3
"""containerd 1.6 may collect a layer of an older version of an image while it unpacks the new version, which shares it.
"""


def load(name: str, node: Node = NODE1) -> bool:
    """Copy an image from podman into a node, with the same name; returns whether it was copied.

    The name must be complete and its tag not `latest`, for which the kubelet would contact a registry.
    """
    image = subprocess.run(
        ["podman", "image", "inspect", "--format", "{{.Id}}", name], capture_output=True, check=False
    )
    if image.returncode:
        raise ClusterFailed(f"podman has no image {name}: {image.stderr.decode().strip()}")
    image_id = image.stdout.decode().strip()
    loaded: dict[str, str] = json.loads(node.loaded.read_text()) if node.loaded.exists() else {}
    if loaded.get(name) == image_id and name in names(node):
        return False
    for attempt in range(1, ATTEMPTS + 1):
        fault = _copy(name, node)
        if fault is None:
            break
        if attempt == ATTEMPTS:
            raise ClusterFailed(f"{name} was not copied: {fault}")
    node.loaded.write_text(json.dumps(loaded | {name: image_id}, indent=1))
    return True


def _copy(name: str, node: Node) -> str | None:
    """Copy an image. Returns the error, if any."""
    saving = ["podman", "save", "--quiet", "--format=docker-archive", name]
    with subprocess.Popen(saving, stdout=subprocess.PIPE) as save:
        result = subprocess.run(
            _importing(node), stdin=save.stdout, capture_output=True, check=False, env=environment()
        )
    failed = save.returncode or result.returncode
    return result.stderr.decode(errors="replace").strip() if failed else None


def tag(name: str, new: str, node: Node = NODE1) -> None:
    """Add a name to an image of a node."""
    command([*ctr(node), "images", "tag", "--force", name, new])


def load_pause(node: Node) -> None:
    """Give a node the image whose container holds a pod's namespaces."""
    if PAUSE_IMAGE not in names(node):
        command(_importing(node), pause_archive())


def names(node: Node) -> list[str]:
    """The names of all images of a node."""
    return command([*ctr(node), "images", "ls", "-q"]).split()


def pause_archive() -> bytes:
    """The pause image in the format of `docker save`: one layer with one program."""
    layer = _tar({"pause": (TOOLS / "pause").read_bytes()}, mode=0o755)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": ["/pause"], "User": "65535:65535"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [PAUSE_IMAGE], "Layers": ["layer.tar"]}]
    return _tar(
        {
            "layer.tar": layer,
            "config.json": json.dumps(config).encode(),
            "manifest.json": json.dumps(manifest).encode(),
        }
    )


def _tar(files: dict[str, bytes], mode: int = 0o644) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def ctr(node: Node) -> list[str | Path]:
    """The command of containerd's client for a node, without its arguments."""
    return ["ctr", "-a", node.socket, "-n", "k8s.io"]


def _importing(node: Node) -> list[str | Path]:
    return [*ctr(node), "images", "import", "-"]
