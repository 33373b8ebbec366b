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
    why = said["reason"].rstrip(".") or "no reason was given"
    url = connections[target.sink].url
    match found.condition:
        case "LSQL_SINK_UNREACHABLE":
            return LsqlError("SINK_UNREACHABLE", sink=target.sink, url=url, why=why)
        case "LSQL_SINK_REFUSED":
            return LsqlError("SINK_REFUSED", sink=target.sink, url=url, why=why)
        case "LSQL_SINK_TABLE_MISMATCH":
            return LsqlError("SINK_TABLE_MISFIT", sink=target.sink, table=target.table, why=why)
        case "LSQL_SINK_ROW_REFUSED" if "topic" in said:
            place: dict[str, Any] = {
                "topic": said["topic"],
                "partition": int(said["partition"]),
                "offset": int(said["offset"]),
            }
            return LsqlError("SINK_RECORD_REFUSED", sink=target.sink, reason=why, **place)
        case "LSQL_SINK_ROW_REFUSED":
            row = said.get("row", "(one of a batch, at its commit)")
            return LsqlError("SINK_ROW_REFUSED", sink=target.sink, row=row, reason=why)
    return LsqlError("QUERY_FAILED", reason=f"the sink {target.sink}: {why}")
