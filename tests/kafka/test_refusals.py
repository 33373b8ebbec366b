"""Brokers refuse wrong credentials and missing permissions.

How a processor reacts is tested on fakes by tests/unit/runtime/test_control_loop.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from devkit.broker import Broker
from devkit.broker_clients import CLIENTS, ClientFactory
from devkit.records import Record
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.ports import TopicRequest

pytestmark = pytest.mark.timeout(120)

USER, PASSWORD = "runner", "right"


@pytest.fixture(scope="module")
def secured() -> Iterator[Broker]:
    with Broker(users={USER: PASSWORD}) as own:
        own.create_topic("seen")
        own.create_topic("out")
        own.create_topic("hidden")
        own.produce("seen", [Record(b"k", b'{"id": 1}')])
        yield own


def credentials(password: str) -> dict[str, str]:
    """Environment variables of a processor."""
    login = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "SASL_MECHANISM": "PLAIN",
        "SASL_JAAS_CONFIG": f'{login} required username="{USER}" password="{password}";',
    }


def connection(broker: Broker, password: str) -> KafkaConnection:
    keys = {name.lower().replace("_", "."): value for name, value in credentials(password).items()}
    return KafkaConnection(broker.addresses["secured"], tuple(keys.items()))


def allow(broker: Broker, kind: ResourceType, name: str, *operations: AclOperation) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    rules = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, f"User:{USER}", "*", operation, AclPermissionType.ALLOW)
        for operation in operations
    ]
    for future in admin.create_acls(rules).values():
        future.result(30)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_wrong_password_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, "wrong"), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.topics()

    assert caught.value.code == "BROKER_REFUSED"
    assert "uthentication" in str(caught.value.params["reason"])


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_group_without_permissions_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.group_positions("forbidden", [Partition("seen", 0)])

    assert caught.value.code == "BROKER_REFUSED"
    assert "uthoriz" in str(caught.value.params["reason"])


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_position_without_read_permission_is_refused(secured: Broker, client: ClientFactory) -> None:
    allow(secured, ResourceType.GROUP, "half-allowed", AclOperation.READ)

    with closing(client(connection(secured, PASSWORD), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.group_positions("half-allowed", [Partition("hidden", 0)])

    assert caught.value.code == "BROKER_REFUSED"


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_topic_without_create_permission_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.create(TopicRequest("not-allowed"))
    with closing(client(connection(secured, PASSWORD), 2)) as brokers, pytest.raises(LsqlError) as checked:
        brokers.check_create(TopicRequest("not-allowed"))

    for found in (caught.value, checked.value):
        assert (found.code, found.params["topic"]) == ("TOPIC_REFUSED", "not-allowed")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_deletion_without_permission_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers:
        with pytest.raises(LsqlError) as topic:
            brokers.delete_topic("hidden")
        with pytest.raises(LsqlError) as group:
            brokers.delete_group("forbidden")

    assert (topic.value.code, group.value.code) == ("BROKER_REFUSED", "BROKER_REFUSED")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_topics_without_describe_permission_are_not_listed(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers:
        assert "hidden" not in brokers.topics()
