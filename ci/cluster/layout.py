"""The folders and addresses of the cluster and of its nodes."""

import os
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from ci.tools.cache import CACHE, ROOT, VENV

POD_RANGE = "10.244.0.0/16"
SERVICE_RANGE = "10.96.0.0/16"
API_SERVICE_IP = "10.96.0.1"
DNS_SERVICE_IP = "10.96.0.10"
CNI_NETWORK = "lsql-pods"
"""The beginning of the names of the pod networks, and of the comments of iptables rules."""
PAUSE_IMAGE = "localhost/pause:1"

TOOLS = VENV / "share/lsql-runner/cluster-tools/bin"
CRDS = VENV / "share/lsql-runner/cluster-tools/crds"
"""CustomResourceDefinitions (CRDs) of operators, for the validation of charts' objects. No operator runs."""
HOME = CACHE / "cluster"
LOCK = "cluster"
"""A lock in the cache folder: one cluster at a time on a machine, because addresses, routes and rules are global."""
RUN = HOME / "run"
"""The data of one run: keys, state, logs, volumes; removed by the next `up`."""

KUBECONFIG = RUN / "admin.kubeconfig"
PKI = RUN / "pki"
LOGS = RUN / "log"
VOLUMES = RUN / "volumes"
PATH = f"{TOOLS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Node:
    """A node of the cluster: its addresses and folders. All nodes run on this machine."""

    name: str
    number: int
    cgroup_root: str
    """The cgroup below which kubelet creates the cgroups of pods.

    Two nodes cannot share it: a kubelet ends processes there that it does not know.
    """
    kept: Path
    """The folder that is kept between runs."""

    @property
    def ip(self) -> str:
        """An alias on the loopback device, equal on every machine and independent of its network."""
        return f"10.97.0.{self.number}"

    @property
    def pod_addresses(self) -> IPv4Network:
        """The addresses of its pods, a part of POD_RANGE."""
        return IPv4Network(f"10.244.{self.number - 1}.0/24")

    @property
    def network(self) -> str:
        """The name of its pod network."""
        return f"{CNI_NETWORK}-{self.name}"

    @property
    def images(self) -> Path:
        """The images of containerd."""
        return self.kept / "images"

    @property
    def loaded(self) -> Path:
        """A file with the podman id of each copied image, to copy an image only if it has changed."""
        return self.kept / "loaded.json"

    @property
    def folder(self) -> Path:
        """The data of one run."""
        return RUN / self.name

    @property
    def socket(self) -> Path:
        """The socket of containerd."""
        return self.folder / "containerd.sock"


NODE1 = Node("node1", 1, cgroup_root="/", kept=HOME)
NODE2 = Node("node2", 2, cgroup_root="/lsql-node2", kept=HOME / "node2")
"""A second node, which runs only between `add_node` and `remove_node`."""
NODES = (NODE1, NODE2)


@dataclass(frozen=True)
class Ports:
    """The ports of the host that a run chooses; kubelet and others have fixed ports."""

    api: int
    etcd: int
    etcd_peer: int

    @property
    def api_url(self) -> str:
        """The URL of the API server from the host."""
        return f"https://127.0.0.1:{self.api}"


def environment() -> dict[str, str]:
    """The environment of every program of the cluster, without proxies and variables of the shell."""
    return {
        "PATH": PATH,
        "HOME": str(Path.home()),
        "XDG_CACHE_HOME": str(CACHE.parent),
        "KUBECONFIG": str(KUBECONFIG),
        "PYTHONPATH": str(ROOT),
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
    }
