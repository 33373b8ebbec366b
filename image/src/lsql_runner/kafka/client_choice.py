"""Chooses the Kafka client: librdkafka in this process, or Kafka's Java client in a JVM.

librdkafka is used if it supports the settings, because it starts at once and needs little memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lsql_runner.kafka.channel import Channel
from lsql_runner.kafka.connection import LOGINS, TOKEN_CALLBACKS, KafkaConnection, Security
from lsql_runner.kafka.java_brokers import JavaBrokers
from lsql_runner.kafka.ports import Brokers

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
"""The mechanisms that the wheels of confluent-kafka support."""

_LOGIN_MODULE = re.compile(r"\s*([\w.$]+)\s")


def open_brokers(
    connection: KafkaConnection, open_channel: Callable[[], Channel], request_timeout_s: float = 10.0
) -> Brokers:
    """The brokers, through a client that supports the settings of the connection. The caller closes it.

    Args:
        connection: the address and the settings.
        open_channel: opens a channel to a program with Kafka's Java client, if it is needed.
        request_timeout_s: the deadline of each request, in seconds.

    Raises:
        LsqlError: KAFKA_SETTINGS_INVALID if no client supports the settings; JAVA_MISSING, JARS_MISSING if a JVM is
            needed.
    """
    if java_only_setting(connection) is None:
        from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers  # others call only `java_only_setting`

        return LibrdkafkaBrokers(connection, request_timeout_s)
    return JavaBrokers(connection, open_channel, request_timeout_s)


def java_only_setting(connection: KafkaConnection) -> str | None:
    """A setting that only Kafka's Java client supports; None if librdkafka supports all settings."""
    security = dict(connection.security)
    protocol = security.get("security.protocol", "PLAINTEXT").upper()
    settings = [
        *(_of_sasl(security) if protocol.startswith("SASL") else ()),
        *(_of_ssl(security) if protocol.endswith("SSL") else ()),
    ]
    return settings[0] if settings else None


def _of_sasl(security: Security) -> list[str]:
    settings: list[str] = [key for key in ("sasl.login.class", "sasl.client.callback.handler.class") if key in security]
    if security.get("sasl.mechanism", "GSSAPI") not in _MECHANISMS:  # GSSAPI is Kafka's own default
        settings.append("sasl.mechanism")
    module = _LOGIN_MODULE.match(security.get("sasl.jaas.config", ""))
    if module is not None and module[1] not in LOGINS.values():
        settings.append("sasl.jaas.config")
    if security.get("sasl.login.callback.handler.class", TOKEN_CALLBACKS[0]) not in TOKEN_CALLBACKS:
        settings.append("sasl.login.callback.handler.class")  # librdkafka has the other handlers built in
    return settings


def _of_ssl(security: Security) -> list[str]:
    stores = [
        f"{store}.location"
        for store in ("ssl.truststore", "ssl.keystore")
        if f"{store}.location" in security and security.get(f"{store}.type", "JKS").upper() != "PEM"  # Kafka's default
    ]
    return [*stores, *(key for key in ("ssl.engine.factory.class",) if key in security)]
