"""A node: containerd with a routed pod network, and kubelet; and kube-proxy, which all nodes share.

`node_faults` stops and kills what this module starts.
"""

import json
from pathlib import Path

from ci.cluster.control_plane import kubectl
from ci.cluster.layout import DNS_SERVICE_IP, LOGS, NODE1, PAUSE_IMAGE, PKI, POD_RANGE, RUN, Node
from ci.cluster.processes import Executable, succeeds

KUBE_PROXY = Executable("kube-proxy")
READY_S = 60


def containerd(node: Node) -> Executable:
    """The program that runs the containers of a node."""
    return Executable(f"containerd-{node.name}")


def kubelet(node: Node) -> Executable:
    """The program that runs the pods of a node."""
    return Executable(f"kubelet-{node.name}")


def configure(node: Node) -> None:
    """Write the configuration of a node's programs."""
    _network_folder(node).mkdir(parents=True)
    _network_folder(node).joinpath("10-pods.conflist").write_text(json.dumps(pod_network(node)))
    node.kept.mkdir(parents=True, exist_ok=True)
    _containerd_file(node).write_text(_containerd(node))
    _kubelet_file(node).write_text(json.dumps(_kubelet(node)))


def start_containerd(node: Node) -> None:
    """Start containerd; returns when it responds."""
    program = containerd(node)
    program.start(["containerd", "--config", _containerd_file(node)])
    program.wait_until(lambda: succeeds(["ctr", "-a", node.socket, "version"]), 30, "containerd answers")


def start_kubelet(node: Node) -> None:
    """Start kubelet; `await_node` waits until it accepts pods."""
    kubelet(node).start(
        [
            "kubelet",
            f"--config={_kubelet_file(node)}",
            f"--kubeconfig={RUN}/kubelet-{node.name}.kubeconfig",
            f"--root-dir={node.folder / 'kubelet'}",
            f"--hostname-override={node.name}",
            f"--node-ip={node.ip}",
        ]
    )


def start_proxy() -> None:
    """Start kube-proxy, which forwards the addresses of Services to pods on all nodes: they share its iptables."""
    KUBE_PROXY.start(
        [
            "kube-proxy",
            f"--kubeconfig={RUN / 'proxy.kubeconfig'}",
            f"--hostname-override={NODE1.name}",
            f"--cluster-cidr={POD_RANGE}",
            "--proxy-mode=iptables",
            "--conntrack-max-per-core=0",  # a kernel setting that some machines do not allow it to write
        ]
    )


def await_node(node: Node) -> None:
    """Wait until a node accepts pods."""

    def is_ready() -> bool:
        condition = "{.status.conditions[?(@.type=='Ready')].status}"
        return kubectl("get", "node", node.name, "--ignore-not-found", "-o", f"jsonpath={condition}") == "True"

    kubelet(node).wait_until(is_ready, READY_S, f"{node.name} is ready")


def _network_folder(node: Node) -> Path:
    return node.folder / "cni"


def _containerd_file(node: Node) -> Path:
    return node.folder / "containerd.toml"


def _kubelet_file(node: Node) -> Path:
    return node.folder / "kubelet.json"


def pod_network(node: Node) -> dict[str, object]:
    # ptp: the host routes every packet. With a bridge, pod to Service to pod hangs on a kernel module.
    # The subnet has the pods of all nodes, because packets to other subnets get the host's address.
    addresses = {
        "type": "host-local",
        "subnet": POD_RANGE,
        "rangeStart": str(node.pod_addresses[2]),
        "rangeEnd": str(node.pod_addresses[-2]),
        "dataDir": str(node.folder / "ipam"),
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "0.4.0",
        "name": node.network,
        "plugins": [
            {"type": "ptp", "ipMasq": True, "ipam": addresses},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def _containerd(node: Node) -> str:
    # A container may not lower oom scores; network namespaces are below the folder, so that `down` finds their mounts.
    return f"""version = 2
root = "{node.images}"
state = "{node.folder / "containerd"}"
[grpc]
  address = "{node.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{_network_folder(node)}"
"""


def _kubelet(node: Node) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(PKI / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "address": node.ip,
        "healthzBindAddress": node.ip,
        "tlsCertFile": str(PKI / f"kubelet-{node.name}.crt"),
        "tlsPrivateKeyFile": str(PKI / f"kubelet-{node.name}.key"),
        "containerRuntimeEndpoint": f"unix://{node.socket}",
        "clusterDNS": [DNS_SERVICE_IP],
        "clusterDomain": "cluster.local",
        # A kubelet deletes the logs of pods that it does not know.
        "podLogsDir": str(LOGS / f"pods-{node.name}"),
        # For machines without systemd, with swap, with cgroups v1, or in a container.
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": node.cgroup_root,
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
