"""Which of librdkafka's errors are a refusal, and their message."""

import pytest
from confluent_kafka import KafkaError

from lsql_runner.kafka.refusals import ends_handshake, is_refusal, reason

ALERT = (
    "ssl://k:1/bootstrap: Receive failed: error:0A000412:SSL routines::ssl/tls alert bad certificate: "
    "SSL alert number 42 (after 0ms in state APIVERSION_QUERY)"
)
UNVERIFIED = (
    "ssl://k:1/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker "
    "certificate could not be verified, verify that ssl.ca.location is correctly configured"
)


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        (KafkaError._TRANSPORT, ALERT, True),
        (KafkaError._SSL, UNVERIFIED, True),
        (KafkaError._AUTHENTICATION, "Invalid username or password", True),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "", True),
        (KafkaError._TRANSPORT, "Connection refused", False),
        (KafkaError._TIMED_OUT, "", False),
    ],
)
def test_a_refusal_differs_from_no_answer(code: int, text: str, expected: bool) -> None:
    assert is_refusal(KafkaError(code, text)) is expected


def test_missing_rights_do_not_end_the_handshake() -> None:
    assert not ends_handshake(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, ""))
    assert ends_handshake(KafkaError(KafkaError._TRANSPORT, ALERT))


def test_an_alert_names_the_variables_of_the_clients_certificate() -> None:
    message = reason(KafkaError(KafkaError._TRANSPORT, ALERT))

    assert "`bad certificate`" in message
    assert "SSL_KEYSTORE_CERTIFICATE_CHAIN" in message


def test_an_unverified_certificate_names_the_variable_of_the_authorities() -> None:
    message = reason(KafkaError(KafkaError._SSL, UNVERIFIED))

    assert "SSL_TRUSTSTORE_CERTIFICATES" in message
    assert "ssl.ca.location" not in message


def test_other_errors_are_reported_unchanged() -> None:
    assert reason(KafkaError(KafkaError._AUTHENTICATION, "Invalid username or password")) == (
        "Invalid username or password"
    )
