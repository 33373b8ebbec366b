"""SETs of topics that a program makes, for all of them or for one by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lsql_runner.bind.kafka_keys import TOPIC_KEYS
from lsql_runner.bind.setting_values import boolean, plain_name, whole_number
from lsql_runner.sql.ast import SetStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSettings:
    """What a part of a target is written with."""

    record: str = ""
    """AVRO: the name of its record; empty takes one from the topic's."""
    namespace: str = ""
    message: str = ""
    """PROTOBUF: the name of its message; empty takes one from the topic's."""
    package: str = ""
    json_schema: bool | None = None
    """JSON: whether records begin with the id of a schema that is registered; None is as the source's do."""

    def named(self, name: str) -> PartSettings:
        """The same, with a name where none is set."""
        return replace(self, record=self.record or name, message=self.message or name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """How a missing target topic is made. None and the empty tuple leave the choice to the brokers."""

    autocreate: bool = False
    partitions: int | None = None
    replication: int | None = None
    config: tuple[tuple[str, str], ...] = ()
    key: PartSettings = PartSettings()
    value: PartSettings = PartSettings()

    def with_config(self, key: str, value: str) -> TopicSettings:
        return replace(self, config=tuple(sorted((dict(self.config) | {key: value}).items())))


def topic_override(key: str) -> tuple[str, str] | None:
    """The topic and the key of `topic.<name>.<key>`; the name may hold dots, so the longest known key wins."""
    if not key.startswith("topic.") or key.removeprefix("topic.") in TOPIC_KEYS:
        return None
    rest = key.removeprefix("topic.")
    for word in sorted((*TOPIC_KEYS, *TOPIC_WORDS), key=len, reverse=True):
        if rest.endswith("." + word):
            return rest[: -len(word) - 1], word
    return None


def with_override(before: TopicSettings, word: str, statement: SetStatement) -> TopicSettings:
    """The settings of one topic, with a key of TOPIC_WORDS or TOPIC_KEYS replaced."""
    return TOPIC_WORDS[word](before, statement) if word in TOPIC_WORDS else before.with_config(word, statement.value)


def _record(part: PartSettings, statement: SetStatement) -> PartSettings:
    return replace(part, record=plain_name(statement, dotted=False))


def _namespace(part: PartSettings, statement: SetStatement) -> PartSettings:
    return replace(part, namespace=plain_name(statement, dotted=True))


def _message(part: PartSettings, statement: SetStatement) -> PartSettings:
    return replace(part, message=plain_name(statement, dotted=False))


def _package(part: PartSettings, statement: SetStatement) -> PartSettings:
    return replace(part, package=plain_name(statement, dotted=True))


TOPIC_WORDS: dict[str, Callable[[TopicSettings, SetStatement], TopicSettings]] = {
    "autocreate": lambda topics, s: replace(topics, autocreate=boolean(s)),
    "partitions": lambda topics, s: replace(topics, partitions=whole_number(s, 1, 100_000)),
    "replication": lambda topics, s: replace(topics, replication=whole_number(s, 1, 1_000)),
    "key.avro.record": lambda topics, s: replace(topics, key=_record(topics.key, s)),
    "key.avro.namespace": lambda topics, s: replace(topics, key=_namespace(topics.key, s)),
    "key.json.schema": lambda topics, s: replace(topics, key=replace(topics.key, json_schema=boolean(s))),
    "key.protobuf.message": lambda topics, s: replace(topics, key=_message(topics.key, s)),
    "key.protobuf.package": lambda topics, s: replace(topics, key=_package(topics.key, s)),
    "value.avro.record": lambda topics, s: replace(topics, value=_record(topics.value, s)),
    "value.avro.namespace": lambda topics, s: replace(topics, value=_namespace(topics.value, s)),
    "value.protobuf.message": lambda topics, s: replace(topics, value=_message(topics.value, s)),
    "value.protobuf.package": lambda topics, s: replace(topics, value=_package(topics.value, s)),
    "value.json.schema": lambda topics, s: replace(topics, value=replace(topics.value, json_schema=boolean(s))),
}
"""Our own keys of a topic that the program makes; TOPIC_KEYS are Kafka's."""
