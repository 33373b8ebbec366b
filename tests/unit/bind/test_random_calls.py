"""RANDINT() and UUID() are refused where they change state, and only there."""

from __future__ import annotations

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.types import LONG, STRING, Array, DataType, Field, Struct

COLUMNS: dict[str, DataType] = {"g": STRING, "a": LONG, "xs": Array(LONG)}
KIND = Struct(tuple(Field(name, kind, nullable=False) for name, kind in COLUMNS.items()))
CATALOG = Catalog(
    {name: TopicSchema(name, Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND)) for name in "tu"},
    sinks={"shop": "postgresql"},
)
INTO = "INSERT INTO o SELECT STREAM"
JOINED = f"{INTO} t.a AS a FROM t INNER JOIN u ON"

CHANGES_STATE = {
    "where": f"{INTO} COUNT(*) AS n FROM t WHERE <RANDINT()> > 0 GROUP BY g",
    "group-key": f"{INTO} COUNT(*) AS n FROM t GROUP BY <UUID()>",
    "argument": f"{INTO} SUM(a + <RANDINT()>) AS n FROM t GROUP BY g",
    "having": f"{INTO} COUNT(*) AS n FROM t GROUP BY g HAVING <RANDINT()> > 0",
    "event-time": f"{INTO} COUNT(*) AS n FROM t EVENTTIME BY <RANDINT()> WINDOW BY TUMBLE 1m GROUP BY g",
    "lateral": f"{INTO} COUNT(*) AS n FROM t LATERAL CASE WHEN <RANDINT()> > 0 THEN xs ELSE xs END AS x GROUP BY g",
    "projection-below-aggregate": "WITH v AS (SELECT STREAM <UUID()> AS id FROM t); "
    f"{INTO} MAX(id) AS m FROM v GROUP BY id",
    "join-condition": f"{JOINED} t.g = u.g AND t.a < <RANDINT()> WITHIN 1m",
    "join-key": f"{JOINED} t.g = CONCAT(u.g, <UUID()>) WITHIN 1m",
    "projection-below-join": "WITH v AS (SELECT STREAM <UUID()> AS id, g FROM t); "
    f"{INTO} v.id AS id FROM v INNER JOIN u ON v.g = u.g WITHIN 1m",
    "where-below-join": "WITH v AS (SELECT STREAM g FROM t WHERE <RANDINT()> > 0); "
    f"{INTO} v.g AS g FROM v INNER JOIN u ON v.g = u.g WITHIN 1m",
    "sink": "INSERT INTO shop SELECT STREAM g, COUNT(*) AS n FROM t WHERE <RANDINT()> > 0 GROUP BY g PK g",
}
"""The call is between angle brackets."""


def without_marks(text: str) -> str:
    return text.replace("<RANDINT()>", "RANDINT()").replace("<UUID()>", "UUID()")


@pytest.mark.parametrize("text", CHANGES_STATE.values(), ids=CHANGES_STATE)
def test_a_random_value_that_changes_state_is_refused_at_its_call(text: str) -> None:
    program = f"SET autocreate=true; {text}"
    with pytest.raises(LsqlError) as caught:
        plan_text(without_marks(program), CATALOG)

    name = "UUID()" if "UUID" in text else "RANDINT()"
    start = program.index(f"<{name}>")
    assert caught.value.code == "FEATURE_UNSUPPORTED"
    assert str(caught.value.params["feature"]).startswith(name)
    assert caught.value.span is not None
    assert (caught.value.span.start, caught.value.span.end) == (start, start + len(name))


@pytest.mark.parametrize("text", CHANGES_STATE.values(), ids=CHANGES_STATE)
def test_it_is_allowed_with_at_least_once(text: str) -> None:
    plan_text(without_marks(f"SET autocreate=true; SET processing.guarantee='at_least_once'; {text}"), CATALOG)


@pytest.mark.parametrize(
    "text",
    [
        f"{INTO} UUID() AS id, g FROM t WHERE RANDINT() > 0",
        f"{INTO} UUID() AS id, COUNT(*) AS n FROM t GROUP BY g",
        f"{INTO} UUID() AS id, t.a AS a FROM t INNER JOIN u ON t.g = u.g WITHIN 1m WHERE RANDINT() > 0",
        f"WITH v AS (SELECT STREAM g, COUNT(*) AS n FROM t GROUP BY g); {INTO} UUID() AS id, n FROM v",
    ],
    ids=["stateless", "above-aggregate", "above-join", "above-aggregate-of-with"],
)
def test_a_random_value_that_changes_no_state_is_allowed(text: str) -> None:
    plan_text(f"SET autocreate=true; {text}", CATALOG)
