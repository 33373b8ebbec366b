"""DNS and volumes of the cluster, served by processes of the host."""

import json
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ci.cluster.control_plane import kubectl
from ci.cluster.layout import CRDS, DNS_SERVICE_IP, KUBECONFIG, NODE1, RUN
from ci.cluster.processes import Executable
from ci.cluster.volumes import PROVISIONER, STORAGE_CLASSES, StorageClass

COREDNS = Executable("coredns")
VOLUMES = Executable("volumes")
READY_S = 30
OBJECT = dict[str, Any]


def start_addons() -> None:
    """Start DNS and volumes, and create the Service, the storage classes, and the CRDs of operators that charts use."""
    RUN.joinpath("Corefile").write_text(_corefile())
    COREDNS.start(["coredns", "-conf", RUN / "Corefile"])
    VOLUMES.start([sys.executable, "-m", "ci.cluster.volumes"])
    kubectl("create", "-f", CRDS)
    objects = [*dns_objects(), *(storage_class(each) for each in STORAGE_CLASSES.values())]
    kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def await_dns() -> None:
    """Wait until the DNS address of pods resolves the name of the API: CoreDNS and kube-proxy work."""
    COREDNS.wait_until(lambda: resolves("kubernetes.default.svc.cluster.local"), READY_S, "DNS answers")


def resolves(name: str) -> bool:
    """Whether the cluster's DNS resolves a name."""
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
    packet = struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0) + question + struct.pack(">2H", 1, 1)
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.connect((DNS_SERVICE_IP, 53))
        client.send(packet)
        _, flags, _, answers, _, _ = struct.unpack(">6H", client.recv(512)[:12])
        return bool(flags & 0xF == 0 and answers > 0)
    return False


def dns_objects() -> list[OBJECT]:
    """A Service at the DNS address that kubelet gives to pods, with the host's CoreDNS as its endpoint."""
    ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": {"k8s-app": "kube-dns"}},
        "spec": {"clusterIP": DNS_SERVICE_IP, "ports": ports},
    }
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kube-dns-host",
            "namespace": "kube-system",
            "labels": {"kubernetes.io/service-name": "kube-dns"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [NODE1.ip]}],
        "ports": ports,
    }
    return [service, endpoints]


def storage_class(described: StorageClass) -> OBJECT:
    """The API object of a storage class."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"} if described.is_default else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": described.name, "annotations": default},
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    }


def _corefile() -> str:
    with_servers = "nameserver" in Path("/etc/resolv.conf").read_text()
    return f""". {{
  bind {NODE1.ip}
  errors
  kubernetes cluster.local in-addr.arpa {{
    kubeconfig {KUBECONFIG}
    ttl 5
  }}
  {"forward . /etc/resolv.conf" if with_servers else ""}
  cache 5
}}
"""
