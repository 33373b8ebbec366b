"""SETs of topics that a program makes, for all of them or for one by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from lsql_runner.bind.kafka_keys import TOPIC_KEYS
from lsql_runner.bind.setting_values import boolean, plain_name, whole_number
from lsql_runner.formats.spec import SchemaSetting
from lsql_runner.formats.table import SCHEMA_SETTINGS
from lsql_runner.sql.ast import SetStatement


@dataclass(frozen=True, slots=True)
class PartSettings:
    """What a program sets for the schema with which a key or value of a target is written."""

    schema: tuple[tuple[str, str], ...] = ()
    """Values by the key of a SchemaSetting, for example `avro.record`."""

    def with_setting(self, key: str, value: str) -> PartSettings:
        return replace(self, schema=tuple(sorted((dict(self.schema) | {key: value}).items())))


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


def _schema_word(
    part: OneOf["key", "value"], setting: SchemaSetting
) -> Callable[[TopicSettings, SetStatement], TopicSettings]:
    """Applies a SET of a format's schema to the settings of a topic."""

    def apply(topics: TopicSettings, statement: SetStatement) -> TopicSettings:
        if setting.kind == "boolean":
            value = str(boolean(statement)).lower()
        else:
            value = plain_name(statement, dotted=setting.kind == "dotted name")
        if part == "key":
            return replace(topics, key=topics.key.with_setting(setting.key, value))
        return replace(topics, value=topics.value.with_setting(setting.key, value))

    return apply


TOPIC_WORDS: dict[str, Callable[[TopicSettings, SetStatement], TopicSettings]] = {
    "autocreate": lambda topics, s: replace(topics, autocreate=boolean(s)),
    "partitions": lambda topics, s: replace(topics, partitions=whole_number(s, 1, 100_000)),
    "replication": lambda topics, s: replace(topics, replication=whole_number(s, 1, 1_000)),
    **{f"key.{setting.key}": _schema_word("key", setting) for setting in SCHEMA_SETTINGS},
    **{f"value.{setting.key}": _schema_word("value", setting) for setting in SCHEMA_SETTINGS},
}
"""Our own keys of a topic that the program makes; TOPIC_KEYS are Kafka's."""
