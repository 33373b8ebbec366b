"""A number that passes from JSON to JSON without being computed with has the type NUMBER on its way."""

from __future__ import annotations

import pytest

from lsql_runner.bind.bound import Fields
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.nodes import Project
from lsql_runner.plan.text import show, show_part
from lsql_runner.plan.tree import nodes
from lsql_runner.types import STRING, describe, parse_type

KIND = parse_type("struct<d: double, e: double, a: long, p: struct<x: double, y: long>, xs: array<struct<z: double>>>")
CATALOG = Catalog(
    {
        "t": TopicSchema("t", Serde(JSON_FORMAT, KIND), Serde(JSON_FORMAT, KIND)),
        "u": TopicSchema("u", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND)),
    },
    sinks={"shop": "postgresql"},
)


def projections(text: str) -> list[Project]:
    """The projections of the last INSERT, from the target down."""
    write = plan_text(f"SET autocreate=true; {text}", CATALOG).plan.writes[-1]
    return [node for node in nodes(write.input) if isinstance(node, Project)]


def value_type(projection: str, source: str = "t") -> str:
    (project,) = projections(f"INSERT INTO o SELECT STREAM {projection} FROM {source}")
    return describe(project.value_type)


@pytest.mark.parametrize(
    ("projection", "expected"),
    {
        "d": "struct<d: number>",
        "d AS n, a": "struct<n: number, a: long>",
        "p.x": "struct<x: number>",
        "p": "struct<p: struct<x: number, y: long>>",
        "xs": "struct<xs: array<struct<z: number>>>",
        "xs[0].z": "struct<z: number>",
        "d AS deep.er": "struct<deep: struct<er: number> not null>",
        "_key.d": "struct<d: number>",
        "d AS _value": "number",
        "COALESCE(d, e)": "struct<`COALESCE(d, e)`: number>",
        "CASE WHEN a = 1 THEN d ELSE e + 1 END AS c": "struct<c: number>",
        "d + 1 AS d": "struct<d: double>",
        "ABS(d) AS d": "struct<d: double>",
        "d AS _key.d, a": "struct<a: long>",
        "*, 1 AS p.v": describe(KIND).replace("p: struct<x: double, y: long>, ", "").removesuffix(">")
        + ", p: struct<x: double, y: long, v: int not null> not null>",
    }.items(),
)
def test_a_number_that_passes_through_keeps_its_digits(projection: str, expected: str) -> None:
    assert value_type(projection) == expected


def test_the_numbers_of_a_struct_of_which_a_field_is_set_keep_their_digits() -> None:
    query = "WITH w AS (SELECT STREAM p FROM t); INSERT INTO o SELECT STREAM *, d AS p.d FROM w"
    outer, inner = projections(query.replace("p FROM", "p, d FROM"))

    assert describe(outer.value_type) == "struct<d: number, p: struct<x: number, y: long, d: number> not null>"
    assert describe(inner.value_type) == "struct<p: struct<x: number, y: long>, d: number>"


def test_unchanged_bytes_are_not_decoded() -> None:
    assert value_type("*") == describe(KIND)


def test_a_field_added_to_unchanged_bytes_keeps_its_digits() -> None:
    (project,) = projections("INSERT INTO o SELECT STREAM *, d AS n FROM t")

    assert isinstance(project.value, Fields)
    assert show_part(project.value) == "{*, n: d}"
    assert [describe(expr.type) for _, expr in project.value.fields] == ["number"]


def test_one_expression_computes_with_a_number_that_another_passes_on() -> None:
    (project,) = projections("INSERT INTO o SELECT STREAM d, d * 2 AS twice, e + 1 AS e FROM t WHERE d > 1")

    assert show_part(project.value) == "{d: d, twice: (CAST(d AS double) * 2.0), e: (e + 1.0)}"
    assert [show(node.condition) for node in nodes(project) if hasattr(node, "condition")] == ["(d > 1.0)"]


def test_a_key_is_computed_from_the_number() -> None:
    (project,) = projections("INSERT INTO o SELECT STREAM d AS _key.d, d FROM t")

    assert (show_part(project.key), describe(project.key_type)) == ("{d: CAST(d AS double)}", "struct<d: double>")


def test_only_numbers_that_reach_the_target_are_text_in_a_with_query() -> None:
    top, query = projections(
        "WITH w AS (SELECT STREAM d, e, p FROM t); INSERT INTO o SELECT STREAM d, e * 2 AS e, p.x FROM w WHERE d > 1"
    )

    assert describe(top.value_type) == "struct<d: number, e: double, x: number>"
    assert describe(query.value_type) == "struct<d: number, e: double, p: struct<x: number, y: long>>"


@pytest.mark.parametrize(
    "program",
    {
        "AVRO": "INSERT INTO o STORE VALUE AS AVRO SELECT STREAM d FROM t",
        "a sink": "UPSERT INTO shop.orders SELECT STREAM a, d FROM t PK a",
        "an aggregate": "INSERT INTO o SELECT STREAM MAX(d) AS d FROM t GROUP BY a",
        "a group": "INSERT INTO o SELECT STREAM COUNT(*) AS n, d FROM t GROUP BY d",
        "a join": "INSERT INTO o SELECT STREAM t.d AS d FROM t INNER JOIN u ON t.a = u.a WITHIN 1m",
    }.values(),
)
def test_other_formats_sinks_and_states_have_doubles(program: str) -> None:
    assert all("number" not in describe(project.value_type) for project in projections(program))
