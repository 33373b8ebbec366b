"""The errors of Kafka's clients in the JVM."""

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from lsql_runner.engine.broker_errors import broker_error
from lsql_runner.kafka.connection import KafkaConnection

KAFKA = KafkaConnection("kafka:9092")


@pytest.mark.parametrize(
    ("exception", "code"),
    [
        ("org.apache.kafka.common.errors.TopicAuthorizationException: not authorized", "BROKER_REFUSED"),
        ("org.apache.kafka.common.errors.SaslAuthenticationException: wrong password", "BROKER_REFUSED"),
        ("org.apache.kafka.common.errors.UnsupportedVersionException: LIST_TRANSACTIONS", "BROKERS_TOO_OLD"),
        ("org.apache.kafka.common.errors.TimeoutException: no answer", "QUERY_FAILED"),
    ],
)
def test_the_class_of_the_exception_decides(exception: str, code: str) -> None:
    error = broker_error(KAFKA, Py4JError(exception))

    assert (error.code, error.params.get("servers", KAFKA.servers)) == (code, "kafka:9092")
    assert exception.split(": ")[1] in str(error.params["reason"])
