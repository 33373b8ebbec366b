"""Which parts of the records of a topic an INSERT reads."""

from __future__ import annotations

import pytest

from lsql_runner.formats.catalog import JSON_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.usage import parts_read
from lsql_runner.types import parse_type

KIND = parse_type("struct<a: long, b: string, p: struct<x: long>>")
CATALOG = Catalog(
    {name: TopicSchema(name, Serde(JSON_FORMAT, KIND), Serde(JSON_FORMAT, KIND)) for name in "tu"},
    sinks={"shop": "postgresql"},
)


@pytest.mark.parametrize(
    ("select", "expected"),
    {
        "SELECT STREAM * FROM t": "",
        "SELECT STREAM _topic AS a FROM t": "",
        "SELECT STREAM * FROM t WHERE _key.a = 1": "key",
        "SELECT STREAM *, 1 AS c FROM t": "value",
        "SELECT STREAM *, 1 AS p.y FROM t": "value",
        "SELECT STREAM p.x FROM t": "value",
        "SELECT STREAM a AS _key, * FROM t": "value",
        "SELECT STREAM _key.a AS _key.c, 1 AS d FROM t": "key",
        "SELECT STREAM COUNT(*) AS n FROM t GROUP BY _topic": "",
        "SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 1m GROUP BY _key.a": "key",
        "SELECT STREAM c FROM (SELECT STREAM a AS _key.a, _topic AS c FROM t) WHERE _key.a = 1": "value",
        "SELECT STREAM * FROM (SELECT STREAM b AS c, 1 AS d FROM t)": "value",
        "SELECT STREAM * FROM (SELECT STREAM *, 1 AS d FROM t)": "value",
        "SELECT STREAM d FROM (SELECT STREAM *, _topic AS d FROM t)": "value",
    }.items(),
)
def test_a_part_is_read_by_expressions_or_to_add_fields(select: str, expected: str) -> None:
    write = plan_text(f"SET autocreate=true; INSERT INTO o {select}", CATALOG).plan.writes[0]

    assert parts_read(write) == {"t": frozenset(expected.split())}


def test_each_side_of_a_join_reads_its_own_parts() -> None:
    join = "SELECT STREAM t.b AS b FROM t INNER JOIN u ON t._key.a = u._key.a WITHIN 1m"
    write = plan_text(f"SET autocreate=true; INSERT INTO o {join}", CATALOG).plan.writes[0]

    assert parts_read(write) == {"t": frozenset({"key", "value"}), "u": frozenset({"key"})}


def test_a_sink_reads_the_value() -> None:
    write = plan_text("UPSERT INTO shop.s SELECT * FROM t PK a", CATALOG).plan.writes[0]

    assert "value" in parts_read(write)["t"]
