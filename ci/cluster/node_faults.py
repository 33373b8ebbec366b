"""Faults of a node: its programs stop, it reboots, it loses power; a container is killed or suspended."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from ci.cluster import machine
from ci.cluster.images import ctr
from ci.cluster.layout import Node
from ci.cluster.node import await_node, containerd, kubelet, start_containerd, start_kubelet
from ci.cluster.processes import POLL_S, ClusterFailed, command, succeeds
from ci.tools.child_processes import children_of

END_S = 10


def stop_node(node: Node) -> None:
    """Stop kubelet and containerd. Containers keep running, as on a real node."""
    kubelet(node).stop()
    containerd(node).stop()


def start_node(node: Node) -> None:
    """Start containerd and kubelet again; returns when the node accepts pods.

    For the API server it is ready at once, if it was away for less than 50 s.
    """
    start_containerd(node)
    start_kubelet(node)
    await_node(node)


def reboot_node(node: Node) -> None:
    """Do to pods what a reboot of the machine does: all processes end, disks are unchanged."""
    stop_node(node)
    kill_containers(node)
    start_node(node)


def power_off(node: Node) -> None:
    """End all processes of a node at once, without a packet to anybody: peers do not see that connections are closed.

    `start_node` starts it again. Its disks have what was written, also what no program has synced.
    """
    machine.cut_network(node)
    kubelet(node).kill()
    containerd(node).kill()
    kill_containers(node)


def kill_containers(node: Node) -> None:
    """Kill every container with its shim; returns when they have ended."""
    deadline = time.monotonic() + END_S
    while pids := shims(node):
        for shim in pids:
            for pid in [*children_of(shim), shim]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise ClusterFailed(f"the shims {pids} of {node.name} were killed and have not ended within {END_S} s")
        time.sleep(POLL_S)


def remove_containers(node: Node) -> None:
    """Kill and remove all containers. containerd, which must run, stores them with the images: the next run would find
    them.
    """
    kill_containers(node)
    deadline = time.monotonic() + END_S
    while containers := command([*ctr(node), "containers", "ls", "-q"]).split():
        succeeds([*ctr(node), "tasks", "rm", "--force", *containers])
        succeeds([*ctr(node), "containers", "rm", *containers])
        if time.monotonic() > deadline:
            raise ClusterFailed(f"containerd did not remove the containers {containers}")


def kill_container(node: Node, container_id: str) -> None:
    """Kill the first process of a container, as the kernel does when memory runs out."""
    command([*ctr(node), "tasks", "kill", "--signal", "SIGKILL", container_id])


def signal_container(node: Node, container_id: str, number: signal.Signals) -> None:
    """Send a signal to all processes of a container, also SIGSTOP, which the first one ignores from inside."""
    for line in command([*ctr(node), "tasks", "ps", container_id]).splitlines()[1:]:
        with suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), number)


def shims(node: Node) -> list[int]:
    """The process ids of the shims of a node's containerd, one per pod. Those that have ended are left out."""
    mark = f"-address\0{node.socket}\0".encode()
    return [pid for pid, line in _command_lines() if b"containerd-shim" in line and mark in line]


def _command_lines() -> list[tuple[int, bytes]]:
    lines = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                lines.append((int(folder.name), folder.joinpath("cmdline").read_bytes()))
    return lines
