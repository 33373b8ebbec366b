"""Credentials: they change while the processor runs, and nothing except Secrets shows them."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # exported, but not in the way mypy asks for
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from devkit.access_rules import allow, delete_rules
from devkit.broker import Broker
from devkit.cluster import KubernetesCluster
from devkit.kubectl import Kubectl, Resource
from devkit.records import Record
from devkit.release_with_traffic import ReleaseWithTraffic
from tests.cluster.conftest import HelmFactory

PASSWORDS = {"old": "old-secret", "new": "new-secret"}
ANY: Any = None
OLD_USER_ACCESS = AclBindingFilter(
    ResourceType.ANY, ANY, ResourcePatternType.ANY, "User:old", ANY, AclOperation.ANY, AclPermissionType.ANY
)
EVERYTHING = {
    ResourceType.TOPIC: "*",
    ResourceType.GROUP: "*",
    ResourceType.TRANSACTIONAL_ID: "*",
    ResourceType.BROKER: "kafka-cluster",
}
SECRET_UPDATE_S = 150
"""The kubelet writes a changed Secret into running pods within about a minute."""
FAILURE_S = 120


def secret(user: str) -> Resource:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "kafka-user"},
        "stringData": {"username": user, "password": PASSWORDS[user]},
    }


@pytest.fixture
def secured(cluster: KubernetesCluster) -> Iterator[Broker]:
    """A broker with a second listener, for users with a password."""
    with Broker(users=PASSWORDS, host=cluster.host) as broker:
        for user in PASSWORDS:
            for kind, name in EVERYTHING.items():
                allow(broker, kind, name, AclOperation.ALL, user=user)
        yield broker


def connection(secured: Broker) -> dict[str, Any]:
    """The values of a release that connects with the user and the password of the Secret."""
    return {
        "bootstrapServers": f"SASL_PLAINTEXT://{secured.addresses['secured']}",
        "securityProtocol": "SASL_PLAINTEXT",
        "sasl": {"mechanism": "PLAIN", "existingSecret": "kafka-user"},
    }


def test_a_rotated_secret_is_used_and_no_record_is_lost(
    namespace: Kubectl, secured: Broker, image: str, newest_helm: HelmFactory
) -> None:
    namespace.create(secret("old"))
    release = ReleaseWithTraffic(newest_helm(namespace), secured, image)
    processor = release.install(kafka=connection(secured))
    release.await_records()

    with release.traffic:
        namespace.apply(secret("new"))
        processor.await_restart(0, SECRET_UPDATE_S)

    last = processor.container()["lastState"]["terminated"]
    assert (last["exitCode"], processor.restarts()) == (0, 1)
    delete_rules(secured, OLD_USER_ACCESS)
    release.traffic.write(20)
    assert release.await_records().duplicates == 0


def test_no_object_log_or_page_of_a_release_has_its_credentials_or_a_value_of_a_record(
    namespace: Kubectl, secured: Broker, image: str, newest_helm: HelmFactory
) -> None:
    """Except its Secrets. A record fails, and a container ends: `kubectl describe` shows the events of both."""
    namespace.create(secret("old"))
    release = ReleaseWithTraffic(newest_helm(namespace), secured, image)
    sink_password, value = "sink-secret-of-the-test", "value-of-the-test"
    processor = release.install(
        kafka=connection(secured),
        sinks={"shop": {"url": "jdbc:postgresql://shop:5432/shop", "username": "shop", "password": sink_password}},
        logLevel="DEBUG",
    )
    release.await_records()
    secured.produce(release.source, [Record(value.encode(), json.dumps({"id": value, "at": 1}).encode())])
    namespace.wait_until(lambda: processor.stream()["state"] == "failed", FAILURE_S, "the state failed")
    token = base64.b64decode(namespace.get("secret", f"{processor.name}-api")["data"]["token"]).decode()
    pod = processor.pod()["metadata"]["name"]
    processor.signal("java")
    namespace.wait_until(
        lambda: processor.restarts() > 0 and processor.stream()["state"] == "failed", FAILURE_S, "a second failure"
    )
    kinds = "pods,statefulsets,deployments,jobs,services,configmaps,events,networkpolicies"

    shown = "\n".join(
        [
            namespace.run("describe", kinds),
            namespace.run("get", kinds, "-o", "yaml"),
            namespace.run("logs", pod, "--previous"),
            namespace.run("logs", pod),
            json.dumps(processor.stream()),
        ]
    )

    assert "RECORD_MALFORMED" in shown
    assert [word for word in (PASSWORDS["old"], sink_password, token, value) if word in shown] == []
