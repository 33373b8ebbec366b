"""The settings of the connections to the brokers and to the schema registry."""

from pathlib import Path

import pytest

from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.registry_connection import RegistryConnection, RegistryTls
from tests.unit.config.environment import refused, settings


def test_brokers_are_required() -> None:
    error = refused(SQL_BOOTSTRAP_SERVERS=" ")

    assert (error.code, error.params["name"]) == ("ENV_MISSING", "SQL_BOOTSTRAP_SERVERS")


def test_client_keys_have_the_names_of_kafka() -> None:
    configuration = settings(SASL_MECHANISM="PLAIN", SSL_TRUSTSTORE_LOCATION="/trust.jks", SECURITY_PROTOCOL="SASL_SSL")

    assert dict(configuration.connection.security) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "ssl.truststore.location": "/trust.jks",
    }


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_variables_of_openssl_are_not_client_keys(name: str) -> None:
    assert settings(**{name: "/etc/ssl/cert.pem"}).client_keys == ()


@pytest.mark.parametrize(
    ("servers", "addresses", "protocol"),
    [
        ("kafka:9092", "kafka:9092", "PLAINTEXT"),
        (" a:1 , b:2 ", "a:1,b:2", "PLAINTEXT"),
        ("SSL://a:1,SSL://b:2", "a:1,b:2", "SSL"),
        ("SSL://a:1,b:2", "a:1,b:2", "SSL"),
        ("sasl_ssl://a:1", "a:1", "SASL_SSL"),
        ("[fd00::1]:9092, SSL://[::ffff:10.1.2.3]:1", "[fd00::1]:9092,[::ffff:10.1.2.3]:1", "SSL"),
    ],
)
def test_addresses_can_have_the_protocol(servers: str, addresses: str, protocol: str) -> None:
    connection = settings(SQL_BOOTSTRAP_SERVERS=servers).connection

    assert connection == KafkaConnection(addresses, (("security.protocol", protocol),))


@pytest.mark.parametrize(
    "servers",
    ["kafka", "kafka:", "HTTP://kafka:9092", "a:1;b:2", "a:1,,b:2", "kafka:9092/x", "::1:9092", "[::1]", "[x]:1"],
)
def test_invalid_addresses_are_refused(servers: str) -> None:
    error = refused(SQL_BOOTSTRAP_SERVERS=servers)

    assert (error.code, error.params["value"]) == ("ENV_INVALID", servers)


def test_two_protocols_are_refused() -> None:
    error = refused(SQL_BOOTSTRAP_SERVERS="SSL://a:1,PLAINTEXT://b:2")

    assert error.params["expected"] == "the same protocol for all brokers instead of PLAINTEXT, SSL"


def test_addresses_and_the_variable_must_have_the_same_protocol() -> None:
    assert refused(SQL_BOOTSTRAP_SERVERS="SSL://a:1", SECURITY_PROTOCOL="SASL_SSL").code == "ENV_INVALID"


def test_without_an_address_there_is_no_registry() -> None:
    assert settings(SQL_SCHEMA_REGISTRY_URL=" ", LSQL_SCHEMA_REGISTRY_USER="app").registry is None


def test_addresses_credentials_and_certificates_of_the_registry_are_values_or_files(tmp_path: Path) -> None:
    password, key = tmp_path / "password", tmp_path / "tls.key"
    password.write_text("s3cret\n")
    key.write_text("KEY\n")

    configuration = settings(
        SQL_SCHEMA_REGISTRY_URL="https://a:8081/apis/ccompat/v7/, https://b",
        LSQL_SCHEMA_REGISTRY_USER="app",
        LSQL_SCHEMA_REGISTRY_PASSWORD_FILE=str(password),
        LSQL_SCHEMA_REGISTRY_CA="CA",
        LSQL_SCHEMA_REGISTRY_CERTIFICATE="CHAIN",
        LSQL_SCHEMA_REGISTRY_KEY_FILE=str(key),
        LSQL_SCHEMA_REGISTRY_KEY_PASSWORD="k3y",
    )

    assert configuration.registry == RegistryConnection(
        ("https://a:8081/apis/ccompat/v7", "https://b"), "app", "s3cret", RegistryTls("CA", "CHAIN", "KEY", "k3y")
    )
    assert configuration.files == (password, key)
