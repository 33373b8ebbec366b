"""Which changes of a program continue the state of a query, and which do not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lsql_runner.bind.expr import ColumnRef
from lsql_runner.formats.avro import AVRO_FORMAT
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.fingerprint import VERSION, Fingerprint, VersionMismatch, fingerprint
from lsql_runner.plan.meaning import canonical
from lsql_runner.plan.nodes import Aggregate
from lsql_runner.plan.queries import Plan
from lsql_runner.types import DOUBLE, LONG, STRING, Array, DataType, Field, Struct

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


def planned(text: str) -> Plan:
    return plan_text(f"SET autocreate=true; {text}", CATALOG).plan


def fingerprinted(text: str) -> Fingerprint:
    """The fingerprint of a program after it was written as JSON and read."""
    return Fingerprint.from_json(json.loads(json.dumps(fingerprint(planned(text)).as_json())))


def changes(old: str, new: str) -> list[str]:
    """The reasons why the new program cannot continue the state of the old program."""
    return [change.code.lower() for change in continue_from(planned(new), fingerprinted(old)).changes]


TWICE = f"""WITH w AS (SELECT STREAM a AS b, a AS c, g FROM t);
{INTO} SUM(b) AS x, SUM(c) AS y FROM w GROUP BY g"""

COMPATIBLE = {
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


@pytest.mark.parametrize("texts", COMPATIBLE.values(), ids=COMPATIBLE)
def test_a_compatible_change_continues_the_state(texts: tuple[str, str]) -> None:
    old, new = texts

    assert changes(old, new) == []


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

NEW_MEANINGS = {
    "filter": (COUNT, FILTERED),
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
    "grace": (MINUTES, MINUTES_AND_AN_HOUR),
    "filter and grace": (MINUTES, MINUTES_AND_AN_HOUR.replace("FROM t", "FROM t WHERE a > 1"), "filter", "grace"),
    "conditions": (f"{COUNT} HAVING COUNT(*) > 1", f"{COUNT} HAVING COUNT(*) > 2"),
    "condition of a lookup": (f"{LOOKUP} AND t.a > 1", f"{LOOKUP} AND t.a > 2", "conditions"),
}


@pytest.mark.parametrize(
    "case", [(kind, *texts) for kind, texts in NEW_MEANINGS.items()], ids=lambda case: str(case[0])
)
def test_a_state_of_the_same_layout_is_continued_with_a_new_meaning(case: tuple[str, ...]) -> None:
    name, old, new, *kinds = case

    continuation = continue_from(planned(new), fingerprinted(old))

    assert (continuation.changes, continuation.added, continuation.dropped) == ((), (), ())
    (meanings,) = continuation.new_meanings.values()
    assert sorted(change.code.lower() for change in meanings) == sorted(kinds or [name])


def test_aggregates_stay_in_the_order_of_the_state() -> None:
    """Their order in a new state is that of their arguments, and `a` is before `p.x`."""
    changed = continue_from(planned(SUMS.replace("p.y", "a")), fingerprinted(SUMS))

    assert _arguments(planned(SUMS)) == [None, ("p", "x"), ("p", "y")]
    assert _arguments(planned(SUMS.replace("p.y", "a"))) == [None, ("a",), ("p", "x")]
    assert _arguments(changed.plan) == [None, ("p", "x"), ("a",)]
    again = continue_from(planned(SUMS.replace("p.y", "a")), Fingerprint.from_json(changed.fingerprint.as_json()))
    assert (again.new_meanings, again.plan) == ({}, changed.plan)


def _arguments(plan: Plan) -> list[tuple[str | int, ...] | None]:
    """The fields that the aggregates of a plan read."""
    (groups,) = [node for query in plan.queries for node in query.stores if isinstance(node, Aggregate)]
    return [call.arg.path if isinstance(call.arg, ColumnRef) else None for _, call in groups.calls]


NEWEST = """WITH w AS (SELECT STREAM a AS _key, g FROM t);
INSERT INTO o SELECT TABLE COUNT(*) AS n FROM w GROUP BY g"""

INCOMPATIBLE = {
    "aggregates": (COUNT, "INSERT INTO o SELECT STREAM SUM(a) AS n FROM t GROUP BY g"),
    "one more aggregate": (
        COUNT,
        "INSERT INTO o SELECT STREAM COUNT(*) AS n, SUM(a) AS s FROM t GROUP BY g",
        "aggregates",
    ),
    "keys": (COUNT, "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY a"),
    "lateral": (
        "INSERT INTO o SELECT STREAM COUNT(*) AS s FROM t LATERAL xs AS x GROUP BY g",
        "INSERT INTO o SELECT STREAM COUNT(*) AS s FROM t LATERAL ys AS x GROUP BY g",
    ),
    "event_time": (COUNT, COUNT.replace("FROM t", "FROM t EVENTTIME BY a")),
    "window": (
        COUNT.replace("GROUP", BY_MINUTE),
        COUNT.replace("GROUP", "WINDOW BY TUMBLE 2m GROUP"),
    ),
    "final": (
        COUNT.replace("GROUP", BY_MINUTE),
        "SET emit='final'; " + COUNT.replace("GROUP", BY_MINUTE),
    ),
    "sources": (COUNT, COUNT.replace("FROM t", "FROM u")),
    "operators": (COUNT, COUNT.replace("STREAM", "TABLE")),
    "row_key": (NEWEST, NEWEST.replace("a AS _key", "g AS _key")),
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
    "one of two equal aggregates removed": (TWICE, TWICE.replace(", SUM(c) AS y", ""), "aggregates"),
    "one of two equal aggregates changed": (TWICE, TWICE.replace("a AS c", "a + 1 AS c"), "aggregates"),
    "argument of a count, errors handled": (
        f"{CONTINUE} {INTO} COUNT(a) AS n FROM t GROUP BY g",
        f"{CONTINUE} {INTO} COUNT(d) AS n FROM t GROUP BY g",
        "aggregates",
    ),
    "argument of a count": (COUNT.replace("*", "a"), COUNT.replace("*", "d"), "aggregates"),
    "an argument that becomes equal to another one": (SUMS, SUMS.replace("p.y", "p.x"), "aggregates"),
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
    "within": (JOIN, JOIN.replace("1m", "2m")),
    "join_kind": (LOOKUP, LOOKUP.replace("INNER", "LEFT")),
    "an inner and an outer join": (JOIN, JOIN.replace("INNER", "LEFT"), "operators"),
    "join_keys": (JOIN, JOIN.replace("t.g = u.g", "t.a = u.a"), "kept_fields", "join_keys"),
    "kept_fields": (JOIN, JOIN.replace("u.d AS d", "u.a AS b")),
    "removed": (COUNT, "INSERT INTO o SELECT STREAM a FROM t"),
}


@pytest.mark.parametrize(
    "case", [(kind, *texts) for kind, texts in INCOMPATIBLE.items()], ids=lambda case: str(case[0])
)
def test_an_incompatible_change_is_reported(case: tuple[str, ...]) -> None:
    name, old, new, *kinds = case

    assert sorted(changes(old, new)) == sorted(kinds or [name])


@pytest.mark.parametrize(("old", "new"), [(FAIL, CONTINUE), (FAIL, DLQ), (CONTINUE, DLQ), (DLQ, CONTINUE), (DLQ, FAIL)])
def test_a_change_of_the_write_policy_is_incompatible(old: str, new: str) -> None:
    assert changes(f"{old} {COUNT}", f"{new} {COUNT}") == ["error_policy"]


@pytest.mark.parametrize("read", ["SET error.policy.read='continue';", f"SET error.policy.read='dlq'; {QUEUE}"])
@pytest.mark.parametrize("write", ["", "SET error.policy.write='continue';"])
def test_a_change_of_the_read_policy_continues_the_state(read: str, write: str) -> None:
    assert changes(f"{write} {COUNT}", f"{read} {write} {COUNT}") == []


def test_a_stateless_program_can_change_its_policy() -> None:
    insert = "INSERT INTO o SELECT STREAM a FROM t"

    assert changes(f"{FAIL} {insert}", f"{DLQ} {insert}") == []


def test_a_change_names_the_insert_and_both_values() -> None:
    (change,) = continue_from(planned(COUNT.replace("FROM t", "FROM u")), fingerprinted(COUNT)).changes

    assert (change.code, change.params) == ("SOURCES", {"target": "o", "was": "t", "now": "u"})
    assert str(change) == "INSERT INTO o reads u instead of t"


def test_a_different_state_layout_is_incompatible() -> None:
    written = fingerprint(planned(COUNT)).as_json()
    written["queries"][0]["state"]["of"]["layout"] = 0

    (change,) = continue_from(planned(COUNT), Fingerprint.from_json(written)).changes

    assert (change.code, change.params["operator"]) == ("LAYOUT", "aggregate")


def test_a_fingerprint_without_a_version_is_refused() -> None:
    prose = {"stateful-0": {"sources": ["t"], "stores": {"aggregate-0": "aggregate in store aggregate-0"}}}

    with pytest.raises(VersionMismatch) as mismatch:
        Fingerprint.from_json(prose)

    assert mismatch.value.version == 0


def test_a_fingerprint_of_a_later_version_is_refused() -> None:
    with pytest.raises(VersionMismatch):
        Fingerprint.from_json({"version": VERSION + 1, "queries": []})


_ID = Struct((Field("id", LONG),))
_BY_BYTES, _BY_TEXT = Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, _ID)
_BY_VALUE = Serde(
    AVRO_FORMAT, _ID, schema='{"type": "record", "name": "K", "fields": [{"name": "id", "type": "long"}]}'
)
_AND_NAME = Serde(JSON_FORMAT, Struct((*_ID.fields, Field("name", STRING))))
_OTHER_VALUE = replace(_BY_VALUE, type=Struct((Field("id", STRING),)))


def _keyed(key: Serde, text: str) -> Plan:
    catalog = Catalog({name: TopicSchema(name, key, Serde(JSON_FORMAT, KIND)) for name in "tu"})
    return plan_text(f"SET autocreate=true; {text}", catalog).plan


_TABLE = "INSERT INTO o SELECT TABLE COUNT(*) AS n FROM t GROUP BY g"
_NEWEST = "WITH w AS (SELECT STREAM * FROM t WHERE a > 1); INSERT INTO o SELECT TABLE COUNT(*) AS n FROM w GROUP BY g"
_LOOKUP = f"WITH w AS (SELECT TABLE * FROM u); {INTO} t.a AS a FROM t INNER JOIN w ON t.g = w.g"
_GROUPS = f"{INTO} COUNT(*) AS n FROM t WINDOW BY TUMBLE 1m"


@pytest.mark.parametrize(("old", "new"), [(_BY_BYTES, _BY_TEXT), (_BY_TEXT, _BY_VALUE), (_BY_VALUE, _OTHER_VALUE)])
@pytest.mark.parametrize(
    ("text", "reason"), [(_TABLE, "row_key"), (_NEWEST, "row_key"), (_LOOKUP, "row_key"), (_GROUPS, "keys")]
)
def test_state_is_not_continued_with_another_identity_of_keys(old: Serde, new: Serde, text: str, reason: str) -> None:
    pinned = Fingerprint.from_json(json.loads(json.dumps(fingerprint(_keyed(old, text)).as_json())))

    assert [change.code.lower() for change in continue_from(_keyed(new, text), pinned).changes] == [reason]


@pytest.mark.parametrize("text", [_TABLE, _LOOKUP, _GROUPS])
def test_the_identity_of_json_keys_does_not_depend_on_their_type(text: str) -> None:
    assert continue_from(_keyed(_AND_NAME, text), fingerprint(_keyed(_BY_TEXT, text))).changes == ()


@pytest.mark.parametrize("text", [_TABLE, _LOOKUP, _GROUPS])
def test_the_identity_of_keys_of_one_type_is_not_described(text: str) -> None:
    """State of earlier versions, whose keys were compared by their bytes, is continued."""
    described = canonical(fingerprint(_keyed(_BY_BYTES, text)).queries[0].state)

    assert "STRING" not in described
    assert '"rows"' not in described
