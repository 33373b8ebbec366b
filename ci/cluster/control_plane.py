"""The control plane: etcd, the API server, the controllers and the scheduler, as processes of the host."""

from pathlib import Path

from ci.cluster.layout import KUBECONFIG, NODE1, PKI, POD_RANGE, RUN, SERVICE_RANGE, Ports
from ci.cluster.processes import Executable, command, succeeds

ETCD = Executable("etcd")
API_SERVER = Executable("kube-apiserver")
CONTROLLERS = Executable("kube-controller-manager")
SCHEDULER = Executable("kube-scheduler")
READY_S = 90


def start_api(ports: Ports) -> None:
    """Start etcd and the API server, which waits for etcd."""
    ETCD.start(_etcd(ports))
    API_SERVER.start(_api_server(ports))


def await_api() -> None:
    """Wait until the API responds."""
    API_SERVER.wait_until(api_is_ready, READY_S, "the API is ready")


def api_is_ready() -> bool:
    """Whether the API reports that it is ready."""
    return succeeds(["kubectl", "--kubeconfig", KUBECONFIG, "--request-timeout=3s", "get", "--raw", "/readyz"])


def start_controllers() -> None:
    """Start the controllers and the scheduler."""
    CONTROLLERS.start(_controllers())
    SCHEDULER.start(["kube-scheduler", _kubeconfig("scheduler"), "--leader-elect=false", "--bind-address=127.0.0.1"])


def kubectl(*arguments: str | Path, stdin: str | None = None) -> str:
    """Run kubectl as the administrator; returns its output."""
    return command(["kubectl", "--kubeconfig", KUBECONFIG, *arguments], stdin)


def _etcd(ports: Ports) -> list[str | Path]:
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.etcd_peer}"
    return [
        "etcd",
        f"--data-dir={RUN / 'etcd'}",
        "--unsafe-no-fsync",  # the data need not survive a power loss
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]


def _api_server(ports: Ports) -> list[str | Path]:
    return [
        "kube-apiserver",
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        # Pods connect through its Service, which forwards to the node's address, so it listens on every address.
        f"--secure-port={ports.api}",
        f"--advertise-address={NODE1.ip}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--service-node-port-range=32001-32767",  # above the ports that are chosen at random
        f"--tls-cert-file={PKI / 'apiserver.crt'}",
        f"--tls-private-key-file={PKI / 'apiserver.key'}",
        f"--client-ca-file={PKI / 'ca.crt'}",
        "--anonymous-auth=false",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--service-account-key-file={PKI / 'sa.pub'}",
        f"--service-account-signing-key-file={PKI / 'sa.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--kubelet-client-certificate={PKI / 'admin.crt'}",
        f"--kubelet-client-key={PKI / 'admin.key'}",
        f"--kubelet-certificate-authority={PKI / 'ca.crt'}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--requestheader-client-ca-file={PKI / 'ca.crt'}",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={PKI / 'front-proxy.crt'}",
        f"--proxy-client-key-file={PKI / 'front-proxy.key'}",
    ]


def _controllers() -> list[str | Path]:
    return [
        "kube-controller-manager",
        _kubeconfig("controllers"),
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={PKI / 'sa.key'}",
        f"--root-ca-file={PKI / 'ca.crt'}",
        "--allocate-node-cidrs=true",
        f"--cluster-cidr={POD_RANGE}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        # The default of 15 s is most of the time of the tests of autoscaling.
        "--horizontal-pod-autoscaler-sync-period=5s",
    ]


def _kubeconfig(user: str) -> str:
    return f"--kubeconfig={RUN / user}.kubeconfig"
