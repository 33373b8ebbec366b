"""Which errors of librdkafka mean that the brokers refused the client, and the reasons of BROKER_REFUSED."""

from __future__ import annotations

import re

from confluent_kafka import KafkaError

from lsql_runner.errors import DetailTable

_HANDSHAKE = {KafkaError._AUTHENTICATION, KafkaError._SSL}
_REFUSALS = _HANDSHAKE | {
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
}
# With TLS 1.3 brokers reject a client certificate after the handshake, and librdkafka reports a broken connection.
_ALERT = re.compile(r"alert ([a-z ]+): SSL alert number \d+")
_REASONS = DetailTable(
    {
        "CERTIFICATE_UNTRUSTED": "certificate verify failed: the certificate of the brokers is for another host name, "
        "or its authority is not in SSL_TRUSTSTORE_CERTIFICATES",
        "TLS_ALERT": "the brokers ended the TLS connection with `{alert}`; check the client certificate in "
        "SSL_KEYSTORE_CERTIFICATE_CHAIN and SSL_KEYSTORE_KEY",
    }
)


def is_handshake_error(error: KafkaError) -> bool:
    """Whether the connection failed because of credentials or certificates."""
    return error.code() in _HANDSHAKE or _ALERT.search(error.str()) is not None


def is_refusal(error: KafkaError) -> bool:
    """Whether the brokers answered and refused the request."""
    return error.code() in _REFUSALS or is_handshake_error(error)


def refusal_reason(error: KafkaError) -> str:
    """Why the brokers refused the client: a detail that names the variables to correct, else the text of librdkafka."""
    text = error.str()
    if "certificate verify failed" in text:  # the same text for a wrong host name and for an unknown authority
        return _REASONS("CERTIFICATE_UNTRUSTED")
    if alert := _ALERT.search(text):
        return _REASONS("TLS_ALERT", alert=alert[1])
    return text
