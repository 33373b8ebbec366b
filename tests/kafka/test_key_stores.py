"""Brokers with TLS: key stores and trust stores of each type, and the errors of wrong ones."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devkit.broker import Broker, Listener
from devkit.jars import jar_folder
from devkit.key_stores import PASSWORD, KeyStore, key_store
from devkit.records import Record
from devkit.runner import Runner
from lsql_runner.errors import EXIT_RUNTIME, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.kafka.broker_jvm import BrokerJvm
from lsql_runner.kafka.client_choice import open_brokers
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.java_brokers import JavaBrokers
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers
from lsql_runner.kafka.ports import Brokers

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def broker_key(tmp_path_factory: pytest.TempPathFactory) -> KeyStore:
    return key_store(tmp_path_factory.mktemp("stores"), "broker")


@pytest.fixture(scope="module")
def client_key(tmp_path_factory: pytest.TempPathFactory) -> KeyStore:
    return key_store(tmp_path_factory.mktemp("stores"), "client")


@pytest.fixture(scope="module")
def tls_broker(broker_key: KeyStore, client_key: KeyStore) -> Iterator[Broker]:
    client_auth = {
        "ssl.client.auth": "required",
        "ssl.truststore.location": str(client_key.trust("JKS")),
        "ssl.truststore.type": "JKS",
        "ssl.truststore.password": PASSWORD,
    }
    listeners = {
        "tls": Listener("SSL", settings=broker_key.settings()),
        "mutual": Listener("SSL", settings=broker_key.settings() | client_auth),
    }
    with Broker(listeners=listeners) as own:
        own.create_topic("seen")
        own.produce("seen", [Record(b"k", b"v")])
        yield own


def trusting(store: Path, kind: str | None, password: str | None = PASSWORD) -> dict[str, str]:
    """Settings of a client with this trust store; `kind` is the type that the settings name."""
    return {
        "ssl.truststore.location": str(store),
        **({} if kind is None else {"ssl.truststore.type": kind}),
        **({} if password is None else {"ssl.truststore.password": password}),
    }


def open_tls(address: str, settings: dict[str, str]) -> Brokers:
    """A client that connects with TLS."""
    keys = {"security.protocol": "SSL"} | settings
    return open_brokers(KafkaConnection(address, tuple(keys.items())), BrokerJvm(jar_folder("jars")).start, 20)


@pytest.mark.parametrize(
    ("kind", "named", "client"),
    [
        ("PKCS12", "PKCS12", JavaBrokers),
        ("JKS", "JKS", JavaBrokers),
        ("JKS", None, JavaBrokers),  # Kafka's default
        ("PEM", "PEM", LibrdkafkaBrokers),
    ],
)
def test_a_client_with_a_trust_store_connects(
    tls_broker: Broker, broker_key: KeyStore, kind: str, named: str | None, client: type[Brokers]
) -> None:
    password = None if kind == "PEM" else PASSWORD
    with closing(open_tls(tls_broker.addresses["tls"], trusting(broker_key.trust(kind), named, password))) as brokers:
        assert isinstance(brokers, client)
        assert brokers.ends([Partition("seen", 0)]) == {Partition("seen", 0): 1}
        assert [record.value for record in brokers.sample("seen", 1)] == [b"v"]


def test_a_key_store_authenticates_the_client(tls_broker: Broker, broker_key: KeyStore, client_key: KeyStore) -> None:
    settings = trusting(broker_key.trust("PKCS12"), "PKCS12") | client_key.settings()

    with closing(open_tls(tls_broker.addresses["mutual"], settings)) as brokers:
        assert "seen" in brokers.topics()


def test_a_processor_with_a_trust_store_has_one_jvm_notices_its_pause_and_ends_with_it(
    tls_broker: Broker, broker_key: KeyStore, tmp_path: Path
) -> None:
    tls_broker.create_topic("numbers")
    tls_broker.create_topic("copied")
    tls_broker.produce("numbers", [Record(b"k", b'{"id": 1}')])
    settings = trusting(broker_key.trust("PKCS12"), "PKCS12")
    env = {name.upper().replace(".", "_"): value for name, value in settings.items()} | {"SECURITY_PROTOCOL": "SSL"}
    sql = "INSERT INTO copied SELECT STREAM * FROM numbers"

    with Runner(tls_broker.addresses["tls"], sql, "trusting", tmp_path, **env) as runner:
        runner.read_to(1)
        jvm = runner.jvm_pid()
        os.kill(jvm, signal.SIGSTOP)
        runner.wait_for(lambda s: "broker-unreachable" in [reason["code"] for reason in s["health"]["reasons"]])
        os.kill(jvm, signal.SIGCONT)
        runner.wait_for(lambda s: not s["health"]["reasons"])
        os.kill(jvm, signal.SIGKILL)
        code = runner.wait(30)

        assert (code, runner.traces()) == (EXIT_RUNTIME, [])
        assert "JVM_GONE" in runner.output()


def test_a_client_without_the_required_certificate_is_refused(tls_broker: Broker, broker_key: KeyStore) -> None:
    settings = trusting(broker_key.trust("PKCS12"), "PKCS12")

    with closing(open_tls(tls_broker.addresses["mutual"], settings)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.topics()

    assert caught.value.code == "BROKER_REFUSED"


def test_brokers_with_an_untrusted_certificate_are_refused(tls_broker: Broker, client_key: KeyStore) -> None:
    settings = trusting(client_key.trust("PKCS12"), "PKCS12")

    with closing(open_tls(tls_broker.addresses["tls"], settings)) as brokers, pytest.raises(LsqlError) as caught:
        brokers.topics()

    assert caught.value.code == "BROKER_REFUSED"
    assert "certification path" in str(caught.value.params["reason"])


@pytest.mark.parametrize(
    ("kind", "password", "why"),
    [("PKCS12", "wrong", "password was incorrect"), ("PEM", PASSWORD, "of type PKCS12")],
)
def test_a_store_that_cannot_be_read_is_reported_with_the_reason(
    broker_key: KeyStore, kind: str, password: str, why: str
) -> None:
    with pytest.raises(LsqlError) as caught:
        open_tls("127.0.0.1:1", trusting(broker_key.trust(kind), "PKCS12", password))

    assert caught.value.code == "KAFKA_SETTINGS_INVALID"
    assert why in str(caught.value.params["reason"])
    assert "xception" not in str(caught.value.params["reason"])
