"""Errors of Kafka's clients in the JVM."""

from __future__ import annotations

from lsql_runner.errors import LsqlError
from lsql_runner.jvm.failures import classify
from lsql_runner.kafka.connection import KafkaConnection

_REFUSALS = ("AuthorizationException", "AuthenticationException")


def broker_error(kafka: KafkaConnection, error: Exception) -> LsqlError:
    """BROKER_REFUSED if the brokers refuse the client, BROKERS_TOO_OLD if they do not know a request of exactly-once
    delivery; QUERY_FAILED for other exceptions of py4j and pyspark.
    """
    reason = classify(error).reason
    if "UnsupportedVersionException" in str(error):
        return LsqlError("BROKERS_TOO_OLD", servers=kafka.servers, reason=reason)
    if any(word in str(error) for word in _REFUSALS):
        return LsqlError("BROKER_REFUSED", servers=kafka.servers, reason=reason)
    return LsqlError("QUERY_FAILED", reason=reason)
