"""The settings of both Kafka clients."""

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers

SCRAM = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"}


def connection(security: dict[str, str]) -> KafkaConnection:
    return KafkaConnection("k:1", tuple(security.items()))


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        ("PLAIN", "org.apache.kafka.common.security.plain.PlainLoginModule"),
        ("SCRAM-SHA-256", "org.apache.kafka.common.security.scram.ScramLoginModule"),
        ("SCRAM-SHA-512", "org.apache.kafka.common.security.scram.ScramLoginModule"),
    ],
)
def test_a_jaas_line_is_built_from_user_and_password(mechanism: str, module: str) -> None:
    options = connection({"sasl.mechanism": mechanism, "sasl.username": "app", "sasl.password": 'a"b\\c'}).spark()

    assert options["kafka.sasl.jaas.config"] == f'{module} required username="app" password="a\\"b\\\\c";'
    assert "kafka.sasl.password" not in options


def test_a_jaas_line_is_kept_and_gives_librdkafka_user_and_password() -> None:
    line = 'x.LoginModule required username="app" password="a\\"b\\\\c";'
    both = connection(SCRAM | {"sasl.jaas.config": line})

    assert both.spark()["kafka.sasl.jaas.config"] == line
    assert both.librdkafka()["sasl.username"] == "app"
    assert both.librdkafka()["sasl.password"] == 'a"b\\c'


def test_oauth_settings_have_the_names_of_each_client() -> None:
    oauth = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://id/token",
        "sasl.oauthbearer.client.id": "app",
        "sasl.oauthbearer.client.secret": "hush",
        "sasl.oauthbearer.scope": "kafka",
    }
    java, c = connection(oauth).spark(), connection(oauth).librdkafka()

    assert 'clientId="app" clientSecret="hush" scope="kafka"' in java["kafka.sasl.jaas.config"]
    assert java["kafka.sasl.login.callback.handler.class"].endswith("OAuthBearerLoginCallbackHandler")
    assert "kafka.sasl.oauthbearer.client.secret" not in java
    assert (c["sasl.oauthbearer.method"], c["sasl.oauthbearer.client.secret"]) == ("oidc", "hush")


def test_kerberos_is_configured_by_principal_and_keytab() -> None:
    kerberos = {
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.kerberos.principal": "app@REALM",
        "sasl.kerberos.keytab": "/etc/app.keytab",
    }
    java = connection(kerberos).spark()

    assert java["kafka.sasl.jaas.config"] == (
        'com.sun.security.auth.module.Krb5LoginModule required useKeyTab="true" storeKey="true" '
        'principal="app@REALM" keyTab="/etc/app.keytab";'
    )
    assert java["kafka.sasl.kerberos.service.name"] == "kafka"


def test_both_clients_get_certificates_by_value() -> None:
    pem = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": "CA",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "CERT",
        "ssl.keystore.key": "KEY",
        "ssl.endpoint.identification.algorithm": "",
    }
    c = connection(pem).librdkafka()

    assert {name: c[name] for name in ("ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem")} == {
        "ssl.ca.pem": "CA",
        "ssl.certificate.pem": "CERT",
        "ssl.key.pem": "KEY",
    }
    assert c["ssl.endpoint.identification.algorithm"] == "none"
    assert "ssl.truststore.type" not in c
    java = connection(pem).spark()
    assert java["kafka.ssl.truststore.type"] == "PEM"
    assert java["kafka.ssl.engine.factory.class"] == "com.lsqlrunner.tls.PemSslEngineFactory"


def test_a_given_ssl_engine_factory_is_kept() -> None:
    given = {"ssl.keystore.key": "KEY", "ssl.engine.factory.class": "org.example.Mine"}

    assert connection(given).spark()["kafka.ssl.engine.factory.class"] == "org.example.Mine"
    assert "kafka.ssl.engine.factory.class" not in connection({"ssl.truststore.certificates": "CA"}).spark()


def test_a_pem_key_store_gives_librdkafka_certificate_and_key() -> None:
    c = connection({"ssl.keystore.type": "PEM", "ssl.keystore.location": "/tls.pem"}).librdkafka()

    assert (c["ssl.certificate.location"], c["ssl.key.location"]) == ("/tls.pem", "/tls.pem")


@pytest.mark.parametrize(
    "security",
    [
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI"},
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "NONESUCH"},
        {"security.protocol": "SSL", "ssl.truststore.certificates": "no certificate"},
    ],
)
def test_settings_that_librdkafka_does_not_support_are_refused(security: dict[str, str]) -> None:
    with pytest.raises(LsqlError) as caught:
        LibrdkafkaBrokers(connection(security))

    assert caught.value.code == "KAFKA_SETTINGS_INVALID"
