"""SET: every key that a program may set, in both generations, and what it becomes.

A key is refused with the near names unless a table here knows it; nothing is dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Literal as OneOf

from lsql_runner.bind.error_policies import POLICIES, ErrorPolicies, bind_error_policies
from lsql_runner.bind.expected import EXPECTED
from lsql_runner.bind.kafka_keys import (
    CONSUMER_KEYS,
    IGNORED_KEYS,
    OWNED_KEYS,
    PRODUCER_KEYS,
    TOPIC_KEYS,
    environment_name,
    expected,
)
from lsql_runner.bind.rocksdb_keys import ROCKSDB_IGNORED, ROCKSDB_KEYS
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.formats.spec import SchemaSetting
from lsql_runner.formats.table import SCHEMA_SETTINGS
from lsql_runner.sql.ast import UNIT_MS, SetStatement

DEFAULT_GRACE_MS = 24 * 3_600_000
"""How late a record may be, where the program does not say; the value that Kafka Streams had."""


@dataclass(frozen=True, slots=True)
class PartSettings:
    """What a program says of the schema that a part of a target is written with."""

    schema: tuple[tuple[str, str], ...] = ()
    """By the key of a SchemaSetting, as `avro.record`."""

    def with_setting(self, key: str, value: str) -> PartSettings:
        return replace(self, schema=tuple(sorted((dict(self.schema) | {key: value}).items())))


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ProgramSettings:
    """All SETs of a program, understood."""

    topics: TopicSettings = TopicSettings()
    overrides: tuple[tuple[str, TopicSettings], ...] = ()
    """By topic, where `topic.<name>.<key>` is set: the defaults with those keys replaced."""
    grace_ms: int = DEFAULT_GRACE_MS
    emits_final: bool = False
    """Windows have one result, when they are over, and not one after each change."""
    auto_offset_reset: str = "earliest"
    decimal_precision: int = 38
    decimal_scale: int = 18
    key_decoder: str | None = None
    value_decoder: str | None = None
    consumer: tuple[tuple[str, str], ...] = ()
    producer: tuple[tuple[str, str], ...] = ()
    rocksdb: tuple[tuple[str, int], ...] = ()
    """Of ROCKSDB_KEYS, with values in the units of the key (bytes, or a number)."""
    errors: ErrorPolicies = ErrorPolicies()
    warnings: tuple[str, ...] = field(default=())

    def topic(self, name: str) -> TopicSettings:
        """How the target topic `name` is made."""
        return dict(self.overrides).get(name, self.topics)


def bind_settings(statements: Iterable[SetStatement]) -> ProgramSettings:
    """Read all SETs.

    Raises:
        LsqlError: SETTING_UNKNOWN, SETTING_INVALID, SETTING_DUPLICATE, FEATURE_UNSUPPORTED, at the key or the value.
    """
    settings = ProgramSettings()
    seen: dict[str, SetStatement] = {}
    policies: dict[str, SetStatement] = {}
    later: list[SetStatement] = []
    for statement in statements:
        first = seen.setdefault(statement.key, statement)
        if first.value != statement.value:
            places = [("first set here", first.span)]
            raise LsqlError(
                "SETTING_DUPLICATE",
                statement.key_span,
                places,
                key=statement.key,
                first=first.value,
                second=statement.value,
            )
        if statement.key in POLICIES:
            policies[statement.key] = statement  # one depends on the other
        elif _topic_override(statement.key):
            later.append(statement)  # an override starts from the defaults, wherever these are set
        else:
            settings = _apply(settings, statement)
    for statement in later:
        settings = _apply_override(settings, statement)
    errors, warnings = bind_error_policies(policies)
    return replace(settings, errors=errors, warnings=(*settings.warnings, *warnings))


_LEGACY_KEYS = frozenset({"autocreate", "partitions", "replication", "_ktype", "_vtype"})


def is_legacy(statements: Iterable[SetStatement]) -> bool:
    """Whether the SETs are of the legacy generation: some have a name that only it has, and none one of the modern."""
    keys = [statement.key for statement in statements]
    modern = any(key.startswith("defaults.topic.") or _topic_override(key) for key in keys)
    topics = (key.removeprefix("topic.") for key in keys if key.startswith("topic."))
    legacy = any(key in _LEGACY_KEYS for key in keys) or any(key in TOPIC_KEYS for key in topics)
    return legacy and not modern


def _apply(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    key = statement.key
    for prefix in ("defaults.topic.", "topic."):
        if key.startswith(prefix) and key.removeprefix(prefix) in TOPIC_KEYS:
            return replace(settings, topics=settings.topics.with_config(key.removeprefix(prefix), statement.value))
    name = key.removeprefix("defaults.topic.")
    if name in _TOPIC_WORDS:
        return replace(settings, topics=_TOPIC_WORDS[name](settings.topics, statement))
    if key in _WORDS:
        return _WORDS[key](settings, statement)
    if key in ROCKSDB_KEYS:
        return replace(settings, rocksdb=(*settings.rocksdb, (key, _multiple(statement, ROCKSDB_KEYS[key][0]))))
    if key in _IGNORED:
        told = f"SET {key} has no meaning here and is ignored: {_IGNORED[key]}"
        return replace(settings, warnings=(*settings.warnings, told))
    return _apply_client(settings, statement)


_IGNORED = {**IGNORED_KEYS, **ROCKSDB_IGNORED}


def _apply_client(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    """A key of Kafka's consumer or producer: bare for both, or behind `consumer.` or `producer.`."""
    key = statement.key
    bare = key.removeprefix("consumer.") if key.startswith("consumer.") else key.removeprefix("producer.")
    name = environment_name(bare)
    instead = OWNED_KEYS.get(bare) if name is None else f"set {name}, in the environment of the processor"
    if instead is not None:
        raise LsqlError("FEATURE_UNSUPPORTED", statement.key_span, feature=f"SET {key}", instead=instead)
    consumer = bare in CONSUMER_KEYS and not key.startswith("producer.")
    producer = bare in PRODUCER_KEYS and not key.startswith("consumer.")
    if not consumer and not producer:
        raise LsqlError("SETTING_UNKNOWN", statement.key_span, key=key, near=_near(key))
    wanted = expected(bare, statement.value)
    if wanted is not None:
        raise _invalid(statement, wanted)
    if consumer:
        settings = replace(settings, consumer=(*settings.consumer, (bare, statement.value)))
    if producer:
        settings = replace(settings, producer=(*settings.producer, (bare, statement.value)))
    return settings


def _near(key: str) -> str:
    known = [
        *_WORDS,
        *POLICIES,
        *_TOPIC_WORDS,
        *(f"defaults.topic.{word}" for word in (*_TOPIC_WORDS, *TOPIC_KEYS)),
        *CONSUMER_KEYS,
        *PRODUCER_KEYS,
        *ROCKSDB_KEYS,
        *_IGNORED,
    ]
    if found := re.match(r"topic\.[^.]+\.", key):
        known += [found.group() + word for word in (*_TOPIC_WORDS, *TOPIC_KEYS)]
    near = get_close_matches(key.lower(), dict.fromkeys(known), n=4, cutoff=0.5)
    return ", ".join(near) or "autocreate, partitions, replication, grace"


# --- topics ---


def _topic_override(key: str) -> tuple[str, str] | None:
    """The topic and the key of `topic.<name>.<key>`; the name may hold dots, so the longest known key wins."""
    if not key.startswith("topic.") or key.removeprefix("topic.") in TOPIC_KEYS:
        return None
    rest = key.removeprefix("topic.")
    for word in sorted((*TOPIC_KEYS, *_TOPIC_WORDS), key=len, reverse=True):
        if rest.endswith("." + word):
            return rest[: -len(word) - 1], word
    return None


def _apply_override(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    found = _topic_override(statement.key)
    assert found is not None
    topic, word = found
    before = settings.topic(topic)
    after = _TOPIC_WORDS[word](before, statement) if word in _TOPIC_WORDS else before.with_config(word, statement.value)
    return replace(settings, overrides=tuple({**dict(settings.overrides), topic: after}.items()))


def _schema_word(
    part: OneOf["key", "value"], setting: SchemaSetting
) -> Callable[[TopicSettings, SetStatement], TopicSettings]:
    """What a SET of a format's schema does to the settings of a topic."""

    def apply(topics: TopicSettings, statement: SetStatement) -> TopicSettings:
        if setting.kind == "boolean":
            value = str(_boolean(statement)).lower()
        else:
            value = _name(statement, dotted=setting.kind == "dotted name")
        if part == "key":
            return replace(topics, key=topics.key.with_setting(setting.key, value))
        return replace(topics, value=topics.value.with_setting(setting.key, value))

    return apply


_TOPIC_WORDS: dict[str, Callable[[TopicSettings, SetStatement], TopicSettings]] = {
    "autocreate": lambda topics, s: replace(topics, autocreate=_boolean(s)),
    "partitions": lambda topics, s: replace(topics, partitions=_whole(s, 1, 100_000)),
    "replication": lambda topics, s: replace(topics, replication=_whole(s, 1, 1_000)),
    **{f"key.{setting.key}": _schema_word("key", setting) for setting in SCHEMA_SETTINGS},
    **{f"value.{setting.key}": _schema_word("value", setting) for setting in SCHEMA_SETTINGS},
}

# --- values ---


def _invalid(statement: SetStatement, expected: Detail) -> LsqlError:
    return LsqlError(
        "SETTING_INVALID", statement.value_span, key=statement.key, value=statement.value, expected=expected
    )


def _boolean(statement: SetStatement) -> bool:
    if statement.value.lower() not in ("true", "false"):
        raise _invalid(statement, EXPECTED("BOOLEAN"))
    return statement.value.lower() == "true"


def _whole(statement: SetStatement, least: int, most: int) -> int:
    if not re.fullmatch(r"\d{1,9}", statement.value) or not least <= int(statement.value) <= most:
        raise _invalid(statement, EXPECTED("INTEGER_RANGE", least=least, most=most))
    return int(statement.value)


def _multiple(statement: SetStatement, unit: int) -> int:
    found = re.fullmatch(r"\d{1,15}", statement.value, re.ASCII)
    if not found or not int(statement.value) or int(statement.value) % unit:
        raise _invalid(statement, EXPECTED("POSITIVE_INTEGER") if unit == 1 else EXPECTED("BYTES_MULTIPLE", unit=unit))
    return int(statement.value)


def _name(statement: SetStatement, dotted: bool) -> str:
    part = r"[A-Za-z_][A-Za-z0-9_]*"
    if not re.fullmatch(rf"{part}(\.{part})*" if dotted else part, statement.value):
        raise _invalid(statement, EXPECTED("DOTTED_NAME") if dotted else EXPECTED("NAME"))
    return statement.value


def _duration_ms(statement: SetStatement) -> int:
    found = re.fullmatch(r"(\d{1,12})\s*(ms|s|m|h|d)", statement.value.strip().lower())
    if not found:
        raise _invalid(statement, EXPECTED("DURATION"))
    return int(found[1]) * UNIT_MS[found[2]]


def _one_of(statement: SetStatement, *words: str) -> str:
    if statement.value.lower() not in words:
        raise _invalid(statement, EXPECTED("ONE_OF", known=", ".join(words)))
    return statement.value.lower()


def _only(word: str, *planned: str) -> Callable[[ProgramSettings, SetStatement], ProgramSettings]:
    """A key that has one value in this version and others that are refused by name."""

    def apply(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
        if _one_of(statement, word, *planned) != word:
            feature = f"SET {statement.key}='{statement.value}'"
            raise LsqlError("FEATURE_UNSUPPORTED", statement.value_span, feature=feature, instead=f"use {word}")
        return settings

    return apply


_WORDS: dict[str, Callable[[ProgramSettings, SetStatement], ProgramSettings]] = {
    "grace": lambda settings, s: replace(settings, grace_ms=_duration_ms(s)),
    "auto.offset.reset": lambda settings, s: replace(settings, auto_offset_reset=_one_of(s, "earliest", "latest")),
    "decimal.precision": lambda settings, s: replace(settings, decimal_precision=_whole(s, 1, 38)),
    "decimal.scale": lambda settings, s: replace(settings, decimal_scale=_whole(s, 0, 38)),
    "_ktype": lambda settings, s: replace(settings, key_decoder=s.value.upper()),
    "_vtype": lambda settings, s: replace(settings, value_decoder=s.value.upper()),
    "emit": lambda settings, s: replace(settings, emits_final=_one_of(s, "changes", "final") == "final"),
    "processing.guarantee": _only("at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2"),
}
