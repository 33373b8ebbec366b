"""The rights that the brokers grant to this client, on topics, groups and transactional ids. For LibrdkafkaBrokers."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient

from lsql_runner.kafka.connection import KafkaConnection
from lsql_runner.kafka.group_requests import retry_while_loading

MAX_TRANSACTION_MS = 2_147_483_647
"""A time-out of transactions that brokers refuse after they have checked the rights: so they store nothing."""

_UNREAD_LOG = logging.getLogger(f"{__name__}.unread")
_UNREAD_LOG.addHandler(logging.NullHandler())
_UNREAD_LOG.propagate = False


def topic_operations(admin: AdminClient, topics: Iterable[str], timeout_s: float) -> dict[str, set[str]]:
    """The operations that are allowed, by topic, as the protocol names them (`READ`).

    Topics that do not exist are left out, and all topics if the brokers are too old to return rights.

    Raises:
        KafkaException, TimeoutError: another error of the brokers, or no answer.
    """
    asked = list(topics)
    if not asked:
        return {}
    futures = admin.describe_topics(
        TopicCollection(asked), include_authorized_operations=True, request_timeout=timeout_s
    )
    operations: dict[str, set[str]] = {}
    for topic, future in futures.items():
        try:
            allowed = future.result(timeout_s * 2).authorized_operations
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                operations[topic] = set()
            elif code != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
        else:
            if allowed:  # a client that may describe a topic has this right; old brokers return no rights
                operations[topic] = {operation.name for operation in allowed}
    return operations


def may_read_group(admin: AdminClient, name: str, timeout_s: float) -> bool:
    """Whether the client may read the positions of a group and commit them; True if old brokers return no rights.

    Raises:
        KafkaException, TimeoutError: another error of the brokers, or no answer.
    """

    # A request for positions needs Describe only, and its response comes from a coordinator that is ready:
    # `GroupRequests` has the reason.
    def operations() -> Any:
        described = admin.describe_consumer_groups(
            [name], include_authorized_operations=True, request_timeout=timeout_s
        )
        return described[name].result(timeout_s * 2).authorized_operations

    try:
        granted = retry_while_loading(operations, timeout_s)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            return False
        raise
    return not granted or "READ" in {operation.name for operation in granted}


def may_write_transactional_id(connection: KafkaConnection, name: str, timeout_s: float) -> bool:
    """Whether the client may use a transactional id. The brokers store nothing.

    Raises:
        KafkaException: another error of the brokers, or no answer.
    """
    settings = {"transactional.id": name, "transaction.timeout.ms": MAX_TRANSACTION_MS}
    # Without a logger, librdkafka prints the refusal, which it calls fatal, to stderr.
    producer = Producer({**connection.librdkafka(), **settings}, logger=_UNREAD_LOG)
    try:
        producer.init_transactions(timeout_s)
    except KafkaException as error:
        code = error.args[0].code()
        if code == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
            return False
        if code != KafkaError.INVALID_TRANSACTION_TIMEOUT:
            raise
    return True
