"""SET: every key that a program may set, in both generations, and what it becomes.

A key is refused with the near names unless a table here knows it; nothing is dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from lsql_runner.bind.error_policies import POLICIES, ErrorPolicies, bind_error_policies
from lsql_runner.bind.kafka_keys import (
    CONSUMER_KEYS,
    IGNORED_KEYS,
    PRODUCER_KEYS,
    TOPIC_KEYS,
    environment_name,
    expected,
)
from lsql_runner.bind.rocksdb_keys import ROCKSDB_IGNORED, ROCKSDB_KEYS
from lsql_runner.bind.setting_values import duration_ms, invalid, multiple_of, one_of, whole_number
from lsql_runner.bind.topic_settings import TOPIC_WORDS, TopicSettings, topic_override, with_override
from lsql_runner.errors import LsqlError
from lsql_runner.sql.ast import SetStatement
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE, unsupported

DEFAULT_GRACE_MS = 24 * 3_600_000
"""How late a record may be, where the program does not say; the value that Kafka Streams had."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
        elif topic_override(statement.key):
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
    modern = any(key.startswith("defaults.topic.") or topic_override(key) for key in keys)
    topics = (key.removeprefix("topic.") for key in keys if key.startswith("topic."))
    legacy = any(key in _LEGACY_KEYS for key in keys) or any(key in TOPIC_KEYS for key in topics)
    return legacy and not modern


def _apply(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    key = statement.key
    for prefix in ("defaults.topic.", "topic."):
        if key.startswith(prefix) and key.removeprefix(prefix) in TOPIC_KEYS:
            return replace(settings, topics=settings.topics.with_config(key.removeprefix(prefix), statement.value))
    name = key.removeprefix("defaults.topic.")
    if name in TOPIC_WORDS:
        return replace(settings, topics=TOPIC_WORDS[name](settings.topics, statement))
    if key in _WORDS:
        return _WORDS[key](settings, statement)
    if key in ROCKSDB_KEYS:
        return replace(settings, rocksdb=(*settings.rocksdb, (key, multiple_of(statement, ROCKSDB_KEYS[key][0]))))
    if key in _IGNORED:
        warning = f"SET {key} has no meaning here and is ignored: {_IGNORED[key]}"
        return replace(settings, warnings=(*settings.warnings, warning))
    return _apply_client(settings, statement)


_IGNORED = {**IGNORED_KEYS, **ROCKSDB_IGNORED}


def _apply_client(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    """A key of Kafka's consumer or producer: bare for both, or behind `consumer.` or `producer.`."""
    key = statement.key
    bare = key.removeprefix("consumer.") if key.startswith("consumer.") else key.removeprefix("producer.")
    name = environment_name(bare)
    if name is not None:
        raise unsupported("key of environment", statement.key_span, key=key, name=name)
    if bare in KEYS_OF_ENGINE:
        raise unsupported(bare, statement.key_span, key=key)
    consumer = bare in CONSUMER_KEYS and not key.startswith("producer.")
    producer = bare in PRODUCER_KEYS and not key.startswith("consumer.")
    if not consumer and not producer:
        raise LsqlError("SETTING_UNKNOWN", statement.key_span, key=key, near=_near(key))
    wanted = expected(bare, statement.value)
    if wanted is not None:
        raise invalid(statement, wanted)
    if consumer:
        settings = replace(settings, consumer=(*settings.consumer, (bare, statement.value)))
    if producer:
        settings = replace(settings, producer=(*settings.producer, (bare, statement.value)))
    return settings


def _near(key: str) -> str:
    known = [
        *_WORDS,
        *POLICIES,
        *TOPIC_WORDS,
        *(f"defaults.topic.{word}" for word in (*TOPIC_WORDS, *TOPIC_KEYS)),
        *CONSUMER_KEYS,
        *PRODUCER_KEYS,
        *ROCKSDB_KEYS,
        *_IGNORED,
    ]
    if found := re.match(r"topic\.[^.]+\.", key):
        known += [found.group() + word for word in (*TOPIC_WORDS, *TOPIC_KEYS)]
    near = get_close_matches(key.lower(), dict.fromkeys(known), n=4, cutoff=0.5)
    return ", ".join(near) or "autocreate, partitions, replication, grace"


def _apply_override(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    found = topic_override(statement.key)
    assert found is not None
    topic, word = found
    after = with_override(settings.topic(topic), word, statement)
    return replace(settings, overrides=tuple({**dict(settings.overrides), topic: after}.items()))


def _guarantee(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    if one_of(statement, "at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2") != "at_least_once":
        raise unsupported("guarantee", statement.value_span, value=statement.value)
    return settings


_WORDS: dict[str, Callable[[ProgramSettings, SetStatement], ProgramSettings]] = {
    "grace": lambda settings, s: replace(settings, grace_ms=duration_ms(s)),
    "auto.offset.reset": lambda settings, s: replace(settings, auto_offset_reset=one_of(s, "earliest", "latest")),
    "decimal.precision": lambda settings, s: replace(settings, decimal_precision=whole_number(s, 1, 38)),
    "decimal.scale": lambda settings, s: replace(settings, decimal_scale=whole_number(s, 0, 38)),
    "_ktype": lambda settings, s: replace(settings, key_decoder=s.value.upper()),
    "_vtype": lambda settings, s: replace(settings, value_decoder=s.value.upper()),
    "emit": lambda settings, s: replace(settings, emits_final=one_of(s, "changes", "final") == "final"),
    "processing.guarantee": _guarantee,
}
