"""Which of librdkafka's errors are a refusal by the brokers, and their message for people."""

from __future__ import annotations

import re

from confluent_kafka import KafkaError

_HANDSHAKE = {KafkaError._AUTHENTICATION, KafkaError._SSL}
_REFUSALS = _HANDSHAKE | {
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
}
# Since TLS 1.3 brokers refuse a client certificate after the handshake; the client calls that a broken connection.
_ALERT = re.compile(r"alert ([a-z ]+): SSL alert number \d+")


def ends_handshake(error: KafkaError) -> bool:
    """Whether the connection failed at credentials or certificates."""
    return error.code() in _HANDSHAKE or _ALERT.search(error.str()) is not None


def is_refusal(error: KafkaError) -> bool:
    """Whether the brokers answered and refused."""
    return error.code() in _REFUSALS or ends_handshake(error)


def reason(error: KafkaError) -> str:
    """What happened; settings have their names in the environment, not librdkafka's."""
    text = error.str()
    if "certificate verify failed" in text:  # the same text for a wrong host name and for an unknown authority
        return (
            "certificate verify failed: the brokers' certificate is of another host than the one asked for, or of an "
            "authority that is not in SSL_TRUSTSTORE_CERTIFICATES"
        )
    if alert := _ALERT.search(text):
        return (
            f"they ended the TLS connection with `{alert[1]}`; the client's certificate is what "
            "SSL_KEYSTORE_CERTIFICATE_CHAIN and SSL_KEYSTORE_KEY hold"
        )
    return text
