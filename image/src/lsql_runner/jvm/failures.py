"""Why a query failed: a record that it cannot process, records that are no longer there, or a temporary error."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal as OneOf

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]

from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.jvm.java import OUT_OF_HEAP, SPARK_OUT_OF_HEAP
from lsql_runner.jvm.java_entries import (
    FUNCTION_FAILED,
    FUNCTION_UNUSABLE,
    GROUP_TOO_LARGE,
    HEADER_INVALID,
    MALFORMED_RECORD,
    OFFSET_MISSING,
    RECORD_EXCEEDS_HEAP,
    RECORD_TOO_LARGE,
    REGISTRY_REFUSED,
    REGISTRY_RESPONSE_TOO_LARGE,
    REGISTRY_UNREACHABLE,
    STORE_FAILED,
    STORE_REFUSED,
    STORE_UNREACHABLE,
    STORE_WITHOUT_CONNECTOR,
    TIMESTAMP_REFUSED,
    TOPIC_RECREATED,
    VALUE_DOES_NOT_FIT_SCHEMA,
)
from lsql_runner.jvm.java_error import JavaError, JavaErrors
from lsql_runner.jvm.java_errors import errors_of

Kind = OneOf[
    "malformed",
    "refused",
    "too-large",
    "function",
    "data-loss",
    "recreated",
    "fenced",
    "store",
    "exceeds-heap",
    "worker-memory",
    "temporary",
]
"""`malformed`, `refused`: an error of a record. `too-large`: a group. `function`: a user-defined function cannot run.
`data-loss`: the next offsets no longer exist. `recreated`: a topic was deleted and created again. `fenced`: the brokers
refuse the producer, because a newer one has its transactional id. `store`: the store with the state. `worker-memory`:
workers ran out of memory. `exceeds-heap`: the same, and the record is known. `temporary`: every other error; the query
is restarted."""

OF_A_RECORD: tuple[Kind, ...] = ("malformed", "refused")

MALFORMED = (MALFORMED_RECORD,)

REFUSED = (
    "CAST_INVALID_INPUT",
    "CAST_OVERFLOW",
    "DIVIDE_BY_ZERO",
    "REMAINDER_BY_ZERO",
    "ARITHMETIC_OVERFLOW",
    "BINARY_ARITHMETIC_OVERFLOW",
    "NUMERIC_VALUE_OUT_OF_RANGE",
    "NUMERIC_OUT_OF_SUPPORTED_RANGE",
    "DECIMAL_PRECISION_EXCEEDS",
    "CANNOT_PARSE_TIME",
    "CANNOT_PARSE_TIMESTAMP",
    "INVALID_DATETIME_PATTERN",
    "INCONSISTENT_BEHAVIOR_CROSS_VERSION",  # another invalid pattern of dates
    "CANNOT_PARSE_DECIMAL",
    "CONVERSION_INVALID_INPUT",
    "MALFORMED_CHARACTER_CODING",
    "DATETIME_OVERFLOW",
    "DATETIME_FIELD_OUT_OF_BOUNDS",
    "INVALID_REGEXP",
    "INVALID_PARAMETER_VALUE",
    "INVALID_FORMAT",
    "INVALID_FRACTION_OF_SECOND",
    "INVALID_TIMEZONE",
    "USER_RAISED_EXCEPTION",
    "FAILED_EXECUTE_UDF",
    "INVALID_ARRAY_INDEX",
    "INVALID_INDEX_OF_ZERO",
    "COLLECTION_SIZE_LIMIT_EXCEEDED",
    "CANNOT_CONVERT_JSON_ROOT_FIELD",
    FUNCTION_FAILED,
    TIMESTAMP_REFUSED,
    HEADER_INVALID,
    VALUE_DOES_NOT_FIT_SCHEMA,
)
REGISTRY = (REGISTRY_UNREACHABLE, REGISTRY_REFUSED, REGISTRY_RESPONSE_TOO_LARGE)
"""The schema registry did not return a schema: not an error of the record."""

TOO_LARGE = (GROUP_TOO_LARGE,)
"""A group whose values exceed the limit of our own aggregates."""

FUNCTION = (FUNCTION_UNUSABLE,)
"""A class or a library of a user-defined function is missing: a record does not change that."""

STORE = {
    STORE_UNREACHABLE: "STATE_STORE_UNREACHABLE",
    STORE_REFUSED: "STATE_STORE_REFUSED",
    STORE_WITHOUT_CONNECTOR: "STATE_STORE_WITHOUT_CONNECTOR",
    STORE_FAILED: "STATE_STORE_FAILED",
}
"""By the condition of a store that did not carry out a request, the code of the error."""

WRITE = (VALUE_DOES_NOT_FIT_SCHEMA, RECORD_TOO_LARGE, TIMESTAMP_REFUSED)
"""Errors of a record when it is written."""

_DATA_LOSS = (OFFSET_MISSING,)
_DATA_LOSS_TYPES = ("OffsetOutOfRangeException",)
TIMESTAMP_TYPES = ("InvalidTimestampException",)
_FENCED_TYPES = ("ProducerFencedException", "InvalidProducerEpochException")
_REASONS = DetailTable(
    {
        "OFFSETS_MISSING": "the next offsets no longer exist",
        "UNKNOWN": "the cause is unknown",
    }
)
_WORKER_MEMORY = re.compile(rf"\bExecutorLostFailure\b.* exited with code ({OUT_OF_HEAP}|{SPARK_OUT_OF_HEAP})\b")
"""What Spark reports when all attempts of a task have ended, the last one with the JVM of its executor."""
_WRAPPERS = ("STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR", "WRITING_JOB_ABORTED")


@dataclass(frozen=True, slots=True)
class Failure:
    """The cause of a failed query."""

    kind: Kind
    reason: str
    """One line for people: no class names, no trace."""
    error: JavaError = JavaError()
    """The exception that determines the kind."""


def classify(error: BaseException | JavaObject) -> Failure:
    """The failure that an exception of Spark or Python reports."""
    return classify_errors(errors_of(error))


def classify_errors(errors: JavaErrors) -> Failure:
    """The failure that an exception and its causes report."""
    kinds: tuple[tuple[Kind, Collection[str]], ...] = (
        ("store", STORE),
        ("recreated", (TOPIC_RECREATED,)),
        ("data-loss", _DATA_LOSS),
        ("function", FUNCTION),
        ("exceeds-heap", (RECORD_EXCEEDS_HEAP,)),
        ("temporary", REGISTRY),
        ("too-large", TOO_LARGE),
        ("malformed", MALFORMED),
        ("refused", REFUSED),
    )
    for kind, conditions in kinds:
        innermost_error = innermost(errors, conditions)
        if innermost_error is not None:
            return _failure(kind, innermost_error)
    lost = next((error for error in errors if error.type in _DATA_LOSS_TYPES), None)
    if lost is not None:
        return Failure("data-loss", lost.reason or _REASONS("OFFSETS_MISSING"), lost)
    refused = next((error for error in errors if error.type in TIMESTAMP_TYPES), None)
    if refused is not None:
        return _failure("refused", refused)
    fenced = next((error for error in errors if error.type in _FENCED_TYPES), None)
    if fenced is not None:
        return _failure("fenced", fenced)
    out_of_memory = next((error for error in errors if _WORKER_MEMORY.search(error.reason)), None)
    if out_of_memory is not None:
        return _failure("worker-memory", out_of_memory)
    informative = [error for error in errors if error.condition not in _WRAPPERS and (error.reason or error.condition)]
    return _failure("temporary", (informative or [*errors])[-1])


def query_error(failure: Failure) -> LsqlError:
    """The error of a query that failed without a record as the cause."""
    match failure.kind:
        case "function":
            return LsqlError("FUNCTION_UNUSABLE", reason=failure.reason)
        case "too-large":
            return LsqlError("GROUP_TOO_LARGE", reason=failure.reason)
        case "data-loss":
            return LsqlError("OFFSETS_OUT_OF_RANGE", reason=failure.reason)
        case "recreated":
            return LsqlError("TOPIC_DELETED", topic=failure.error.parameters["topic"])
        case "worker-memory":
            return LsqlError("WORKERS_OUT_OF_MEMORY")
        case "exceeds-heap":
            parameters = failure.error.parameters
            return LsqlError(
                "RECORDS_EXCEED_WORKER_HEAP",
                topic=parameters["topic"],
                partition=int(parameters["partition"]),
                offset=int(parameters["offset"]),
                next_offset=int(parameters["offset"]) + 1,
                heap_mib=int(parameters["heap_mib"]),
            )
    error = failure.error
    if error.condition == REGISTRY_RESPONSE_TOO_LARGE:
        limit_bytes = int(error.parameters["limit_bytes"])
        return LsqlError("REGISTRY_RESPONSE_TOO_LARGE", url=error.parameters["url"], limit_bytes=limit_bytes)
    return LsqlError("QUERY_FAILED", reason=failure.reason)


def store_error(failure: Failure, uri: str) -> LsqlError:
    """The error of a request to the store of the state at a URI. After the end of the JVM it is STATE_STORE_FAILED."""
    reason = failure.error.parameters.get("reason", failure.reason)
    code = STORE.get(failure.error.condition, "STATE_STORE_FAILED")
    return LsqlError(code, uri=uri, reason=reason.rstrip("."))


def innermost(errors: JavaErrors, conditions: Collection[str]) -> JavaError | None:
    """The innermost exception with one of the conditions; None if there is none."""
    return next((error for error in reversed(errors) if error.condition in conditions), None)


def _failure(kind: Kind, error: JavaError) -> Failure:
    return Failure(kind, error.reason or error.type or _REASONS("UNKNOWN"), error)
