"""Checks the requirements of the cluster on this machine."""

import os
import platform
import shutil
from pathlib import Path

from ci.cluster.layout import NODES
from ci.tools.go import go_fault

GO = (1, 26)
PACKAGES = {
    "etcd": "etcd-server",
    "containerd": "containerd",
    "runc": "runc",
    "/usr/lib/cni/ptp": "containernetworking-plugins",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "ip": "iproute2",
    "openssl": "openssl",
    "mkfs.ext4": "e2fsprogs",
    "podman": "podman",
    "mmdebstrap": "mmdebstrap",
    "gcc": "gcc",
    "/usr/include/string.h": "libc6-dev",
}
"""The Debian package of each program (or file) that the cluster, or the build of its image, uses."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LONGEST_SOCKET_PATH = 90
"""The kernel allows 107 bytes, and containerd appends to this path."""


def missing_packages() -> list[str]:
    """The Debian packages whose programs are missing."""
    path = f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"
    return sorted({package for program, package in PACKAGES.items() if not shutil.which(program, os.F_OK, path)})


def faults(ignore_packages: bool = False) -> list[str]:
    """The problems that prevent the cluster on this machine, each with a way out.

    `ignore_packages` omits missing packages.
    """
    checks = [_system, _root, _cgroups, _file_systems, _go, _socket_path]
    messages = [fault for check in checks if (fault := check())]
    if not ignore_packages and (missing := missing_packages()):
        messages.append(f"Debian packages are missing. Install: apt-get install {' '.join(missing)}")
    return messages


def _system() -> str | None:
    system = f"{platform.system()} {platform.machine()}"
    if system == "Linux x86_64":
        return None
    return f"it is {system}. Use a Linux x86_64, or a cluster of your own: KUBECONFIG=file"


def _root() -> str | None:
    if os.geteuid() == 0:
        return None
    return "not root: kubelet and containerd mount, route and make cgroups. Use sudo, or a cluster: KUBECONFIG=file"


def _cgroups() -> str | None:
    mounted = [line.split()[2] for line in Path("/proc/self/mounts").read_text().splitlines()]
    if "cgroup" in mounted or "cgroup2" in mounted:
        return None
    return "no cgroups are mounted under /sys/fs/cgroup. In a container: run it privileged, with its own cgroups"


def _file_systems() -> str | None:
    known = Path("/proc/filesystems").read_text().split()
    if "overlay" in known:
        return None
    return "the kernel has no overlay file system. Load it: modprobe overlay"


def _go() -> str | None:
    return go_fault(GO)


def _socket_path() -> str | None:
    path = max((str(node.socket) for node in NODES), key=len)
    if len(path) <= LONGEST_SOCKET_PATH:
        return None
    return f"{path} is too long for a unix socket. Name a cache folder with a short path: XDG_CACHE_HOME=/var/tmp/c"
