"""The node: containerd with a routed pod network, kubelet, and kube-proxy; and faults to inject: stop, reboot, kill."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

from ci.cluster.control_plane import kubectl
from ci.cluster.layout import (
    CNI,
    CNI_NETWORK,
    DNS_SERVICE_IP,
    IMAGES,
    LOGS,
    NODE,
    NODE_IP,
    NODE_POD_RANGE,
    PAUSE_IMAGE,
    PKI,
    POD_RANGE,
    RUN,
    containerd_socket,
)
from ci.cluster.processes import Executable, command, succeeds
from ci.tools.child_processes import children_of

CONTAINERD = Executable("containerd")
KUBELET = Executable("kubelet")
KUBE_PROXY = Executable("kube-proxy")
READY_S = 60


def configure() -> None:
    """Write the configuration of the node's programs."""
    CNI.mkdir(parents=True)
    CNI.joinpath("10-pods.conflist").write_text(json.dumps(_network()))
    RUN.joinpath("containerd.toml").write_text(_containerd())
    RUN.joinpath("kubelet.json").write_text(json.dumps(_kubelet()))


def start_containerd() -> None:
    """Start containerd; returns when it responds."""
    CONTAINERD.start(["containerd", "--config", RUN / "containerd.toml"])
    CONTAINERD.wait_until(lambda: succeeds(["ctr", "-a", containerd_socket(), "version"]), 30, "containerd answers")


def start_kubelet() -> None:
    """Start kubelet; `await_node` waits until it accepts pods."""
    KUBELET.start(
        [
            "kubelet",
            f"--config={RUN / 'kubelet.json'}",
            f"--kubeconfig={RUN / 'kubelet.kubeconfig'}",
            f"--root-dir={RUN / 'kubelet'}",
            f"--hostname-override={NODE}",
            f"--node-ip={NODE_IP}",
        ]
    )


def start_proxy() -> None:
    """Start kube-proxy, which forwards the addresses of Services to pods."""
    KUBE_PROXY.start(
        [
            "kube-proxy",
            f"--kubeconfig={RUN / 'proxy.kubeconfig'}",
            f"--hostname-override={NODE}",
            f"--cluster-cidr={POD_RANGE}",
            "--proxy-mode=iptables",
            "--conntrack-max-per-core=0",  # a kernel setting that some machines do not allow it to write
        ]
    )


def await_node() -> None:
    """Wait until the node accepts pods."""
    KUBELET.wait_until(_is_ready, READY_S, "the node is ready")


def _is_ready() -> bool:
    condition = "{.status.conditions[?(@.type=='Ready')].status}"
    return kubectl("get", "node", NODE, "--ignore-not-found", "-o", f"jsonpath={condition}") == "True"


def stop_node() -> None:
    """Stop kubelet and containerd. Containers keep running, as on a real node."""
    KUBELET.stop()
    CONTAINERD.stop()


def start_node() -> None:
    """Start containerd and kubelet again; returns when the node accepts pods."""
    start_containerd()
    start_kubelet()
    await_node()


def reboot_node() -> None:
    """Do to pods what a reboot of the machine does: all processes end, disks are unchanged."""
    stop_node()
    kill_containers()
    start_node()


def kill_containers() -> None:
    """Kill every container with its shim."""
    for shim in shims():
        for pid in [*children_of(shim), shim]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def kill_container(container_id: str) -> None:
    """Kill the first process of a container, as the kernel does when memory runs out."""
    command(["ctr", "-a", containerd_socket(), "-n", "k8s.io", "tasks", "kill", "--signal", "SIGKILL", container_id])


def signal_container(container_id: str, number: signal.Signals) -> None:
    """Send a signal to all processes of a container, also SIGSTOP, which the first one ignores from inside."""
    listed = command(["ctr", "-a", containerd_socket(), "-n", "k8s.io", "tasks", "ps", container_id])
    for line in listed.splitlines()[1:]:
        with suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), number)


def shims() -> list[int]:
    """The process ids of this cluster's containerd shims, one per pod."""
    mark = f"-address\0{containerd_socket()}\0".encode()
    return [pid for pid, line in _command_lines() if b"containerd-shim" in line and mark in line]


def _command_lines() -> list[tuple[int, bytes]]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                found.append((int(folder.name), folder.joinpath("cmdline").read_bytes()))
    return found


def _network() -> dict[str, object]:
    # ptp: the host routes every packet. With a bridge, pod to Service to pod hangs on a kernel module.
    addresses = {
        "type": "host-local",
        "subnet": NODE_POD_RANGE,
        "dataDir": str(RUN / "ipam"),
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "0.4.0",
        "name": CNI_NETWORK,
        "plugins": [
            {"type": "ptp", "ipMasq": True, "ipam": addresses},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def _containerd() -> str:
    # A container may not lower oom scores; network namespaces are below RUN, so that `down` finds their mounts.
    return f"""version = 2
root = "{IMAGES}"
state = "{RUN / "containerd"}"
[grpc]
  address = "{containerd_socket()}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{CNI}"
"""


def _kubelet() -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(PKI / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "address": NODE_IP,
        "tlsCertFile": str(PKI / "kubelet.crt"),
        "tlsPrivateKeyFile": str(PKI / "kubelet.key"),
        "containerRuntimeEndpoint": f"unix://{containerd_socket()}",
        "clusterDNS": [DNS_SERVICE_IP],
        "clusterDomain": "cluster.local",
        "podLogsDir": str(LOGS / "pods"),
        # For machines without systemd, with swap, with cgroups v1, or in a container.
        "cgroupDriver": "cgroupfs",
        "failSwapOn": False,
        "failCgroupV1": False,
        "featureGates": {"KubeletInUserNamespace": True, "KubeletCrashLoopBackOffMax": True},
        # A test that kills a container repeatedly does not wait longer each time.
        "crashLoopBackOff": {"maxContainerRestartPeriod": "1s"},
        # Images cannot be pulled again, so none is deleted.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "syncFrequency": "10s",
    }
