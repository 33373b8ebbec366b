"""The cluster's keys and certificates, created by openssl, and a kubeconfig for each user."""

import base64
import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ci.cluster.layout import API_SERVICE_IP, NODE1, NODES, PKI, RUN

DAYS = "30"
API_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")


@dataclass(frozen=True)
class Subject:
    """The subject of a certificate: user and group for the API, and the addresses of a server."""

    name: str
    user: str
    group: str = "cluster"
    addresses: tuple[str, ...] = ()


SERVERS = (
    Subject(
        "apiserver",
        "kube-apiserver",
        addresses=(
            "IP:127.0.0.1",
            f"IP:{NODE1.ip}",
            f"IP:{API_SERVICE_IP}",
            "DNS:localhost",
            *(f"DNS:{name}" for name in API_NAMES),
        ),
    ),
    Subject("front-proxy", "front-proxy"),
)
USERS = (
    Subject("admin", "admin", "system:masters"),
    *(
        Subject(
            f"kubelet-{each.name}", f"system:node:{each.name}", "system:nodes", (f"DNS:{each.name}", f"IP:{each.ip}")
        )
        for each in NODES
    ),
    Subject("controllers", "system:kube-controller-manager"),
    Subject("scheduler", "system:kube-scheduler"),
    Subject("proxy", "system:kube-proxy"),
)


def make_keys(api_url: str) -> None:
    """Create all keys and certificates in PKI, and write the kubeconfig of each user."""
    PKI.mkdir(parents=True)
    _certificate(
        "ca", "/CN=lsql-test-cluster", ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
    )
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", PKI / "sa.key")
    _openssl("pkey", "-in", PKI / "sa.key", "-pubout", "-out", PKI / "sa.pub")
    for subject in (*SERVERS, *USERS):
        _sign(subject)
    for user in USERS:
        write_kubeconfig(RUN / f"{user.name}.kubeconfig", user.name, api_url)


def write_kubeconfig(path: Path, user: str, api_url: str) -> None:
    """Write the kubeconfig of a user, with the keys in it."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "local", "cluster": {"server": api_url, "certificate-authority-data": _encoded("ca.crt")}}
        ],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": _encoded(f"{user}.crt"),
                    "client-key-data": _encoded(f"{user}.key"),
                },
            }
        ],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": user}}],
        "current-context": "local",
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(config))  # JSON is YAML


def _sign(subject: Subject) -> None:
    extensions = [
        "basicConstraints=CA:FALSE",
        "keyUsage=critical,digitalSignature,keyEncipherment",
        "extendedKeyUsage=serverAuth,clientAuth",
        # Python 3.13 in a pod refuses a certificate without this extension.
        "authorityKeyIdentifier=keyid",
    ]
    if subject.addresses:
        extensions.append(f"subjectAltName={','.join(subject.addresses)}")
    signer: list[str | Path] = ["-CA", PKI / "ca.crt", "-CAkey", PKI / "ca.key"]
    _certificate(subject.name, f"/O={subject.group}/CN={subject.user}", extensions, signer)


def _certificate(name: str, subject: str, extensions: list[str], signer: Iterable[str | Path] = ()) -> None:
    # Our own configuration, because the system's adds extensions that contradict these.
    config = PKI / f"{name}.cnf"
    config.write_text("\n".join(["[req]", "distinguished_name=dn", "x509_extensions=x", "[dn]", "[x]", *extensions]))
    files: list[str | Path] = ["-keyout", PKI / f"{name}.key", "-out", PKI / f"{name}.crt"]
    _openssl("req", "-x509", "-config", config, "-days", DAYS, "-subj", subject, *NEW_KEY, *signer, *files)


def _encoded(name: str) -> str:
    return base64.b64encode((PKI / name).read_bytes()).decode()


def _openssl(*arguments: str | Path) -> None:
    result = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"openssl {arguments[0]} failed: {result.stderr}")
