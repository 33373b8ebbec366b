"""The workloads: inputs, SQL, and the expected results. The topology and the Flink SQL of a workload have its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from bench import expected
from bench.vessels import CALL_SCHEMA, FAST, VESSEL_SCHEMA, calls, vessels

GRACE = "10m"
"""Of windows and of the join of streams, in all engines (`Topologies.GRACE`, the watermarks in `flink/sql`)."""


@dataclass(frozen=True, slots=True)
class Second:
    """The second input of a join: its topic, its fields with the format of LSQL_TOPICS, and its records."""

    topic: str
    fields: Mapping[str, str]
    records: Callable[[int, int], Iterator[tuple[bytes, bytes, int]]]
    """By the number of reports and the time of the first one in ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The same processing for all engines."""

    name: str
    title: str
    sql: str
    """The SQL of lsql-runner, with `{source}`, `{other}` and `{target}`."""
    expectation: expected.Expectation
    other: Second | None = None
    is_avro: bool = False
    """Whether reports and results are AVRO; JSON otherwise."""


VESSEL_TABLE = Second("bench-vessels", VESSEL_SCHEMA, lambda count, start_ms: vessels(start_ms))
CALLS = Second("bench-calls", CALL_SCHEMA, calls)

_FILTER = (
    f"INSERT INTO {{target}} SELECT STREAM MMSI, Speed, `Long`, Lat, `Timestamp` FROM {{source}} WHERE Speed > {FAST}"
)
_COUNT = "INSERT INTO {{target}} SELECT STREAM COUNT(*) AS n FROM {{source}} WINDOW BY {window} GRACE BY " + GRACE

WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(name="filter", title="JSON filter and project", sql=_FILTER, expectation=expected.fast_reports),
        Workload(
            name="avro",
            title="AVRO to AVRO filter and project",
            sql=_FILTER,
            expectation=expected.fast_reports,
            is_avro=True,
        ),
        Workload(
            name="tumble",
            title="1-minute tumbling count",
            sql=_COUNT.format(window="TUMBLE 1m"),
            expectation=expected.counts_by_minute,
        ),
        Workload(
            name="hop",
            title="5-minute hopping count, by 1 minute",
            sql=_COUNT.format(window="HOP 5m BY 1m"),
            expectation=expected.counts_by_five_minutes,
        ),
        Workload(
            name="session",
            title="30-second session count",
            sql=_COUNT.format(window="SESSION 30s"),
            expectation=expected.counts_by_session,
        ),
        Workload(
            name="stream-table",
            title="stream-table join",
            sql="WITH vessels AS (SELECT TABLE * FROM {other}); "
            "INSERT INTO {target} SELECT STREAM r.MMSI, r.Speed, v.Name "
            "FROM {source} AS r JOIN vessels AS v ON r._key = v._key",
            expectation=expected.named_reports,
            other=VESSEL_TABLE,
        ),
        Workload(
            name="stream-stream",
            title="stream-stream join within 10 s",
            sql="INSERT INTO {target} SELECT STREAM r.MMSI, r.Speed, c.Port "
            f"FROM {{source}} AS r JOIN {{other}} AS c ON r._key = c._key WITHIN 10s GRACE BY {GRACE}",
            expectation=expected.reports_with_calls,
            other=CALLS,
        ),
    )
}


def records_of(workload: Workload, reports: int) -> int:
    """The records that the workload reads if there are so many reports."""
    if workload.other is None:
        return reports
    return reports + sum(1 for _ in workload.other.records(reports, 0))
