"""The ids that brokers give to topics. For LibrdkafkaBrokers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

_BITS = (1 << 64) - 1


def topic_ids(admin: AdminClient, topics: Iterable[str], timeout_s: float) -> dict[str, str]:
    """The ids of topics, as `TopicReader.topic_ids` returns them.

    Raises:
        KafkaException, TimeoutError: an error of the brokers, or no answer.
    """
    asked = list(topics)
    if not asked:
        return {}
    ids: dict[str, str] = {}
    for topic, future in admin.describe_topics(TopicCollection(asked), request_timeout=timeout_s).items():
        try:
            ids[topic] = _hexadecimal(future.result(timeout_s * 2).topic_id)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
    return ids


def _hexadecimal(topic_id: Any) -> str:
    high, low = topic_id.get_most_significant_bits() & _BITS, topic_id.get_least_significant_bits() & _BITS
    return f"{high:016x}{low:016x}" if high or low else ""
