"""Brokers refuse wrong credentials and missing permissions.

How a processor reacts is tested on fakes by tests/unit/runtime/test_control_loop.py.
"""

from __future__ import annotations

import json
import re
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
from devkit.broker_clients import CLIENTS, ClientFactory
from devkit.in_process import in_process
from devkit.records import Record
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.ports import Brokers, Right, TopicRequest
from lsql_runner.runtime.dry_run import validate
from tests.contract.brokers_contract import AccessChecksContract, unused_name

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


def allow(
    broker: Broker,
    kind: ResourceType,
    name: str,
    *operations: AclOperation,
    pattern: ResourcePatternType = ResourcePatternType.LITERAL,
) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    rules = [
        AclBinding(kind, name, pattern, f"User:{USER}", "*", operation, AclPermissionType.ALLOW)
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
        allow(self._broker, ResourceType.TOPIC, name, AclOperation[right.upper()])

    def allow_transactional_ids(self, prefix: str) -> None:
        prefixed = ResourcePatternType.PREFIXED
        allow(self._broker, ResourceType.TRANSACTIONAL_ID, prefix, AclOperation.WRITE, pattern=prefixed)


@pytest.fixture(params=CLIENTS)
def limited(request: pytest.FixtureRequest, secured: Broker) -> Iterator[ClientOfSecuredBroker]:
    with closing(CLIENTS[request.param](connection(secured, PASSWORD))) as brokers:
        yield ClientOfSecuredBroker(brokers, secured)


class TestAccessChecks(AccessChecksContract):
    pass


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_brokers_without_access_rules_allow_everything(broker: Broker, client: ClientFactory) -> None:
    name = unused_name("open")
    broker.create_topic(name)

    with closing(client(KafkaConnection(broker.bootstrap))) as brokers:
        brokers.check_topics({name: ["Read", "Write"]})
        brokers.check_transactional_id(name)


GUIDE = Path(__file__).parents[2] / "docs/guides/security.md"
ACL = re.compile(
    r"--operation (\w+) --(topic|group|transactional-id) (\S+)(?: --resource-pattern-type (\w+))?$", re.MULTILINE
)
SOURCE, TARGET, APP_ID = "orders", "sums", "totals"
"""The names in the guide."""
TOTALS = f"INSERT INTO {TARGET} SELECT STREAM COUNT(*) AS n FROM {SOURCE} GROUP BY id"


def allow_line(broker: Broker, line: tuple[str, str, str, str]) -> None:
    """Grant what a line of kafka-acls in the guide grants."""
    operation, kind, name, pattern = line
    allow(
        broker,
        ResourceType[kind.upper().replace("-", "_")],
        name,
        AclOperation[operation.upper()],
        pattern=ResourcePatternType[(pattern or "literal").upper()],
    )


@pytest.fixture
def shop() -> Iterator[Broker]:
    """A broker with the topics of the guide. The user may only describe them."""
    with Broker(users={USER: PASSWORD}) as own:
        for topic in (SOURCE, TARGET):
            own.create_topic(topic)
            allow(own, ResourceType.TOPIC, topic, AclOperation.DESCRIBE)
        own.produce(SOURCE, [Record(b"k", b'{"id": 1}')])
        yield own


def environment(broker: Broker, folder: Path, **variables: str) -> dict[str, str]:
    return {
        "SQL": TOTALS,
        "SQL_APP_ID": APP_ID,
        "SQL_BOOTSTRAP_SERVERS": broker.addresses["secured"],
        "SQL_STATE_STORE_DIR": str(folder),
        "LSQL_TOPICS": json.dumps({SOURCE: {"value": {"format": "JSON", "schema": {"id": "long"}}}}),
        **credentials(PASSWORD),
        **variables,
    }


def test_the_acls_of_the_guide_are_needed_and_sufficient_for_exactly_once(
    shop: Broker, engine: SparkEngine, tmp_path: Path
) -> None:
    variables = environment(shop, tmp_path)
    lines = ACL.findall(GUIDE.read_text())
    reasons = []
    for line in lines:
        with pytest.raises(LsqlError) as caught:
            validate(variables)
        assert caught.value.code == "BROKER_REFUSED"
        reasons.append(str(caught.value.params["reason"]).removeprefix("the ACLs do not allow "))
        allow_line(shop, line)
    validate(variables)

    assert reasons == [
        f"Read on the topic {SOURCE}",
        f"Read, Write on the topic {TARGET}",
        f"Read on the topic {TARGET}",
        f"Read on the topic {TARGET}",
        f"Write on the transactional id {APP_ID}/validate",
    ]
    run_totals(shop, engine, variables)


def test_the_first_acls_of_the_guide_are_sufficient_for_at_least_once(
    shop: Broker, engine: SparkEngine, tmp_path: Path
) -> None:
    for line in ACL.findall(GUIDE.read_text())[:3]:
        allow_line(shop, line)

    run_totals(shop, engine, environment(shop, tmp_path, LSQL_GUARANTEE="at_least_once"))


def run_totals(broker: Broker, engine: SparkEngine, variables: dict[str, str]) -> None:
    """Run the processor until it has written its result."""
    own = ("SQL", "SQL_APP_ID", "SQL_BOOTSTRAP_SERVERS", "SQL_STATE_STORE_DIR")
    more = {name: value for name, value in variables.items() if name not in own}
    folder = Path(variables["SQL_STATE_STORE_DIR"])
    with in_process(engine, broker.addresses["secured"], TOTALS, APP_ID, folder, **more) as running:
        running.read_to(1)

    assert [record.value for record in broker.consume_all(TARGET)] == [b'{"n":1}']


def test_a_refused_transactional_id_prints_nothing(secured: Broker, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(CLIENTS["librdkafka"](connection(secured, PASSWORD))) as brokers, pytest.raises(LsqlError):
        brokers.check_transactional_id("refused/validate")

    assert capfd.readouterr() == ("", "")
