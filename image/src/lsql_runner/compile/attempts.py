"""Evaluates expressions that may fail on a record so that the result is an error instead of an exception.

Source: docs/decisions/0018-error-policies.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.compile.schema import STRING
from lsql_runner.jvm import failures
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import (
    ACCEPTED_TIME,
    ATTEMPT,
    FIRST_OF_RECORD,
    KNOWN_NOT_NULL,
    LIMIT_RECORD_SIZE,
    RECORD_TOO_LARGE,
)
from lsql_runner.kafka.ports import NO_LIMIT_MS, TopicLimits

RECORD_ERROR = spark.StructType([spark.StructField(name, STRING) for name in ("phase", "code", "message")])
"""The error of a record: `phase` is `read`, `write` or `late`, `code` an error code, `message` one line."""

MALFORMED, REFUSED, TOO_LARGE = "RECORD_MALFORMED", "RECORD_REFUSED", "RECORD_TOO_LARGE"
LATE = "RECORD_LATE"
READ_CODES = (MALFORMED, REFUSED)
WRITE_CODES = (REFUSED, TOO_LARGE)

ORIGIN = ("key", "value", "topic", "partition", "offset", "ts", "headers")
"""The columns of `Origin.record`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The record from which a row was computed, and the error of a failed row."""

    record: Mapping[str, Column]
    """By name in ORIGIN: `key` and `value` as bytes, `ts` in milliseconds since 1970 UTC. Empty for a row of a stateful
    operator: a group or a joined pair."""
    rules: str
    """The errors that are handled: the result of `rules`."""
    error: Column | None = None
    """A RECORD_ERROR, null for valid rows; None before the first attempt."""
    attempts: int = 0
    """The number of attempts so far."""
    unnested: bool = False
    """A record may have several rows, which are adjacent."""
    late_for: Column | None = None
    """The time intervals for which a late record is late; null for other rows. None if late records are dropped."""

    def after(self, attempt: str) -> Origin:
        """The origin after an attempt, whose result is in the column with this name."""
        return replace(self, error=F.col(attempt)["error"], attempts=self.attempts + 1)

    @property
    def of_operator(self) -> bool:
        """Whether the row is the result of a stateful operator, not of a record."""
        return not self.record


def rules(read: bool, write: bool, only_phase: str | None = None) -> str:
    """The errors that `attempt` returns instead of throwing them.

    Args:
        read: whether read errors are returned.
        write: whether write errors are returned.
        only_phase: the phase of all errors: `write` for groups and joined pairs, which have no input record.
    """
    conditions: dict[str, tuple[str, str]] = {}
    if read:
        phase = only_phase or "read"
        conditions |= {name: (phase, REFUSED) for name in failures.REFUSED if name not in failures.WRITE}
        conditions |= dict.fromkeys(failures.MALFORMED, (phase, MALFORMED))
    if write:
        conditions |= {name: ("write", TOO_LARGE if name == RECORD_TOO_LARGE else REFUSED) for name in failures.WRITE}
    return json.dumps(
        {"conditions": conditions, "never": (*failures.REGISTRY, *failures.TOO_LARGE, *failures.FUNCTION)}
    )


def attempt(value: Column, earlier: Column | None, error_rules: str) -> Column:
    """A struct of `value` and `error`, a RECORD_ERROR. If there is an error, the value is null.

    Args:
        value: not computed if there is an earlier error.
        earlier: the error of an earlier attempt.
        error_rules: the errors that are handled: the result of `rules`.
    """
    return call(ATTEMPT, value, F.lit(None).cast(RECORD_ERROR) if earlier is None else earlier, F.lit(error_rules))


def is_first(record_id: Column) -> Column:
    """Whether a row is the first of its record: the id (BINARY) differs from the previous row in the task for
    which this column was evaluated."""
    return call(FIRST_OF_RECORD, record_id)


def accepted_time(ts: Column, limits: TopicLimits, replace: bool = False) -> Column:
    """A timestamp in milliseconds since 1970 UTC, or -1, that a topic accepts.

    Args:
        limits: of the topic. Those that are not known accept every timestamp.
        replace: whether the time of the clock replaces another timestamp; else it fails.
    """
    before, after = (NO_LIMIT_MS if ms is None else ms for ms in (limits.before_ms, limits.after_ms))
    return call(ACCEPTED_TIME, ts, F.lit(before), F.lit(after), F.lit(replace))


def limit_size(record: Column, limits: str | None, shorten: bool = False) -> Column:
    """A struct of key, value and headers within the size limits of its topic.

    Args:
        limits: the result of `size_limits`; None if the limits are not known.
        shorten: whether a record that is too large loses its value, or everything except our headers; else it fails.
    """
    return record if limits is None else call(LIMIT_RECORD_SIZE, record, F.lit(limits), F.lit(shorten))


def size_limits(batch_bytes: int | None, request_bytes: int, header_bytes: int, compression: str) -> str:
    """The size limits of a topic's records, for `limit_size`.

    Args:
        batch_bytes: the topic's limit, after compression; None if it is not known.
        request_bytes: the producer's limit, before compression.
        header_bytes: the size of the headers that are added to every record.
        compression: the producer's compression type.
    """
    limits = {"request_bytes": request_bytes, "header_bytes": header_bytes, "compression": compression}
    return json.dumps(limits | {"batch_bytes": 2**31 - 1 if batch_bytes is None else batch_bytes})


def known_not_null(value: Column) -> Column:
    """The same value, which Spark then considers not nullable. It must never be null."""
    return call(KNOWN_NOT_NULL, value)
