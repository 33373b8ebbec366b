"""The token of a processor's API in its Secret. Needs only an API server: no test waits for a pod."""

from __future__ import annotations

import base64
import json
from typing import Any

from devkit.cluster_release import Helm
from devkit.kubectl import Kubectl
from tests.cluster.conftest import HelmFactory

NAME = "fast-vehicles"
VALUES = {
    "sql": "INSERT INTO fast SELECT STREAM * FROM vehicles WHERE speed > 10",
    "kafka": {"bootstrapServers": "kafka:9092"},
    "validation": {"enabled": False},
}


def deploy(helm: Helm, action: str, **changes: Any) -> None:
    helm.run(action, NAME, helm.chart, "--values=-", stdin=json.dumps({**VALUES, **changes}))


def token(kubectl: Kubectl) -> str:
    return base64.b64decode(kubectl.get("secret", f"{NAME}-api")["data"]["token"]).decode()


def test_upgrades_and_rollbacks_keep_the_token(namespace: Kubectl, helm: HelmFactory) -> None:
    chart_helm = helm(namespace)
    deploy(chart_helm, "install")
    first = token(namespace)
    assert len(first) == 48

    deploy(chart_helm, "upgrade", user="ada")
    assert token(namespace) == first
    chart_helm.run("rollback", NAME, "1")
    assert token(namespace) == first


def test_a_token_that_was_replaced_by_hand_is_kept(namespace: Kubectl, newest_helm: HelmFactory) -> None:
    chart_helm = newest_helm(namespace)
    deploy(chart_helm, "install")
    changed = base64.b64encode(b"another-token-123").decode()
    namespace.run("patch", "secret", f"{NAME}-api", "--type=merge", f'--patch={{"data":{{"token":"{changed}"}}}}')

    deploy(chart_helm, "upgrade", user="ada")

    assert token(namespace) == "another-token-123"


def test_two_releases_have_different_tokens(namespace: Kubectl, newest_helm: HelmFactory) -> None:
    chart_helm = newest_helm(namespace)
    deploy(chart_helm, "install")
    chart_helm.run("install", "other", chart_helm.chart, "--values=-", stdin=json.dumps(VALUES))

    other = base64.b64decode(namespace.get("secret", "other-api")["data"]["token"]).decode()
    assert other != token(namespace)
