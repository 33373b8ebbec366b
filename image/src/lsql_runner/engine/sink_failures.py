"""What a sink's writer in the JVM says of a failure, as an error for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.engine.failures import innermost
from lsql_runner.errors import LsqlError
from lsql_runner.jvm.java_entries import (
    SINK_FAILED,
    SINK_REFUSED,
    SINK_ROW_REFUSED,
    SINK_TABLE_MISMATCH,
    SINK_UNREACHABLE,
)
from lsql_runner.jvm.java_error import JavaErrors
from lsql_runner.plan.queries import WriteSink

_OF_SINKS = (SINK_UNREACHABLE, SINK_REFUSED, SINK_TABLE_MISMATCH, SINK_ROW_REFUSED, SINK_FAILED)


def sink_error(errors: JavaErrors, sink: WriteSink, connections: Mapping[str, SinkConnection]) -> LsqlError | None:
    """The error of a sink that is among some exceptions; None if none is."""
    found = innermost(errors, _OF_SINKS)
    if found is None:
        return None
    target, said = sink.target, found.parameters
    reason = said.get("reason", found.reason).rstrip(".") or found.condition
    url = connections[target.sink].url
    match found.condition:
        case "LSQL_SINK_UNREACHABLE":
            return LsqlError("SINK_UNREACHABLE", sink=target.sink, url=url, reason=reason)
        case "LSQL_SINK_REFUSED":
            return LsqlError("SINK_REFUSED", sink=target.sink, url=url, reason=reason)
        case "LSQL_SINK_TABLE_MISMATCH":
            return LsqlError("SINK_TABLE_MISMATCH", sink=target.sink, table=target.table, reason=reason)
        case "LSQL_SINK_ROW_REFUSED" if "topic" in said:
            place: dict[str, Any] = {
                "topic": said["topic"],
                "partition": int(said["partition"]),
                "offset": int(said["offset"]),
            }
            return LsqlError("SINK_RECORD_REFUSED", sink=target.sink, reason=reason, **place)
        case "LSQL_SINK_ROW_REFUSED" if "row" in said:
            return LsqlError("SINK_ROW_REFUSED", sink=target.sink, row=said["row"], reason=reason)
        case "LSQL_SINK_ROW_REFUSED":
            return LsqlError("SINK_ROWS_REFUSED", sink=target.sink, reason=reason)
    return LsqlError("SINK_FAILED", sink=target.sink, reason=reason)
