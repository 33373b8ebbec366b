"""Which records a topic accepts, from the settings of the topic."""

from __future__ import annotations

from collections.abc import Mapping

from lsql_runner.kafka.ports import NO_LIMIT_MS, TopicLimits

_BYTES, _CLEANUP, _TYPE = "max.message.bytes", "cleanup.policy", "message.timestamp.type"
_BEFORE, _AFTER = "message.timestamp.before.max.ms", "message.timestamp.after.max.ms"
_DIFFERENCE = "message.timestamp.difference.max.ms"
"""Of both, in brokers before 4.0."""

LIMITING = (_BYTES, _CLEANUP, _TYPE, _BEFORE, _AFTER, _DIFFERENCE)
"""The settings that limit records."""


def limits_of(config: Mapping[str, str | None]) -> TopicLimits:
    """The limits of a topic, from its settings, of which some may be missing."""
    takes_times = config.get(_TYPE) != "LogAppendTime"  # else the broker sets the timestamp
    return TopicLimits(
        batch_bytes=_least(config, _BYTES),
        compacted="compact" in (config.get(_CLEANUP) or ""),
        before_ms=_least(config, _BEFORE, _DIFFERENCE) if takes_times else NO_LIMIT_MS,
        after_ms=_least(config, _AFTER, _DIFFERENCE) if takes_times else NO_LIMIT_MS,
    )


def _least(config: Mapping[str, str | None], *names: str) -> int | None:
    return min((int(value) for name in names if (value := config.get(name)) is not None), default=None)
