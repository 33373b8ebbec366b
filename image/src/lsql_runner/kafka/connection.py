"""Settings of the connection to the brokers, for librdkafka in this process and for Kafka's Java client in the JVM.

Settings have the keys of the Java client (`sasl.mechanism`, `ssl.truststore.certificates`), and additional keys from
which a JAAS line is built: user and password, OAuth client, Kerberos principal and keytab.
Sources: the configuration references of Apache Kafka 3.9 and of librdkafka 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsql_runner.jvm.java_entries import SSL_ENGINE_FACTORY

Security = dict[str, str]


@dataclass(frozen=True, slots=True)
class KafkaConnection:
    """`servers` is `host:port,...`; `security` contains the keys `security.protocol`, `sasl.*` and `ssl.*`."""

    servers: str
    security: tuple[tuple[str, str], ...] = ()

    def librdkafka(self) -> dict[str, str | int | float | bool]:
        """Configuration for confluent-kafka's clients."""
        return {
            "bootstrap.servers": self.servers,
            "socket.connection.setup.timeout.ms": 5_000,
            "log_level": 0,
            **_for_librdkafka(dict(self.security)),
        }

    def java(self) -> dict[str, str]:
        """Configuration for Kafka's Java client."""
        return {"bootstrap.servers": self.servers, **_for_java(dict(self.security))}

    def spark(self) -> dict[str, str]:
        """Options of the topic source and sink in Spark."""
        return {f"kafka.{key}": value for key, value in self.java().items()}


LOGINS = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "OAUTHBEARER": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    "GSSAPI": "com.sun.security.auth.module.Krb5LoginModule",
}
"""The login module of each mechanism."""

_LOGIN_OPTIONS = {
    "sasl.username": "username",
    "sasl.password": "password",
    "sasl.oauthbearer.client.id": "clientId",
    "sasl.oauthbearer.client.secret": "clientSecret",
    "sasl.oauthbearer.scope": "scope",
    "sasl.kerberos.principal": "principal",
    "sasl.kerberos.keytab": "keyTab",
}
"""Keys that Kafka's Java client supports only as options of its login module."""

_KERBEROS = 'useKeyTab="true" storeKey="true" '
TOKEN_CALLBACKS = (
    "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler",
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
)
"""Classes that fetch a token from `sasl.oauthbearer.token.endpoint.url`; the older name first."""


def _for_java(security: Security) -> Security:
    """The keys of the Java client. If there is no JAAS line, it is built from user, password and other options."""
    keys = {key: value for key, value in security.items() if key not in _LOGIN_OPTIONS}
    mechanism = security.get("sasl.mechanism", "GSSAPI")
    given = {option: security[key] for key, option in _LOGIN_OPTIONS.items() if key in security}
    if given and "sasl.jaas.config" not in keys and mechanism in LOGINS:
        options = " ".join(f'{name}="{_escape(value)}"' for name, value in given.items())
        kerberos = _KERBEROS if mechanism == "GSSAPI" else ""
        keys["sasl.jaas.config"] = f"{LOGINS[mechanism]} required {kerberos}{options};"
    if mechanism == "OAUTHBEARER" and "sasl.oauthbearer.token.endpoint.url" in keys:
        keys.setdefault("sasl.login.callback.handler.class", TOKEN_CALLBACKS[0])
    if "ssl.keystore.key" in keys:
        # Reads private keys in every form that librdkafka reads; the Java client reads few of them.
        keys.setdefault("ssl.engine.factory.class", SSL_ENGINE_FACTORY)
    return keys


_SAME = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.username",
    "sasl.password",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.kerberos.service.name",
    "sasl.kerberos.principal",
    "sasl.kerberos.keytab",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
)
_RENAMED = {
    "ssl.truststore.location": "ssl.ca.location",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_JAAS = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def _for_librdkafka(security: Security) -> Security:
    """The keys of librdkafka; keys that only the Java client uses are left out."""
    settings = {key: security[key] for key in _SAME if key in security}
    settings |= {new: security[old] for old, new in _RENAMED.items() if old in security}
    if "ssl.keystore.location" in security:  # PEM, with certificate and key in one file; librdkafka supports no others
        settings |= dict.fromkeys(("ssl.certificate.location", "ssl.key.location"), security["ssl.keystore.location"])
    keys_of = {option: key for key, option in _LOGIN_OPTIONS.items()}
    for option, value in _JAAS.findall(security.get("sasl.jaas.config", "")):
        if option in keys_of:
            settings[keys_of[option]] = re.sub(r"\\(.)", r"\1", value)
    if security.get("sasl.mechanism") == "OAUTHBEARER" and "sasl.oauthbearer.token.endpoint.url" in security:
        settings["sasl.oauthbearer.method"] = "oidc"
    if settings.get("ssl.endpoint.identification.algorithm") == "":
        settings["ssl.endpoint.identification.algorithm"] = "none"  # librdkafka's value for not checking host names
    return settings


def _escape(value: str) -> str:
    """A value, escaped for use between quotes in a JAAS line."""
    return value.replace("\\", "\\\\").replace('"', '\\"')
