"""Each way of authentication: both clients connect with the same variables, and report refusals clearly."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from devkit.certificates import Authority
from devkit.in_process import in_process
from devkit.records import Record
from devkit.security import (
    CLIENT,
    CLIENT_NAME,
    CLIENT_SECRET,
    PASSWORD,
    SCRAM_USER,
    USER,
    Credentials,
    SecuredBroker,
    secured_broker,
)
from lsql_runner.config.settings import read_settings
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.engine.records import write_records
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.java_entries import TOPIC_SOURCE
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers

pytestmark = pytest.mark.timeout(120)

Authentication = Callable[[SecuredBroker, Credentials], dict[str, str]]
"""Returns the environment variables of a processor, including the address."""

KEY_PASSWORD = 'k"e\\y'
ANY_NAME = {"SSL_ENDPOINT_IDENTIFICATION_ALGORITHM": ""}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


def variables_for(secured: SecuredBroker, listener: str, *variables: dict[str, str]) -> dict[str, str]:
    """The environment variables of a processor that connects to a listener of the broker."""
    protocol = "SASL_SSL" if listener == "login" else "SSL"
    environment = {"SQL_BOOTSTRAP_SERVERS": secured.broker.addresses[listener], "SECURITY_PROTOCOL": protocol}
    for more in variables:
        environment |= more
    return environment


def connection(variables: dict[str, str]) -> KafkaConnection:
    return read_settings({"SQL": ""} | variables).connection


def with_encrypted_key(secured: SecuredBroker, credentials: Credentials) -> dict[str, str]:
    own = secured.authority.issue(CLIENT_NAME)
    client = credentials.client(own, own.encrypted_key(KEY_PASSWORD), KEY_PASSWORD)
    return variables_for(secured, "mutual", credentials.trust(secured.authority), client)


def with_key_of_cert_manager(secured: SecuredBroker, credentials: Credentials) -> dict[str, str]:
    own = secured.authority.issue(CLIENT_NAME)
    client = credentials.client(own, own.traditional_key)
    return variables_for(secured, "mutual", credentials.trust(secured.authority), client)


def user(mechanism: str, name: str, password: str = PASSWORD) -> Authentication:
    return lambda s, c: variables_for(s, "login", c.trust(s.authority), c.user(mechanism, name, password))


def client(secret: str = CLIENT_SECRET, scope: str = "") -> Authentication:
    return lambda s, c: variables_for(
        s, "login", c.trust(s.authority), c.oauth(s.tokens.token_url, CLIENT, secret, scope)
    )


AUTHENTICATIONS: dict[str, Authentication] = {
    "tls": lambda s, c: variables_for(s, "tls", c.trust(s.authority)),
    "tls-by-one-of-two-authorities": lambda s, c: variables_for(s, "tls", c.trust(Authority(), s.authority)),
    "tls-of-any-name": lambda s, c: variables_for(s, "misnamed", c.trust(s.authority), ANY_NAME),
    "mutual-tls": lambda s, c: variables_for(
        s, "mutual", c.trust(s.authority), c.client(s.authority.issue(CLIENT_NAME))
    ),
    "mutual-tls-encrypted-key": with_encrypted_key,
    "mutual-tls-key-of-cert-manager": with_key_of_cert_manager,
    "plain": user("PLAIN", USER),
    "scram-256": user("SCRAM-SHA-256", SCRAM_USER),
    "scram-512": user("SCRAM-SHA-512", SCRAM_USER),
    "oauth": client(),
}


@pytest.mark.parametrize("name", AUTHENTICATIONS)
def test_both_clients_connect(name: str, secured: SecuredBroker, engine: SparkEngine, tmp_path: Path) -> None:
    secure = connection(AUTHENTICATIONS[name](secured, Credentials(tmp_path)))
    source, target = f"{name}-in", f"{name}-out"
    secured.broker.create_topic(source)
    secured.broker.create_topic(target)
    secured.broker.produce(source, [Record(b"k", name.encode())])

    brokers = LibrdkafkaBrokers(secure)
    assert brokers.topics()[source] == 1
    assert brokers.ends([Partition(source, 0)]) == {Partition(source, 0): 1}
    assert [record.value for record in brokers.sample(source, 1)] == [name.encode()]

    rows = engine.session.read.format(TOPIC_SOURCE).options(**secure.spark(), subscribe=source).load()
    [row] = rows.select("value").collect()
    write_records(
        engine.session, secure, [TopicRecord(topic=target, key=None, value=bytes(row["value"]), timestamp_ms=0)]
    )
    assert [record.value for record in secured.broker.consume_all(target)] == [name.encode()]


def test_both_clients_request_the_scope(secured: SecuredBroker, engine: SparkEngine, tmp_path: Path) -> None:
    secured.broker.create_topic("scoped")
    scope = "kafka.read kafka.write"
    secure = connection(client(scope=scope)(secured, Credentials(tmp_path)))
    secured.tokens.granted.clear()

    LibrdkafkaBrokers(secure).topics()
    assert secured.tokens.granted == [(CLIENT, scope)]

    engine.session.read.format(TOPIC_SOURCE).options(**secure.spark(), subscribe="scoped").load().collect()
    assert len(secured.tokens.granted) > 1
    assert {*secured.tokens.granted} == {(CLIENT, scope)}


_UNVERIFIED = ("certificate verify failed", "SslAuthenticationException: SSL handshake failed")
_UNWANTED = ("bad certificate|unknown", "SslAuthenticationException")
_INVALID = ("invalid credentials", "SaslAuthenticationException.*invalid credentials")

REFUSED: dict[str, tuple[Authentication, str, str]] = {
    "certificate-of-another-name": (lambda s, c: variables_for(s, "misnamed", c.trust(s.authority)), *_UNVERIFIED),
    "unknown-authority": (lambda s, c: variables_for(s, "tls", c.trust(Authority())), *_UNVERIFIED),
    "no-client-certificate": (lambda s, c: variables_for(s, "mutual", c.trust(s.authority)), *_UNWANTED),
    "client-certificate-of-an-unknown-authority": (
        lambda s, c: variables_for(s, "mutual", c.trust(s.authority), c.client(Authority().issue(CLIENT_NAME))),
        *_UNWANTED,
    ),
    "plain-password": (
        user("PLAIN", USER, "wrong"),
        "Invalid username or password",
        "SaslAuthenticationException.*Invalid username",
    ),
    "scram-256-password": (user("SCRAM-SHA-256", SCRAM_USER, "wrong"), *_INVALID),
    "scram-512-password": (user("SCRAM-SHA-512", SCRAM_USER, "wrong"), *_INVALID),
    "oauth-secret": (client("wrong"), "invalid_client", "invalid_client"),
}
"""Wrong credentials, and patterns of the errors of librdkafka and of the engine."""


@pytest.mark.parametrize("name", REFUSED)
def test_librdkafka_reports_the_reason_of_a_refusal(name: str, secured: SecuredBroker, tmp_path: Path) -> None:
    authentication, reason, _ = REFUSED[name]

    assert re.search(reason, refusal(connection(authentication(secured, Credentials(tmp_path)))))


def test_a_wrong_key_password_is_reported_before_connecting(secured: SecuredBroker, tmp_path: Path) -> None:
    variables = with_encrypted_key(secured, Credentials(tmp_path))
    Path(variables["SSL_KEY_PASSWORD_FILE"]).write_text("wrong")

    with pytest.raises(LsqlError) as caught:
        LibrdkafkaBrokers(connection(variables))

    assert caught.value.code == "KAFKA_SETTINGS_INVALID"
    assert "ssl.key.pem" in str(caught.value.params["reason"])


def refusal(refused: KafkaConnection) -> str:
    """The reason of a BROKER_REFUSED. Requests are repeated: a short deadline may pass before the handshake ends."""
    brokers = LibrdkafkaBrokers(refused, request_timeout_s=0.5)
    deadline = time.monotonic() + 30
    while True:
        with pytest.raises(LsqlError) as caught:
            brokers.topics()
        if caught.value.code == "BROKER_REFUSED" or time.monotonic() > deadline:
            assert caught.value.code == "BROKER_REFUSED", caught.value
            return str(caught.value.params["reason"])


@pytest.mark.parametrize("name", REFUSED)
def test_the_engine_reports_the_reason_of_a_refusal(
    name: str, secured: SecuredBroker, engine: SparkEngine, tmp_path: Path
) -> None:
    authentication, _, reason = REFUSED[name]
    secure = connection(authentication(secured, Credentials(tmp_path)))
    reader = engine.session.read.format(TOPIC_SOURCE).options(**secure.spark(), subscribe="nothing")

    with pytest.raises(Py4JJavaError, match=reason):
        reader.load().collect()


def test_a_processor_runs_with_oauth(secured: SecuredBroker, engine: SparkEngine, tmp_path: Path) -> None:
    secured.broker.create_topic("seen")
    secured.broker.create_topic("kept")
    secured.broker.produce("seen", [Record(b"k", b'{"id":1}')])
    variables = client()(secured, Credentials(tmp_path))
    address = variables.pop("SQL_BOOTSTRAP_SERVERS")
    sql = "INSERT INTO kept SELECT STREAM * FROM seen"

    with in_process(engine, address, sql, "behind-oauth", tmp_path / "state", **variables) as running:
        running.read_to(1)

    assert [record.value for record in secured.broker.consume_all("kept")] == [b'{"id":1}']
