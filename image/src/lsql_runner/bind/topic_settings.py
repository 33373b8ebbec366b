"""SET statements for the topics that a program creates: for all of them, or for one topic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from lsql_runner.bind.kafka_settings import TOPIC_KEYS
from lsql_runner.bind.setting_values import boolean, schema_name, whole_number
from lsql_runner.formats.spec import SchemaSetting
from lsql_runner.formats.table import SCHEMA_SETTINGS
from lsql_runner.sql.ast import SetStatement


@dataclass(frozen=True, slots=True)
class PartSettings:
    """The settings of a program for the schema of a target's keys or values."""

    schema: tuple[tuple[str, str], ...] = ()
    """Values by the key of a SchemaSetting, for example `avro.record`."""

    def with_setting(self, key: str, value: str) -> PartSettings:
        return replace(self, schema=tuple(sorted((dict(self.schema) | {key: value}).items())))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """How a missing target topic is created. For None and the empty tuple the brokers use their defaults."""

    autocreate: bool = False
    partitions: int | None = None
    replication: int | None = None
    config: tuple[tuple[str, str], ...] = ()
    key: PartSettings = PartSettings()
    value: PartSettings = PartSettings()

    def with_config(self, key: str, value: str) -> TopicSettings:
        return replace(self, config=tuple(sorted((dict(self.config) | {key: value}).items())))


def topic_override(key: str) -> tuple[str, str] | None:
    """The topic and the key of `topic.<name>.<key>`. The name can contain dots: the longest known key wins."""
    if not key.startswith("topic.") or key.removeprefix("topic.") in TOPIC_KEYS:
        return None
    rest = key.removeprefix("topic.")
    for known in sorted((*TOPIC_KEYS, *LSQL_TOPIC_KEYS), key=len, reverse=True):
        if rest.endswith("." + known):
            return rest[: -len(known) - 1], known
    return None


def with_override(before: TopicSettings, key: str, statement: SetStatement) -> TopicSettings:
    """The settings of one topic with a key of LSQL_TOPIC_KEYS or TOPIC_KEYS replaced."""
    apply = LSQL_TOPIC_KEYS.get(key)
    return before.with_config(key, statement.value) if apply is None else apply(before, statement)


def _schema_setter(
    part: OneOf["key", "value"], setting: SchemaSetting
) -> Callable[[TopicSettings, SetStatement], TopicSettings]:
    """A function that applies a SET of a format's schema setting to the settings of a topic."""

    def apply(settings: TopicSettings, statement: SetStatement) -> TopicSettings:
        if setting.kind == "boolean":
            value = str(boolean(statement)).lower()
        else:
            value = schema_name(statement, dotted=setting.kind == "dotted name")
        if part == "key":
            return replace(settings, key=settings.key.with_setting(setting.key, value))
        return replace(settings, value=settings.value.with_setting(setting.key, value))

    return apply


LSQL_TOPIC_KEYS: dict[str, Callable[[TopicSettings, SetStatement], TopicSettings]] = {
    "autocreate": lambda settings, s: replace(settings, autocreate=boolean(s)),
    "partitions": lambda settings, s: replace(settings, partitions=whole_number(s, 1, 100_000)),
    "replication": lambda settings, s: replace(settings, replication=whole_number(s, 1, 1_000)),
    **{f"key.{setting.key}": _schema_setter("key", setting) for setting in SCHEMA_SETTINGS},
    **{f"value.{setting.key}": _schema_setter("value", setting) for setting in SCHEMA_SETTINGS},
}
"""The keys that LSQL adds to Kafka's TOPIC_KEYS."""
