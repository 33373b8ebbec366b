"""Edits of programs by what they do to state, for tests and for the table in the docs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.types import DOUBLE, LONG, STRING, Array, DataType, Field, Struct

Edit = tuple[str, ...]
"""The program before, the program after, and then the codes of what differs (`plan.state_changes`)."""

PLACE = Struct((Field("x", LONG, nullable=False), Field("y", LONG, nullable=False)))
COLUMNS: dict[str, DataType] = {"p": PLACE, "g": STRING, "a": LONG, "d": DOUBLE, "xs": Array(LONG), "ys": Array(LONG)}
KIND = Struct(tuple(Field(name, kind, nullable=False) for name, kind in COLUMNS.items()))
CATALOG = Catalog(
    {name: TopicSchema(name, Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND)) for name in "tu"},
    sinks={"shop": "postgresql"},
)
QUEUE = "SET dead.letter.queue='dead';"
FAIL, CONTINUE, DLQ = "", "SET error.policy.write='continue';", f"SET error.policy.write='dlq'; {QUEUE}"
INTO, BY_MINUTE = "INSERT INTO o SELECT STREAM", "WINDOW BY TUMBLE 1m GROUP"
SUM_OF_W = f"{INTO} SUM(p.q.z) AS s FROM w GROUP BY g"
COUNT = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
LOOKUP = """WITH w AS (SELECT TABLE * FROM u);
INSERT INTO o SELECT STREAM t.a AS a, w.d AS d FROM t INNER JOIN w ON t.g = w._key"""
JOIN = "INSERT INTO o SELECT STREAM t.a AS a, u.d AS d FROM t INNER JOIN u ON t.g = u.g WITHIN 1m"


TWICE = f"""WITH w AS (SELECT STREAM a AS b, a AS c, g FROM t);
{INTO} SUM(b) AS x, SUM(c) AS y FROM w GROUP BY g"""

KEPT: dict[str, Edit] = {
    "text and comments": (COUNT, "insert into o\nselect stream count(*) as `n` from t group by g -- the same"),
    "name of a result": (COUNT, "INSERT INTO o SELECT STREAM COUNT(*) AS other FROM t GROUP BY g"),
    "target": (COUNT, "INSERT INTO other SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"),
    "order of the SELECT list": (
        "INSERT INTO o SELECT STREAM SUM(a) AS s, COUNT(*) AS n, g FROM t GROUP BY g",
        "INSERT INTO o SELECT STREAM g, COUNT(*) AS n, SUM(a) AS s FROM t GROUP BY g",
    ),
    "expression over results": (
        "INSERT INTO o SELECT STREAM SUM(a) AS s, COUNT(*) AS n FROM t GROUP BY g",
        "INSERT INTO o SELECT STREAM SUM(a) / COUNT(*) AS mean FROM t GROUP BY g",
    ),
    "alias of the source": (COUNT, "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t AS x GROUP BY x.g"),
    "WITH query below the aggregate": (
        COUNT,
        f"WITH w AS (SELECT STREAM g AS k, a FROM t); {INTO} COUNT(*) AS n FROM w GROUP BY k",
    ),
    "names and fields of a WITH query": (
        f"WITH w AS (SELECT STREAM g AS k, a + 1 AS b FROM t); {INTO} SUM(b) AS s FROM w GROUP BY k",
        "WITH v AS (SELECT STREAM *, a + 1 AS c FROM t); INSERT INTO o SELECT STREAM SUM(c) AS s FROM v GROUP BY g",
    ),
    "field added to a struct of a WITH query": (
        "INSERT INTO o SELECT STREAM SUM(p.x) AS s FROM t GROUP BY g",
        f"WITH v AS (SELECT STREAM *, a AS p.z FROM t); {INTO} SUM(p.x) AS s FROM v GROUP BY g",
    ),
    "field of a struct of two WITH queries": (
        "INSERT INTO o SELECT STREAM SUM(a) AS s FROM t GROUP BY g",
        f"WITH v AS (SELECT STREAM *, a AS p.q.z FROM t); WITH w AS (SELECT STREAM *, a AS p.q.v FROM v); {SUM_OF_W}",
    ),
    "order of conditions": (
        "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WHERE a > 1 AND d > 2 GROUP BY g",
        "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WHERE d > 2 AND a > 1 GROUP BY g",
    ),
    "condition moved into a WITH query": (
        "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WHERE a > 1 AND d > 2 GROUP BY g",
        f"WITH w AS (SELECT STREAM * FROM t WHERE a > 1); {INTO} COUNT(*) AS n FROM w WHERE d > 2 GROUP BY g",
    ),
    "two names of one aggregate": (TWICE, TWICE.replace("AS x, SUM", "AS z, SUM")),
    "alias of a LATERAL": (
        "INSERT INTO o SELECT STREAM SUM(x) AS s FROM t LATERAL xs AS x GROUP BY g",
        "INSERT INTO o SELECT STREAM SUM(y) AS s FROM t LATERAL xs AS y GROUP BY g",
    ),
    "expression over a join": (JOIN, JOIN.replace("t.a AS a", "t.a + t.a AS twice")),
    "aliases of a join": (JOIN, JOIN.replace("t.", "x.").replace("FROM t", "FROM t AS x")),
    "read policy": (COUNT, f"SET error.policy.read='dlq'; {QUEUE} {COUNT}"),
}


FINAL = "SET emit='final';"
MINUTES = COUNT.replace("GROUP", BY_MINUTE)
MINUTES_AND_AN_HOUR = COUNT.replace("GROUP", "WINDOW BY TUMBLE 1m GRACE BY 1h GROUP")
SUMS = f"{INTO} SUM(p.x) AS x, COUNT(*) AS n, SUM(p.y) AS y FROM t GROUP BY g"
TABLES = """WITH v AS (SELECT TABLE * FROM t); WITH w AS (SELECT TABLE * FROM u);
INSERT INTO o SELECT TABLE v.a AS a, w.d AS d FROM v INNER JOIN w ON v._key = w._key AND v.a > 1"""
CHAIN = """WITH w AS (SELECT STREAM t.a AS a, t.g AS g FROM t INNER JOIN u ON t.g = u.g WITHIN 1m);
INSERT INTO o SELECT STREAM w.a AS a FROM w INNER JOIN {0} ON w.g = {0}.g WITHIN 1m"""
GRACE_ABOVE_JOIN = """WITH w AS (SELECT STREAM t.a AS a, t.g AS g FROM t INNER JOIN u ON t.g = u.g WITHIN 1m);
INSERT INTO o SELECT STREAM SUM(a) AS s FROM w WINDOW BY TUMBLE 1m {} GROUP BY g"""
FILTERED = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t WHERE a > 1 GROUP BY g"

NEW_MEANINGS: dict[str, Edit] = {
    "a filter": (COUNT, FILTERED, "filter"),
    "filter removed": (FILTERED, COUNT, "filter"),
    "different filter": (FILTERED, FILTERED.replace("1", "2"), "filter"),
    "filter of a side of a join": (
        JOIN,
        f"WITH w AS (SELECT STREAM * FROM u WHERE a > 1); {JOIN.replace('u.', 'w.').replace('JOIN u', 'JOIN w')}",
        "filter",
    ),
    "field of a WITH query": (
        "WITH w AS (SELECT STREAM g, a + 1 AS b FROM t); INSERT INTO o SELECT STREAM SUM(b) AS s FROM w GROUP BY g",
        "WITH w AS (SELECT STREAM g, a + 2 AS b FROM t); INSERT INTO o SELECT STREAM SUM(b) AS s FROM w GROUP BY g",
        "aggregates",
    ),
    "argument of one of two sums": (SUMS, SUMS.replace("p.y", "a"), "aggregates"),
    "grace of a window": (MINUTES, MINUTES_AND_AN_HOUR, "grace"),
    "filter and grace": (MINUTES, MINUTES_AND_AN_HOUR.replace("FROM t", "FROM t WHERE a > 1"), "filter", "grace"),
    "condition in HAVING": (f"{COUNT} HAVING COUNT(*) > 1", f"{COUNT} HAVING COUNT(*) > 2", "conditions"),
    "condition of a lookup": (f"{LOOKUP} AND t.a > 1", f"{LOOKUP} AND t.a > 2", "conditions"),
}


NEWEST = """WITH w AS (SELECT STREAM a AS _key, g FROM t);
INSERT INTO o SELECT TABLE COUNT(*) AS n FROM w GROUP BY g"""

CONVERTED: dict[str, Edit] = {
    "one more aggregate": (
        COUNT,
        "INSERT INTO o SELECT STREAM COUNT(*) AS n, SUM(a) AS s FROM t GROUP BY g",
        "aggregates_added",
    ),
    "an aggregate that depends on the order": (
        COUNT,
        "INSERT INTO o SELECT STREAM LAST(d) AS l, COUNT(*) AS n FROM t GROUP BY g",
        "aggregates_added",
    ),
    "an aggregate of a window, in another order": (
        MINUTES,
        MINUTES.replace("COUNT(*)", "MAXK(a, 2) AS m, AVG(d) AS mean, COUNT(*)"),
        "aggregates_added",
    ),
    "one aggregate less, and another filter": (
        SUMS,
        SUMS.replace(", COUNT(*) AS n", "").replace("FROM t", "FROM t WHERE a > 1"),
        "aggregates_removed",
        "filter",
    ),
    "one aggregate instead of others": (
        SUMS,
        SUMS.replace("SUM(p.x) AS x", "MAX(p.x) AS x").replace(", SUM(p.y) AS y", ""),
        "aggregates_added",
        "aggregates_removed",
    ),
    "one of two equal aggregates removed": (TWICE, TWICE.replace(", SUM(c) AS y", ""), "aggregates_removed"),
    "an argument that becomes equal to another one": (SUMS, SUMS.replace("p.y", "p.x"), "aggregates_removed"),
    "a wider type": (SUMS, SUMS.replace("p.y", "CAST(p.y AS DOUBLE)"), "aggregates_widened"),
    "an aggregate below HAVING": (
        f"{COUNT} HAVING COUNT(*) > 1",
        f"{COUNT.replace('AS n', 'AS n, MIN(a) AS least')} HAVING COUNT(*) > 1",
        "aggregates_added",
    ),
    "an aggregate whose errors are handled": (
        f"{CONTINUE} {SUMS}",
        f"{CONTINUE} {SUMS.replace('COUNT(*) AS n', 'COUNT(*) AS n, MAX(d) AS most')}",
        "aggregates_added",
    ),
}
REPLACED: dict[str, Edit] = {
    "another aggregate": (COUNT, "INSERT INTO o SELECT STREAM SUM(a) AS n FROM t GROUP BY g", "aggregates"),
    "other groups": (COUNT, "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY a", "keys"),
    "another array of LATERAL": (
        "INSERT INTO o SELECT STREAM COUNT(*) AS s FROM t LATERAL xs AS x GROUP BY g",
        "INSERT INTO o SELECT STREAM COUNT(*) AS s FROM t LATERAL ys AS x GROUP BY g",
        "lateral",
    ),
    "another event time": (COUNT, COUNT.replace("FROM t", "FROM t EVENTTIME BY a"), "event_time"),
    "size of a window": (
        COUNT.replace("GROUP", BY_MINUTE),
        COUNT.replace("GROUP", "WINDOW BY TUMBLE 2m GROUP"),
        "window",
    ),
    "final results": (
        COUNT.replace("GROUP", BY_MINUTE),
        "SET emit='final'; " + COUNT.replace("GROUP", BY_MINUTE),
        "final",
    ),
    "another source": (COUNT, COUNT.replace("FROM t", "FROM u"), "sources"),
    "SELECT TABLE instead of SELECT STREAM": (COUNT, COUNT.replace("STREAM", "TABLE"), "operators"),
    "another key of a table": (NEWEST, NEWEST.replace("a AS _key", "g AS _key"), "row_key"),
    "a table of a stream": (NEWEST, NEWEST.replace("STREAM a AS _key, g", "TABLE g"), "row_key"),
    "grace of final results": (f"{FINAL} {MINUTES}", f"{FINAL} {MINUTES_AND_AN_HOUR}", "grace"),
    "grace of a join": (JOIN, f"{JOIN} GRACE BY 1h", "grace"),
    "condition of a join of tables": (TABLES, TABLES.replace("a > 1", "a > 2"), "conditions"),
    "argument of another type": (
        f"{INTO} MIN(a) AS m FROM t GROUP BY g",
        f"{INTO} MIN(d) AS m FROM t GROUP BY g",
        "aggregates",
    ),
    "argument of a sum whose errors are handled": (
        f"{CONTINUE} {SUMS}",
        f"{CONTINUE} {SUMS.replace('p.y', 'a')}",
        "aggregates",
    ),
    "one of two equal aggregates changed": (TWICE, TWICE.replace("a AS c", "a + 1 AS c"), "aggregates"),
    "argument of a count, errors handled": (
        f"{CONTINUE} {INTO} COUNT(a) AS n FROM t GROUP BY g",
        f"{CONTINUE} {INTO} COUNT(d) AS n FROM t GROUP BY g",
        "aggregates",
    ),
    "argument of a count": (COUNT.replace("*", "a"), COUNT.replace("*", "d"), "aggregates"),
    "grace of a window above a join of streams": (
        GRACE_ABOVE_JOIN.format(""),
        GRACE_ABOVE_JOIN.format("GRACE BY 1h"),
        "grace",
    ),
    "sources in another order": (CHAIN.format("t"), CHAIN.format("u"), "source_order"),
    "two aggregates that keep the same": (SUMS, SUMS.replace("p.x", "a").replace("p.y", "a + a"), "aggregates"),
    "argument of an aggregate of a table": (
        SUMS.replace("STREAM", "TABLE"),
        SUMS.replace("STREAM", "TABLE").replace("p.y", "a"),
        "aggregates",
    ),
    "WITHIN of a join": (JOIN, JOIN.replace("1m", "2m"), "within"),
    "a LEFT join instead of an INNER join": (LOOKUP, LOOKUP.replace("INNER", "LEFT"), "join_kind"),
    "an inner and an outer join": (JOIN, JOIN.replace("INNER", "LEFT"), "operators"),
    "keys of a join": (JOIN, JOIN.replace("t.g = u.g", "t.a = u.a"), "kept_fields", "join_keys"),
    "fields of a join of streams": (JOIN, JOIN.replace("u.d AS d", "u.a AS b"), "kept_fields"),
    "no aggregate any more": (COUNT, "INSERT INTO o SELECT STREAM a FROM t", "removed"),
    "HAVING": (COUNT, f"{COUNT} HAVING COUNT(*) > 1", "operators"),
    "policy of errors of writes": (COUNT, f"{CONTINUE} {COUNT}", "error_policy"),
}
EDITS: dict[str, Edit] = {**KEPT, **NEW_MEANINGS, **CONVERTED, **REPLACED}
VALUE = b'{"p": {"x": 1, "y": 2}, "g": "g", "a": 5, "d": 2.5, "xs": [1], "ys": [2]}'
"""A record of both topics."""


def with_topics(program: str, names: Mapping[str, str]) -> str:
    """A program of an edit with other names of its topics: `t`, `u`, `o` and `other`."""
    read = re.sub(r"(?i)\b(from|join) ([tu])\b(?! as)", r"\1 {\2} AS \2", program)
    read = re.sub(r"(?i)\b(from|join) ([tu]) as", r"\1 {\2} AS", read)
    written = re.sub(r"(?i)\binto (o|other)\b", r"INTO {\1}", read)
    return re.sub(r"\{(\w+)\}", lambda match: names[match[1]], f"SET autocreate=true; {written}")
