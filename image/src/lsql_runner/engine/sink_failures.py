"""Errors of a sink's writer in the JVM, as errors for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.failures import innermost
from lsql_runner.jvm.java_entries import (
    SINK_CERTIFICATE_UNTRUSTED,
    SINK_FAILED,
    SINK_REFUSED,
    SINK_ROW_REFUSED,
    SINK_TABLE_MISMATCH,
    SINK_UNREACHABLE,
)
from lsql_runner.jvm.java_error import JavaErrors
from lsql_runner.plan.queries import WriteSink

_OF_SINKS = (
    SINK_UNREACHABLE,
    SINK_REFUSED,
    SINK_CERTIFICATE_UNTRUSTED,
    SINK_TABLE_MISMATCH,
    SINK_ROW_REFUSED,
    SINK_FAILED,
)


def sink_error(errors: JavaErrors, write: WriteSink, connections: Mapping[str, SinkConnection]) -> LsqlError | None:
    """The innermost error of a sink among an exception and its causes; None if there is none."""
    error = innermost(errors, _OF_SINKS)
    if error is None:
        return None
    target, parameters = write.target, error.parameters
    reason = parameters.get("reason", error.reason).rstrip(".") or error.condition
    url = connections[target.sink].url
    match error.condition:
        case "LSQL_SINK_UNREACHABLE":
            return LsqlError("SINK_UNREACHABLE", sink=target.sink, url=url, reason=reason)
        case "LSQL_SINK_REFUSED":
            return LsqlError("SINK_REFUSED", sink=target.sink, url=url, reason=reason)
        case "LSQL_SINK_CERTIFICATE_UNTRUSTED":
            return LsqlError("SINK_CERTIFICATE_UNTRUSTED", sink=target.sink, url=url, reason=reason)
        case "LSQL_SINK_TABLE_MISMATCH":
            return LsqlError("SINK_TABLE_MISMATCH", sink=target.sink, table=target.table, reason=reason)
        case "LSQL_SINK_ROW_REFUSED" if "topic" in parameters:
            place: dict[str, Any] = {
                "topic": parameters["topic"],
                "partition": int(parameters["partition"]),
                "offset": int(parameters["offset"]),
            }
            return LsqlError("SINK_RECORD_REFUSED", sink=target.sink, reason=reason, **place)
        case "LSQL_SINK_ROW_REFUSED" if "row" in parameters:
            return LsqlError("SINK_ROW_REFUSED", sink=target.sink, row=parameters["row"], reason=reason)
        case "LSQL_SINK_ROW_REFUSED":
            return LsqlError("SINK_ROWS_REFUSED", sink=target.sink, reason=reason)
    return LsqlError("SINK_FAILED", sink=target.sink, reason=reason)
