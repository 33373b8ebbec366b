"""Brokers refuse wrong credentials and missing permissions.

How a processor reacts is tested on fakes by tests/unit/runtime/test_control_loop.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Literal

import pytest
from confluent_kafka.admin import AclOperation, ResourcePatternType, ResourceType  # type: ignore[attr-defined]

from devkit.access_rules import PASSWORD, USER, allow, credentials
from devkit.broker import Broker
from devkit.broker_clients import ClientFactory
from devkit.records import Record
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers
from lsql_runner.kafka.ports import Brokers, Right, TopicRequest
from lsql_runner.kafka.rights import operation_of
from tests.contract.brokers_contract import AccessChecksContract, unused_name

REQUEST_S = 10
"""A request is answered within this time on a busy machine, too."""

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def secured() -> Iterator[Broker]:
    with Broker(users={USER: PASSWORD}) as own:
        own.create_topic("seen")
        own.create_topic("out")
        own.create_topic("hidden")
        own.produce("seen", [Record(b"k", b'{"id": 1}')])
        yield own


def connection(broker: Broker, password: str) -> KafkaConnection:
    keys = {name.lower().replace("_", "."): value for name, value in credentials(password).items()}
    return KafkaConnection(broker.addresses["secured"], tuple(keys.items()))


def test_a_wrong_password_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, "wrong"), REQUEST_S)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.topics()

    assert caught.value.code == "BROKER_REFUSED"
    assert "uthentication" in str(caught.value.params["reason"])


def test_a_group_without_permissions_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), REQUEST_S)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.group_positions("forbidden", [Partition("seen", 0)])

    assert caught.value.code == "BROKER_REFUSED"
    assert str(caught.value.params["reason"]) == "the ACLs do not allow Read on the group forbidden"


def test_a_position_without_read_permission_is_refused(secured: Broker, client: ClientFactory) -> None:
    allow(secured, ResourceType.GROUP, "half-allowed", AclOperation.READ)

    with closing(client(connection(secured, PASSWORD), REQUEST_S)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.group_positions("half-allowed", [Partition("hidden", 0)])

    assert caught.value.code == "BROKER_REFUSED"


def test_a_topic_without_create_permission_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), REQUEST_S)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.create(TopicRequest("not-allowed"))
    with closing(client(connection(secured, PASSWORD), REQUEST_S)) as brokers, pytest.raises(LsqlError) as checked:
        brokers.check_create(TopicRequest("not-allowed"))

    for error in (caught.value, checked.value):
        assert (error.code, error.params["topic"]) == ("TOPIC_REFUSED", "not-allowed")


def test_a_deletion_without_permission_is_refused(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), REQUEST_S)) as brokers:
        with pytest.raises(LsqlError) as topic:
            brokers.delete_topic("hidden")
        with pytest.raises(LsqlError) as group:
            brokers.delete_group("forbidden")

    assert (topic.value.code, group.value.code) == ("BROKER_REFUSED", "BROKER_REFUSED")


def test_topics_without_describe_permission_are_not_listed(secured: Broker, client: ClientFactory) -> None:
    with closing(client(connection(secured, PASSWORD), REQUEST_S)) as brokers:
        assert "hidden" not in brokers.topics()


class ClientOfSecuredBroker:
    """A user of a broker with access rules."""

    def __init__(self, brokers: Brokers, broker: Broker) -> None:
        self.brokers = brokers
        self._broker = broker

    def topic(self) -> str:
        name = unused_name("limited")
        self._broker.create_topic(name)
        return name

    def allow_topic(self, name: str, right: Right) -> None:
        allow(self._broker, ResourceType.TOPIC, name, AclOperation[operation_of(right)])

    def allow_group(self, name: str, right: Literal["Describe", "Read"]) -> None:
        allow(self._broker, ResourceType.GROUP, name, AclOperation[operation_of(right)])

    def allow_transactional_ids(self, prefix: str) -> None:
        prefixed = ResourcePatternType.PREFIXED
        allow(self._broker, ResourceType.TRANSACTIONAL_ID, prefix, AclOperation.WRITE, pattern=prefixed)


@pytest.fixture
def limited(client: ClientFactory, secured: Broker) -> Iterator[ClientOfSecuredBroker]:
    with closing(client(connection(secured, PASSWORD))) as brokers:
        yield ClientOfSecuredBroker(brokers, secured)


class TestAccessChecks(AccessChecksContract):
    pass


def test_brokers_without_access_rules_allow_everything(broker: Broker, client: ClientFactory) -> None:
    name = unused_name("open")
    broker.create_topic(name)

    with closing(client(KafkaConnection(broker.bootstrap))) as brokers:
        brokers.check_topics({name: ["Read", "Write"]})
        brokers.check_group(name)
        brokers.check_transactional_id(name)


def test_a_refused_transactional_id_prints_nothing(secured: Broker, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(LibrdkafkaBrokers(connection(secured, PASSWORD))) as brokers, pytest.raises(LsqlError):
        brokers.check_transactional_id("refused/validate")

    assert capfd.readouterr() == ("", "")
