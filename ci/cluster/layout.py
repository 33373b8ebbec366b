"""The folders and addresses of the cluster."""

import os
from dataclasses import dataclass
from pathlib import Path

from ci.tools.cache import CACHE, ROOT, VENV

NODE = "node1"
NODE_IP = "10.97.0.1"
"""An alias on the loopback device, equal on every machine and independent of its network."""
POD_RANGE = "10.244.0.0/16"
NODE_POD_RANGE = "10.244.0.0/24"
SERVICE_RANGE = "10.96.0.0/16"
API_SERVICE_IP = "10.96.0.1"
DNS_SERVICE_IP = "10.96.0.10"
CNI_NETWORK = "lsql-pods"
PAUSE_IMAGE = "localhost/pause:1"

TOOLS = VENV / "share/lsql-runner/cluster-tools/bin"
CRDS = VENV / "share/lsql-runner/cluster-tools/crds"
"""CustomResourceDefinitions (CRDs) of operators, for the validation of charts' objects. No operator runs."""
HOME = CACHE / "cluster"
LOCK = "cluster"
"""A lock in the cache folder: one cluster at a time on a machine, because addresses, routes and rules are global."""
IMAGES = HOME / "images"
"""The images of containerd, kept between runs."""
RUN = HOME / "run"
"""The data of one run: keys, state, logs, volumes; removed by the next `up`."""

KUBECONFIG = RUN / "admin.kubeconfig"
PKI = RUN / "pki"
LOGS = RUN / "log"
VOLUMES = RUN / "volumes"
CNI = RUN / "cni"
PATH = f"{TOOLS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def containerd_socket() -> Path:
    """The socket of containerd."""
    return RUN / "containerd.sock"


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
