"""Brokers that answer, but with a no: wrong credentials, missing rights; and what a processor makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

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
from devkit.broker_clients import CLIENTS, Client
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.events.state import State
from lsql_runner.kafka.brokers import TopicRequest
from lsql_runner.kafka.client import KafkaConnection

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
    """Variables of the environment contract."""
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
def test_a_wrong_password_is_no_missing_broker(secured: Broker, client: Client) -> None:
    with closing(client(connection(secured, "wrong"), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.topics()

    assert caught.value.code == "BROKER_REFUSED"
    assert "uthentication" in str(caught.value.params["reason"])


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_group_without_rights_is_refused(secured: Broker, client: Client) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.group_positions("forbidden", [Partition("seen", 0)])

    assert caught.value.code == "BROKER_REFUSED"
    assert "uthoriz" in str(caught.value.params["reason"])


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_position_that_may_not_be_seen_is_no_missing_position(secured: Broker, client: Client) -> None:
    allow(secured, ResourceType.GROUP, "half-allowed", AclOperation.READ)

    with closing(client(connection(secured, PASSWORD), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.group_positions("half-allowed", [Partition("hidden", 0)])

    assert caught.value.code == "BROKER_REFUSED"


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_topic_that_may_not_be_made_is_refused(secured: Broker, client: Client) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.create(TopicRequest("not-allowed"))

    assert (caught.value.code, caught.value.params["topic"]) == ("TOPIC_REFUSED", "not-allowed")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_what_may_not_be_deleted_is_refused(secured: Broker, client: Client) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers:
        with pytest.raises(LsqlError) as topic:
            brokers.delete_topic("hidden")
        with pytest.raises(LsqlError) as group:
            brokers.delete_group("forbidden")

    assert (topic.value.code, group.value.code) == ("BROKER_REFUSED", "BROKER_REFUSED")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_topics_that_may_not_be_seen_are_not_told(secured: Broker, client: Client) -> None:
    with closing(client(connection(secured, PASSWORD), 2)) as brokers:
        assert "hidden" not in brokers.topics()


def test_a_processor_tries_again_until_it_has_its_rights(secured: Broker, engine: SparkEngine, tmp_path: Path) -> None:
    read, write, describe = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
    allow(secured, ResourceType.TOPIC, "seen", read, describe)
    allow(secured, ResourceType.TOPIC, "out", write, describe)
    sql = "INSERT INTO out SELECT STREAM * FROM seen"

    with in_process(
        engine, secured.addresses["secured"], sql, "late-rights", tmp_path, **credentials(PASSWORD)
    ) as running:
        refused = running.wait_for(lambda s: s.state is State.RESTARTING)
        assert refused.last_error is not None
        assert refused.last_error.code == "BROKER_REFUSED"
        assert "GROUP" in refused.last_error.message.upper()
        assert [reason.code for reason in running.supervisor.health().reasons] == ["query-died"]

        allow(secured, ResourceType.GROUP, "late-rights", read)
        running.read_to(1)
        assert running.wait_for(lambda s: s.state is State.RUNNING).broker_error is None

    assert [json.loads(record.value or b"") for record in secured.consume_all("out")] == [{"id": 1}]
