"""Expressions that may fail on a record: evaluated so that the record then has an error in place of a value.

Source: docs/decisions/0018-error-policies.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.engine import failures
from lsql_runner.engine.call import call
from lsql_runner.engine.schema import STRING
from lsql_runner.jvm.java_entries import ATTEMPT, FIRST_OF_RECORD, LIMIT_RECORD_SIZE, NOT_NULL, RECORD_TOO_LARGE

FAULT = spark.StructType([spark.StructField(name, STRING) for name in ("side", "code", "message")])
"""Why a record has no value: `read` or `write`, one of the runner's error codes, and one line for people."""

MALFORMED, REFUSED, TOO_LARGE = "RECORD_MALFORMED", "RECORD_REFUSED", "RECORD_TOO_LARGE"
READ_CODES = (MALFORMED, REFUSED)
WRITE_CODES = (REFUSED, TOO_LARGE)

ORIGIN = ("key", "value", "topic", "partition", "offset", "ts", "headers")
"""The columns of an origin."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The record that a row was made of, and the error of a row that has no values any more."""

    record: Mapping[str, Column]
    """ORIGIN, over the frame: `key` and `value` as they came, `ts` in milliseconds since 1970 UTC. Empty for a row that
    an operator made, a group or a pair: it stands for itself."""
    rules: str
    error: Column | None = None
    """A FAULT, null for rows that are well; None before the first attempt."""
    attempts: int = 0
    unnested: bool = False
    """There may be several rows of one record. They follow one another."""

    def after(self, attempt: str) -> Origin:
        """With the error of an attempt that is a column of this name."""
        return replace(self, error=F.col(attempt)["error"], attempts=self.attempts + 1)

    @property
    def of_operator(self) -> bool:
        """Whether no record is behind the row, but an operator that keeps something."""
        return not self.record


def rules(read: bool, write: bool, all_are: str | None = None) -> str:
    """Which errors of a record are caught, for `attempt`.

    Args:
        read: those of a record that is read.
        write: those of a record that is written.
        all_are: `write` where there is no record that is read: all errors are of what is written.
    """
    conditions: dict[str, tuple[str, str]] = {}
    if read:
        side = all_are or "read"
        conditions |= {name: (side, REFUSED) for name in failures.REFUSED if name not in failures.WRITE}
        conditions |= dict.fromkeys(failures.MALFORMED, (side, MALFORMED))
    if write:
        conditions |= {name: ("write", TOO_LARGE if name == RECORD_TOO_LARGE else REFUSED) for name in failures.WRITE}
    return json.dumps({"conditions": conditions, "never": (*failures.REGISTRY, *failures.TOO_LARGE)})


def attempt(value: Column, earlier: Column | None, by: str) -> Column:
    """A struct of `value` and `error`, a FAULT; one of the two is null.

    Args:
        value: not computed where there is an error already.
        earlier: an error that the record may have.
        by: what `rules` gave.
    """
    return call(ATTEMPT, value, F.lit(None).cast(FAULT) if earlier is None else earlier, F.lit(by))


def is_first(identity: Column) -> Column:
    """Whether a BINARY differs from that of the row before for which this was asked, in a task."""
    return call(FIRST_OF_RECORD, identity)


def limit_size(record: Column, limits: str | None, shortens: bool = False) -> Column:
    """A struct of key, value and headers that is no larger than its topic takes.

    Args:
        limits: what `size_limits` gave; None where they are not known.
        shortens: a record that is too large loses its value, or all but our own headers; else it is an error.
    """
    return record if limits is None else call(LIMIT_RECORD_SIZE, record, F.lit(limits), F.lit(shortens))


def size_limits(batch_bytes: int | None, request_bytes: int, header_bytes: int, compression: str) -> str:
    """How large a record of a topic may be, for `limit_size`.

    Args:
        batch_bytes: of the topic, after compression.
        request_bytes: of the producer, before it.
        header_bytes: of headers that every record will have besides.
        compression: of the producer.
    """
    limits = {"request_bytes": request_bytes, "header_bytes": header_bytes, "compression": compression}
    return json.dumps(limits | {"batch_bytes": 2**31 - 1 if batch_bytes is None else batch_bytes})


def not_null(value: Column) -> Column:
    """A value that is never null, though Spark takes it for one that may be."""
    return call(NOT_NULL, value)
