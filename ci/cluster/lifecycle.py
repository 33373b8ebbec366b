"""Starts and stops the cluster."""

import shutil
import time
from pathlib import Path

from ci.cluster import addons, control_plane, images, machine, node
from ci.cluster.certificates import make_keys
from ci.cluster.layout import RUN, TOOLS, Ports, containerd_socket
from ci.cluster.prerequisites import faults
from ci.cluster.processes import ClusterFailed, command, succeeds
from ci.tools.ports import free_port

# In the order in which they end: first those that could start a pod again.
PROGRAMS = (
    node.KUBELET,
    addons.VOLUMES,
    node.KUBE_PROXY,
    control_plane.CONTROLLERS,
    control_plane.SCHEDULER,
    addons.COREDNS,
    control_plane.API_SERVER,
    control_plane.ETCD,
)
REMOVE_S = 10


class CannotRun(Exception):
    """This machine cannot run the cluster. The message lists the reasons, each with a way out."""


def check_machine() -> None:
    """Raise CannotRun if this machine does not meet a requirement, or the programs are not built."""
    found = faults()
    if not TOOLS.is_dir():
        found.append("the cluster's programs are not built. Run: .venv/bin/python -m ci.tools.cluster_tools")
    if found:
        raise CannotRun("\n  - ".join(["this machine cannot run the test cluster:", *found]))


def is_up() -> bool:
    """Whether all processes run and the API responds."""
    return all(program.pid for program in (*PROGRAMS, node.CONTAINERD)) and control_plane.api_is_ready()


def up() -> bool:
    """Boot a new cluster; returns when it accepts pods, or False if one already runs."""
    check_machine()
    if is_up():
        return False
    down()
    shutil.rmtree(RUN, ignore_errors=True)
    RUN.mkdir(parents=True)
    ports = Ports(api=free_port(), etcd=free_port(), etcd_peer=free_port())
    make_keys(ports.api_url)
    machine.add_address()
    machine.reject_other_services()
    control_plane.start_api(ports)
    node.configure()
    node.start_containerd()
    images.load_pause()
    control_plane.await_api()
    control_plane.start_controllers()
    node.start_kubelet()
    node.start_proxy()
    addons.start_addons()
    node.await_node()
    _await_service_account()
    addons.await_dns()
    return True


def down() -> None:
    """Stop all processes at once, because only images are kept, and clean up. Logs remain."""
    for program in PROGRAMS:
        program.kill()
    if node.CONTAINERD.pid:
        _remove_containers()
    node.kill_containers()
    node.CONTAINERD.kill()
    machine.clean_up()


def status() -> dict[str, int | None]:
    """The process id of each program; None if it does not run."""
    return {program.name: program.pid for program in (node.CONTAINERD, *reversed(PROGRAMS))}


def _await_service_account() -> None:
    """Wait for the default service account, without which no pod is admitted."""

    def exists() -> bool:
        return bool(control_plane.kubectl("-n", "default", "get", "sa", "default", "--ignore-not-found", "-o", "name"))

    control_plane.CONTROLLERS.wait_until(exists, 30, "the default service account exists")


def _remove_containers() -> None:
    """Remove all containers. containerd stores them with the images, so the next run would find them."""
    ctr: list[str | Path] = ["ctr", "-a", containerd_socket(), "-n", "k8s.io"]
    node.kill_containers()
    deadline = time.monotonic() + REMOVE_S
    while found := command([*ctr, "containers", "ls", "-q"]).split():
        succeeds([*ctr, "tasks", "rm", "--force", *found])
        succeeds([*ctr, "containers", "rm", *found])
        if time.monotonic() > deadline:
            raise ClusterFailed(f"containerd did not remove the containers {found}")
