"""What a sink's writer in the JVM says of a failure, as an error for people."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.errors import LsqlError
from lsql_runner.plan.queries import WriteSink

_SAID = re.compile(r"\[LSQL_SINK\] (?=\{)")


def sink_error(text: str, sink: WriteSink, connections: Mapping[str, SinkConnection]) -> LsqlError | None:
    """The error that com.lsqlrunner.sink.SinkFailure told within a longer text; None if it told none."""
    found = _SAID.search(text)
    if found is None:
        return None
    said, _ = json.JSONDecoder().raw_decode(text, found.end())
    target, why = sink.target, str(said["why"]).rstrip(".") or str(said["kind"])
    url = connections[target.sink].url
    match said["kind"]:
        case "UNREACHABLE":
            return LsqlError("SINK_UNREACHABLE", sink=target.sink, url=url, reason=why)
        case "REFUSED":
            return LsqlError("SINK_REFUSED", sink=target.sink, url=url, reason=why)
        case "MISFIT":
            return LsqlError("SINK_TABLE_MISMATCH", sink=target.sink, table=target.table, reason=why)
        case "ROW" if "topic" in said:
            place = {"topic": said["topic"], "partition": said["partition"], "offset": said["offset"]}
            return LsqlError("SINK_RECORD_REFUSED", sink=target.sink, reason=why, **place)
        case "ROW" if "row" in said:
            return LsqlError("SINK_ROW_REFUSED", sink=target.sink, row=str(said["row"]), reason=why)
        case "ROW":
            return LsqlError("SINK_ROWS_REFUSED", sink=target.sink, reason=why)
    return LsqlError("SINK_FAILED", sink=target.sink, reason=why)
