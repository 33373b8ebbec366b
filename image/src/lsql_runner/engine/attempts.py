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

ATTEMPT = "lsql_attempt"
ONCE = "lsql_once"
FIT = "lsql_fit"
NOT_NULL = "lsql_not_null"
"""Our own JVM functions of these names are registered with each session."""

FAULT = spark.StructType([spark.StructField(name, STRING) for name in ("side", "code", "message")])
"""Why a record has no value: `read` or `write`, one of the runner's error codes, and one line for people."""

_PLACE_IN_PARSER = r"\s*\((?:start marker )?at \[Source|\s*at \[Source"
"""What the parser of JSON says behind the reason."""

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
    """Which faults are caught, for `attempt`.

    Args:
        read: those of a record that is read.
        write: those of a record that is written.
        all_are: `write` where there is no record that is read: all faults are of what is written.
    """
    kinds: dict[str, tuple[str, str, str]] = {}
    if read:
        kinds |= dict.fromkeys(failures.MALFORMED, (all_are or "read", MALFORMED, MALFORMED))
        kinds |= dict.fromkeys(failures.REFUSED, (all_are or "read", REFUSED, MALFORMED))
    kinds.pop(failures.MISFIT, None)
    if write:
        kinds[failures.MISFIT] = ("write", REFUSED, REFUSED)
        kinds[failures.RECORD_TOO_LARGE] = ("write", TOO_LARGE, TOO_LARGE)
    never = (*failures.REGISTRY, *failures.TOO_LARGE)
    end = rf"{failures.REASON_END}|{_PLACE_IN_PARSER}"
    found = {"kinds": kinds, "never": never, "malformed": failures.NOT_THE_FORMAT.pattern, "end": end}
    return json.dumps(found)


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
    return call(ONCE, identity)


def fit(record: Column, room: str | None, shortens: bool = False) -> Column:
    """A struct of key, value and headers, as its topic takes it.

    Args:
        room: what `room_of` gave; None where nobody knows.
        shortens: what is too large goes without its value, or without all but the headers of ours; else it is an error.
    """
    return record if room is None else call(FIT, record, F.lit(room), F.lit(shortens))


def room_of(batch_bytes: int | None, request_bytes: int, header_bytes: int, compression: str) -> str:
    """How large a record of a topic may be, for `fit`.

    Args:
        batch_bytes: of the topic, after compression.
        request_bytes: of the producer, before it.
        header_bytes: of headers that every record will have besides.
        compression: of the producer.
    """
    room = {"request_bytes": request_bytes, "header_bytes": header_bytes, "compression": compression}
    return json.dumps(room | {"batch_bytes": 2**31 - 1 if batch_bytes is None else batch_bytes})


def not_null(value: Column) -> Column:
    """A value that is never null, though Spark takes it for one that may be."""
    return call(NOT_NULL, value)
