"""SET: all keys that a program can set, in both dialects of the language.

An unknown key is an error that lists similar keys. A key without effect causes a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal, cast

from lsql_runner.bind.error_policies import POLICY_KEYS, ErrorPolicies, bind_error_policies
from lsql_runner.bind.kafka_settings import (
    CONSUMER_KEYS,
    FIXED_VALUES,
    IGNORED_KEYS,
    PRODUCER_KEYS,
    TOPIC_KEYS,
    environment_name,
    expected_value,
)
from lsql_runner.bind.limits import MAX_PARTITIONS
from lsql_runner.bind.rocksdb_settings import ROCKSDB_IGNORED, ROCKSDB_KEYS
from lsql_runner.bind.setting_values import duration_ms, invalid, multiple_of, one_of, whole_number
from lsql_runner.bind.topic_settings import LSQL_TOPIC_KEYS, TopicSettings, topic_override, with_override
from lsql_runner.errors import LsqlError
from lsql_runner.sql.ast import SetStatement
from lsql_runner.sql.unsupported import KEYS_OF_ENGINE, unsupported

DEFAULT_GRACE_MS = 24 * 3_600_000
"""How late a record can be if the program does not set a grace period; the former default of Kafka Streams."""


DEFAULT_MAX_FUTURE_MS = 24 * 3_600_000
_LONG_MAX = 2**63 - 1

DEFAULT_PACE_MS = 200
DEFAULT_STATEFUL_PACE_MS = 500
"""Of a query with state, whose batches cost twice as much (decision 0023)."""

Guarantee = Literal["at_least_once", "exactly_once"]

DEFAULT_COMMIT_INTERVAL_MS = 100
"""The default of Kafka Streams with exactly-once."""

ProcessingMode = Literal["auto", "batch", "continuous"]
"""`batch`: queries process batches. `continuous`: queries without state process each record when it arrives. `auto`:
the runner chooses; it chooses `continuous`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings:
    """The values of all SET statements of a program."""

    topics: TopicSettings = TopicSettings()
    overrides: Mapping[str, TopicSettings] = field(default_factory=lambda: MappingProxyType({}))
    """By topic, if `topic.<name>.<key>` is set: `topics` with these keys replaced."""
    grace_ms: int = DEFAULT_GRACE_MS
    emits_final: bool = False
    """Whether a window has one result, when it ends, instead of one after each change."""
    auto_offset_reset: str = "earliest"
    decimal_precision: int = 38
    decimal_scale: int = 18
    mode: ProcessingMode = "auto"
    guarantee: Guarantee | None = None
    """How often a result may be written if the processor is killed; None for the default of the processor."""
    commit_interval_ms: int = DEFAULT_COMMIT_INTERVAL_MS
    """With exactly-once: the longest time for which consumers of committed records wait for a record."""
    pace_ms: int | None = None
    """The least time between the beginnings of two batches of a query, except with a backlog; None for the default."""
    max_future_ms: int = DEFAULT_MAX_FUTURE_MS
    """How far a record may be ahead of the wall clock, to advance the event time."""
    state_partitions: int | None = None
    """Into how many partitions the state of each operator is divided; None for the default."""
    consumer: tuple[tuple[str, str], ...] = ()
    producer: tuple[tuple[str, str], ...] = ()
    rocksdb: tuple[tuple[str, int], ...] = ()
    """Values of ROCKSDB_KEYS, in bytes or as a number."""
    errors: ErrorPolicies = ErrorPolicies()
    warnings: tuple[str, ...] = field(default=())

    def topic(self, name: str) -> TopicSettings:
        """How the target topic `name` is created."""
        return self.overrides.get(name, self.topics)

    def pace_of(self, stateful: bool) -> int:
        """The pace of a query in milliseconds."""
        if self.pace_ms is not None:
            return self.pace_ms
        return DEFAULT_STATEFUL_PACE_MS if stateful else DEFAULT_PACE_MS


def bind_settings(statements: Iterable[SetStatement]) -> ProgramSettings:
    """The settings of a program.

    Raises:
        LsqlError: SETTING_UNKNOWN, SETTING_INVALID, SETTING_DUPLICATE, FEATURE_UNSUPPORTED, at the key or the value.
    """
    settings = ProgramSettings()
    seen: dict[str, SetStatement] = {}
    policies: dict[str, SetStatement] = {}
    overrides: list[SetStatement] = []
    for statement in statements:
        first = seen.setdefault(statement.key, statement)
        if first.value != statement.value:
            raise LsqlError(
                "SETTING_DUPLICATE",
                statement.key_span,
                [("first set here", first.span)],
                key=statement.key,
                first=first.value,
                second=statement.value,
            )
        if statement.key in POLICY_KEYS:
            policies[statement.key] = statement  # policies depend on each other
        elif topic_override(statement.key):
            overrides.append(statement)  # applied last: it overrides the defaults, even if these are set after it
        else:
            settings = _apply(settings, statement)
    settings = replace(settings, overrides=_overrides(settings, overrides))
    errors, warnings = bind_error_policies(policies)
    return replace(settings, errors=errors, warnings=(*settings.warnings, *warnings))


_LEGACY_KEYS = frozenset({"autocreate", "partitions", "replication", "_ktype", "_vtype"})


def is_legacy(statements: Iterable[SetStatement]) -> bool:
    """Whether the SET statements are legacy: at least one key is only in the legacy dialect, none in the modern."""
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
    if name in LSQL_TOPIC_KEYS:
        return replace(settings, topics=LSQL_TOPIC_KEYS[name](settings.topics, statement))
    if key in _LSQL_KEYS:
        return _LSQL_KEYS[key](settings, statement)
    if key in ROCKSDB_KEYS:
        return replace(settings, rocksdb=(*settings.rocksdb, (key, multiple_of(statement, ROCKSDB_KEYS[key][0]))))
    if key in _IGNORED:
        warning = f"SET {key} has no effect: {_IGNORED[key]}"
        return replace(settings, warnings=(*settings.warnings, warning))
    return _apply_client(settings, statement)


_IGNORED = {**IGNORED_KEYS, **ROCKSDB_IGNORED}


def _apply_client(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    """A setting of Kafka's consumer or producer: for both without a prefix, or after `consumer.` or `producer.`."""
    key = statement.key
    bare = key.removeprefix("consumer.") if key.startswith("consumer.") else key.removeprefix("producer.")
    name = environment_name(bare)
    if name is not None:
        raise unsupported("key of environment", statement.key_span, key=key, name=name)
    if statement.value.lower() in FIXED_VALUES.get(bare, ()):
        warning = f"SET {key} has no effect: the value is always {statement.value}"
        return replace(settings, warnings=(*settings.warnings, warning))
    if bare in KEYS_OF_ENGINE:
        raise unsupported(bare, statement.key_span, key=key)
    consumer = bare in CONSUMER_KEYS and not key.startswith("producer.")
    producer = bare in PRODUCER_KEYS and not key.startswith("consumer.")
    if not consumer and not producer:
        raise LsqlError("SETTING_UNKNOWN", statement.key_span, key=key, near=_near(key))
    expected = expected_value(bare, statement.value)
    if expected is not None:
        raise invalid(statement, expected)
    if consumer:
        settings = replace(settings, consumer=(*settings.consumer, (bare, statement.value)))
    if producer:
        settings = replace(settings, producer=(*settings.producer, (bare, statement.value)))
    return settings


def _near(key: str) -> str:
    known = [
        *_LSQL_KEYS,
        *POLICY_KEYS,
        *LSQL_TOPIC_KEYS,
        *(f"defaults.topic.{name}" for name in (*LSQL_TOPIC_KEYS, *TOPIC_KEYS)),
        *CONSUMER_KEYS,
        *PRODUCER_KEYS,
        *ROCKSDB_KEYS,
        *_IGNORED,
    ]
    if prefix := re.match(r"topic\.[^.]+\.", key):
        known += [prefix.group() + name for name in (*LSQL_TOPIC_KEYS, *TOPIC_KEYS)]
    near = get_close_matches(key.lower(), dict.fromkeys(known), n=4, cutoff=0.5)
    return ", ".join(near) or "autocreate, partitions, replication, grace"


def _overrides(settings: ProgramSettings, statements: Iterable[SetStatement]) -> Mapping[str, TopicSettings]:
    """The settings of each topic that has its own: the settings of all topics, replaced by the topic's own keys."""
    overrides: dict[str, TopicSettings] = {}
    for statement in statements:
        override = topic_override(statement.key)
        assert override is not None
        topic, key = override
        overrides[topic] = with_override(overrides.get(topic, settings.topics), key, statement)
    return MappingProxyType(overrides)


def _guarantee(settings: ProgramSettings, statement: SetStatement) -> ProgramSettings:
    chosen = one_of(statement, "at_least_once", "exactly_once", "exactly_once_beta", "exactly_once_v2")
    return replace(settings, guarantee="at_least_once" if chosen == "at_least_once" else "exactly_once")


def _keep_settings(settings: ProgramSettings, _: SetStatement) -> ProgramSettings:
    return settings


_LSQL_KEYS: dict[str, Callable[[ProgramSettings, SetStatement], ProgramSettings]] = {
    "max.future.ms": lambda settings, s: replace(settings, max_future_ms=whole_number(s, 0, _LONG_MAX)),
    "grace": lambda settings, s: replace(settings, grace_ms=duration_ms(s)),
    "auto.offset.reset": lambda settings, s: replace(settings, auto_offset_reset=one_of(s, "earliest", "latest")),
    "commit.interval.ms": lambda settings, s: replace(settings, commit_interval_ms=whole_number(s, 1, 600_000)),
    "decimal.precision": lambda settings, s: replace(settings, decimal_precision=whole_number(s, 1, 38)),
    "decimal.scale": lambda settings, s: replace(settings, decimal_scale=whole_number(s, 0, 38)),
    "_ktype": _keep_settings,  # `source_formats` reads both
    "_vtype": _keep_settings,
    "emit": lambda settings, s: replace(settings, emits_final=one_of(s, "changes", "final") == "final"),
    "processing.guarantee": _guarantee,
    "processing.mode": lambda settings, s: replace(
        settings, mode=cast(ProcessingMode, one_of(s, "auto", "batch", "continuous"))
    ),
    "processing.pace": lambda settings, s: replace(settings, pace_ms=duration_ms(s)),
    "state.partitions": lambda settings, s: replace(settings, state_partitions=whole_number(s, 1, MAX_PARTITIONS)),
}
