"""Which changes of a program continue the state of a query, and which do not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from devkit.edits import (
    CATALOG,
    CONTINUE,
    CONVERTED,
    COUNT,
    DLQ,
    FAIL,
    INTO,
    KEPT,
    KIND,
    NEW_MEANINGS,
    QUEUE,
    REPLACED,
    SUMS,
    TWICE,
    Edit,
)
from lsql_runner.bind.expr import ColumnRef
from lsql_runner.formats.avro import AVRO_FORMAT
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.fingerprint import VERSION, Fingerprint, VersionMismatch, fingerprint
from lsql_runner.plan.meaning import canonical
from lsql_runner.plan.nodes import Aggregate
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.state_changes import conversion_changes
from lsql_runner.types import LONG, STRING, Decimal, Field, Struct


def planned(text: str) -> Plan:
    return plan_text(f"SET autocreate=true; {text}", CATALOG).plan


CONVERSIONS = [
    pytest.param(COUNT, COUNT.replace("COUNT(*)", "MIN(a) AS m, COUNT(*)"), (0, None), id="before it"),
    pytest.param(SUMS, SUMS.replace("COUNT(*) AS n, ", ""), (1, 2), id="without the first"),
    pytest.param(TWICE, TWICE.replace(", SUM(c) AS y", ""), (0,), id="one of two equal ones"),
    pytest.param(SUMS, SUMS.replace("p.x", "CAST(p.x AS DOUBLE)"), (0, 1, 2), id="a wider type"),
    pytest.param(
        SUMS, SUMS.replace("p.x", "CAST(p.x AS DOUBLE)").replace("SELECT STREAM", "SELECT STREAM MAX(a) AS m,"),
        (0, None, 1, 2), id="a wider type, and a new one",
    ),
]  # fmt: skip


def fingerprinted(text: str) -> Fingerprint:
    """The fingerprint of a program after it was written as JSON and read."""
    return Fingerprint.from_json(json.loads(json.dumps(fingerprint(planned(text)).as_json())))


def changes(old: str, new: str) -> list[str]:
    """The reasons why the new program cannot continue the state of the old program."""
    return [change.code.lower() for change in continue_from(planned(new), fingerprinted(old)).changes]


@pytest.mark.parametrize("texts", KEPT.values(), ids=KEPT)
def test_a_compatible_change_continues_the_state(texts: Edit) -> None:
    old, new = texts

    assert changes(old, new) == []


@pytest.mark.parametrize("edit", NEW_MEANINGS.values(), ids=NEW_MEANINGS)
def test_a_state_of_the_same_layout_is_continued_with_a_new_meaning(edit: Edit) -> None:
    old, new, *kinds = edit

    continuation = continue_from(planned(new), fingerprinted(old))

    assert (continuation.changes, continuation.added, continuation.dropped) == ((), (), ())
    (meanings,) = continuation.new_meanings.values()
    assert sorted(change.code.lower() for change in meanings) == sorted(kinds)


@pytest.mark.parametrize("edit", CONVERTED.values(), ids=CONVERTED)
def test_a_state_is_converted_for_other_aggregates(edit: Edit) -> None:
    old, new, *kinds = edit

    continuation = continue_from(planned(new), fingerprinted(old))

    assert (continuation.changes, continuation.new_meanings) == ((), {})
    assert (continuation.added, continuation.dropped) == ((), ())
    (conversion,) = continuation.conversions.values()
    assert sorted(change.code.lower() for change in conversion_changes(conversion)) == sorted(kinds)
    again = continue_from(planned(new), continuation.fingerprint)
    assert (again.conversions, again.plan) == ({}, continuation.plan)


@pytest.mark.parametrize(("old", "new", "expected"), CONVERSIONS)
def test_each_aggregate_of_a_converted_state_continues_one_of_the_same_meaning(
    old: str, new: str, expected: tuple[int | None, ...]
) -> None:
    (conversion,) = continue_from(planned(new), fingerprinted(old)).conversions.values()

    assert conversion.aggregates == expected


@pytest.mark.parametrize(("function", "converts"), [("SUM", False), ("AVG", False), ("MIN", True), ("COUNT", True)])
@pytest.mark.parametrize("wider", [Decimal(8, 4), Decimal(20, 2)], ids=str)
def test_sums_of_decimals_with_more_digits_are_not_converted(function: str, converts: bool, wider: Decimal) -> None:
    """Spark keeps a small sum of decimals as a number without its scale."""

    def plan(kind: Decimal) -> Plan:
        value = Struct((Field("g", STRING), Field("m", kind)))
        schema = TopicSchema("t", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, value))
        sql = f"SET autocreate=true; {INTO} {function}(m) AS s, MAX(g) AS n FROM t GROUP BY g"
        return plan_text(sql, Catalog({"t": schema})).plan

    continuation = continue_from(plan(wider), fingerprint(plan(Decimal(6, 2))))

    assert (bool(continuation.conversions), bool(continuation.changes)) == (converts, not converts)


def test_two_inserts_into_a_target_are_both_converted() -> None:
    first, second = "INSERT INTO o SELECT STREAM COUNT(*) AS n{} FROM {} GROUP BY g;".format, ", MAX(a) AS m"

    continuation = continue_from(
        planned(first("", "t") + first(second, "u")), fingerprinted(first(second, "t") + first("", "u"))
    )

    assert continuation.changes == ()
    assert {name: each.aggregates for name, each in continuation.conversions.items()} == {
        "stateful-0": (0,),
        "stateful-1": (0, None),
    }


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


@pytest.mark.parametrize("edit", REPLACED.values(), ids=REPLACED)
def test_an_incompatible_change_is_reported(edit: Edit) -> None:
    old, new, *kinds = edit

    assert sorted(changes(old, new)) == sorted(kinds)


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
