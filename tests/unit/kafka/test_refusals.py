"""Which errors of librdkafka are refusals, and their reasons."""

import pytest
from confluent_kafka import KafkaError

from lsql_runner.errors import Detail
from lsql_runner.kafka.refusals import is_handshake_error, is_refusal, refusal_reason

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
def test_refusals_are_distinguished_from_missing_responses(code: int, text: str, expected: bool) -> None:
    assert is_refusal(KafkaError(code, text)) is expected


def test_missing_permissions_are_no_error_of_the_handshake() -> None:
    assert not is_handshake_error(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, ""))
    assert is_handshake_error(KafkaError(KafkaError._TRANSPORT, ALERT))


def test_an_alert_names_the_variables_of_the_client_certificate() -> None:
    reason = refusal_reason(KafkaError(KafkaError._TRANSPORT, ALERT))

    assert isinstance(reason, Detail)
    assert (reason.code, reason.params) == ("TLS_ALERT", {"alert": "bad certificate"})
    assert "SSL_KEYSTORE_CERTIFICATE_CHAIN" in reason


def test_an_unverified_certificate_names_the_variable_of_the_authorities() -> None:
    reason = refusal_reason(KafkaError(KafkaError._SSL, UNVERIFIED))

    assert isinstance(reason, Detail)
    assert reason.code == "CERTIFICATE_UNTRUSTED"
    assert "SSL_TRUSTSTORE_CERTIFICATES" in reason
    assert "ssl.ca.location" not in reason


def test_other_errors_are_reported_unchanged() -> None:
    assert refusal_reason(KafkaError(KafkaError._AUTHENTICATION, "Invalid username or password")) == (
        "Invalid username or password"
    )
