"""The compared programs, except groups of streams and joins of three sources."""

from __future__ import annotations

from tests.differential import chains, comparison, groups, histories
from tests.differential.aggregates import ALL, WITHOUT_ORDER, calls
from tests.differential.suites import Program, Suite


def _table_filter() -> Program:
    sql = "INSERT INTO `table-filter` SELECT TABLE v, d FROM l WHERE COALESCE(v, 0) > 0"
    return Program("table-filter", sql, "table-filter", comparison.keyed_changelog, fields=("v", "d"))


def _table_groups(name: str, where: str = "", having: str = "") -> Program:
    sql = f"INSERT INTO `{name}` SELECT TABLE {calls(ALL)} FROM l {where} GROUP BY g {having}"
    return Program(name, sql, name, comparison.table, fields=ALL)


def _stream_table(kind: str) -> Program:
    name = f"stream-table-{kind.lower()}"
    return Program(
        name,
        f"WITH t_{kind} AS (SELECT TABLE v FROM r); INSERT INTO `{name}`"
        f" SELECT STREAM a.v AS lv, b.v AS rv FROM l AS a {kind} JOIN t_{kind} AS b ON a.f = b._key",
        "stream-table",
        comparison.events,
        {"kind": kind},
        in_order=True,
    )


def _joined_tables(topology: str, kind: str, condition: str) -> Program:
    name = f"{topology}-{kind.lower()}"
    return Program(
        name,
        f"INSERT INTO `{name}` SELECT TABLE a.v AS lv, b.v AS rv FROM l AS a {kind} JOIN r AS b {condition}",
        topology,
        comparison.table,
        {"kind": kind},
    )


def _groups_of_joined() -> Program:
    return Program(
        "tables-groups",
        "WITH j AS (SELECT TABLE a.g AS g, b.v AS v, b.d AS d, b.t AS t FROM l AS a JOIN r AS b);"
        f" INSERT INTO `tables-groups` SELECT TABLE {calls(WITHOUT_ORDER)} FROM j GROUP BY g",
        "tables-groups",
        comparison.table,
        fields=WITHOUT_ORDER,
    )


def _streams(kind: str, within_ms: int, grace_ms: int) -> Program:
    name = f"streams-{kind.lower()}"
    return Program(
        name,
        f"INSERT INTO `{name}` SELECT STREAM a.v AS lv, b.v AS rv FROM l AS a {kind} JOIN r AS b"
        f" ON a.f = b.f WITHIN {within_ms}ms",
        "streams",
        comparison.events if kind == "INNER" else comparison.matches,
        {"kind": kind, "within_ms": within_ms, "grace_ms": grace_ms},
    )


SUITES = (
    *groups.suites(),
    Suite(
        "table",
        histories.table,
        (
            _table_filter(),
            _table_groups("table-groups"),
            _table_groups("table-groups-where", where="WHERE COALESCE(v, 0) > 0"),
            _table_groups("table-groups-having", having="HAVING COUNT(*) > 1"),
        ),
    ),
    Suite("stream-and-table", histories.stream_and_table, (_stream_table("INNER"), _stream_table("LEFT"))),
    Suite(
        "two-tables",
        histories.two_tables,
        (*(_joined_tables("tables", kind, "") for kind in ("INNER", "LEFT", "RIGHT", "FULL")), _groups_of_joined()),
    ),
    Suite(
        "foreign-keys",
        histories.referring,
        tuple(_joined_tables("foreign-key", kind, "ON a.f = b._key") for kind in ("INNER", "LEFT")),
    ),
    Suite(
        "two-streams",
        histories.two_streams(10_000, 5_000),
        tuple(_streams(kind, 10_000, 5_000) for kind in ("INNER", "LEFT", "RIGHT", "FULL")),
        "SET grace='5s'",
    ),
    *chains.suites(),
)
