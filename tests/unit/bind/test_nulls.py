"""NULL: errors in the modern dialect, conditions that exclude NULL, and nullable fields of the output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lsql_runner.bind.declarations import program_schemas
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Catalog
from lsql_runner.pipeline import plan_text
from lsql_runner.sql.parser import parse
from tests.golden.catalog import CATALOG


def plan_error(text: str, catalog: Catalog = CATALOG) -> str | None:
    """The code and, if it has one, the field of the error of a program; None if the program is valid."""
    try:
        plan_text(text, catalog)
    except LsqlError as error:
        return " ".join([error.code, *([str(error.params["field"])] if "field" in error.params else [])])
    return None


SELECT = "INSERT INTO t SELECT STREAM celsius * 2 AS c FROM readings"


@pytest.mark.parametrize(
    "program",
    [
        SELECT,
        f"SET defaults.topic.autocreate=true; {SELECT}",
        f"SET autocreate=true; SET defaults.topic.partitions=3; {SELECT}",
        f"SET autocreate=true; SET topic.t.partitions=3; {SELECT}",
        f"SET grace='3s'; SET compression.type=lz4; {SELECT}",
        f"SET autocreate=true; {SELECT} WINDOW BY TUMBLE 1m".replace("celsius * 2", "SUM(celsius * 2)"),
        f"SET autocreate=true; {SELECT} EVENTTIME BY _ts",
        f"WITH a AS ({SELECT.removeprefix('INSERT INTO t ')}); INSERT INTO t SELECT STREAM * FROM a",
    ],
)
def test_a_nullable_operand_is_an_error_in_a_modern_select(program: str) -> None:
    assert plan_error(program) == "NULL_OPERAND celsius"


@pytest.mark.parametrize(
    "program",
    [
        f"SET autocreate=true; {SELECT}",
        f"SET topic.cleanup.policy=compact; {SELECT}",
        SELECT.replace("STREAM ", ""),
        f"{SELECT} WHERE _vtype=JSON",
        "INSERT INTO t SELECT STREAM SUM(celsius * 2) AS c FROM readings GROUP BY TUMBLE(1,m), sensor",
        "INSERT INTO t WITH a AS (SELECT STREAM celsius * 2 AS c FROM readings) SELECT STREAM c + 1 AS d FROM a",
    ],
)
def test_a_nullable_operand_is_valid_in_a_legacy_select(program: str) -> None:
    assert plan_error(program) is None


@pytest.mark.parametrize(
    "condition",
    [
        "celsius IS NOT NULL",
        "NOT celsius IS NULL",
        "ISNOTNULL(celsius)",
        "EXISTS(celsius) AND sensor = 'a'",
        "NOT (celsius IS NULL OR sensor = 'a')",
        "(celsius IS NOT NULL AND sensor = 'a') OR (ISNOTNULL(celsius) AND sensor = 'b')",
    ],
)
def test_where_excludes_null(condition: str) -> None:
    assert plan_error(f"{SELECT} WHERE {condition}") is None


@pytest.mark.parametrize(
    "condition",
    [
        "celsius IS NULL",
        "place IS NOT NULL",
        "celsius IS NOT NULL OR sensor = 'a'",
        "NOT (celsius IS NOT NULL AND sensor = 'a')",
        "NOT (celsius IS NULL AND sensor = 'a')",
    ],
)
def test_a_field_stays_nullable_after_other_conditions(condition: str) -> None:
    assert plan_error(f"{SELECT} WHERE {condition}") == "NULL_OPERAND celsius"


def test_a_branch_of_case_excludes_null_in_the_next_branches() -> None:
    case = "CASE WHEN celsius IS NULL THEN 0 WHEN sensor = 'a' THEN celsius + 1 ELSE celsius * 2 END"
    assert plan_error(SELECT.replace("celsius * 2", case)) is None


def test_where_excludes_null_in_group_keys() -> None:
    program = (
        "INSERT INTO t SELECT STREAM LEN(unit) AS n, COUNT(*) AS c FROM readings WHERE unit IS NOT NULL GROUP BY unit"
    )
    assert plan_error(program) is None


@pytest.mark.parametrize(
    ("expression", "field"),
    [
        ("COALESCE(celsius, 0) + 1", None),
        ("COALESCE(celsius, place.height) + 1", "celsius"),
        ("AS_NULLABLE(LEN(sensor)) + 1", "AS_NULLABLE(LEN(sensor))"),
        ("LEN(CAST(at AS string))", "at"),
        ("CASE WHEN sensor = 'a' THEN 1 ELSE 2 END + 1", None),
        ("CASE WHEN sensor = 'a' THEN 1 END + 1", "CASE ... END"),
        ("CASE WHEN sensor = 'a' THEN 1 ELSE at END + 1", "at"),
        ("LEN(JSON_EXTRACT_FIRST(sensor, '$.a'))", "JSON_EXTRACT_FIRST(sensor, $.a)"),
        ("LEN(labels.colour)", "labels.colour"),
        ("SIZEOF(marks) + _offset + LEN(_key)", None),
        ("LEN(place.name)", "place.name"),
    ],
)
def test_the_error_names_the_nullable_part_of_an_expression(expression: str, field: str | None) -> None:
    expected = None if field is None else f"NULL_OPERAND {field}"
    assert plan_error(f"INSERT INTO t SELECT STREAM {expression} AS e FROM readings") == expected


@pytest.mark.parametrize(
    ("expression", "field"),
    [
        ("COUNT(celsius) + 1", None),
        ("SUM(LEN(sensor)) + 1", None),
        ("SUM(celsius) + 1", "celsius"),
        ("SIZEOF(COLLECT(celsius, 3))", None),
        ("FIRST(sensor) = 'a'", None),
        ("LEN(LAST(unit))", "unit"),
    ],
)
def test_an_aggregate_is_nullable_if_its_argument_is(expression: str, field: str | None) -> None:
    expected = None if field is None else f"NULL_OPERAND {field}"
    assert plan_error(f"INSERT INTO t SELECT STREAM {expression} AS e FROM readings GROUP BY sensor") == expected


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("SELECT STREAM celsius AS f FROM sampled", None),
        ("SELECT STREAM celsius * 2 AS f FROM sampled", None),
        ("SELECT STREAM place.height AS f FROM sampled", None),
        ("SELECT STREAM labels.colour AS f FROM sampled", None),
        ("SELECT STREAM marks[0] AS f FROM sampled", None),
        ("SELECT STREAM *, celsius AS f FROM sampled", None),
        ("SELECT STREAM *, LEN(_header.trace) AS f FROM sampled", "_header.trace"),
        ("SELECT STREAM _header.trace AS f FROM sampled", "f"),
        ("SELECT STREAM *, _header.trace AS f FROM sampled", "f"),
        ("SELECT STREAM JSON_EXTRACT_FIRST(sensor, '$.a') AS f FROM sampled", "f"),
        ("SELECT STREAM LAST(_header.trace) AS f FROM sampled GROUP BY sensor", "f"),
        ("SELECT STREAM LAST(unit) AS f FROM sampled GROUP BY sensor", None),
        ("SELECT STREAM v.speed AS f FROM vehicles AS v INNER JOIN sampled AS s ON v._key = s._key WITHIN 1h", "f"),
        ("SELECT STREAM s.celsius AS f FROM vehicles AS v INNER JOIN sampled AS s ON v._key = s._key WITHIN 1h", None),
    ],
)
def test_a_field_of_a_with_query_is_exempt_only_if_it_is_computed_from_undeclared_fields(
    query: str, field: str | None
) -> None:
    expected = None if field is None else f"NULL_OPERAND {field}"
    assert (
        plan_error(f"WITH a AS ({query}); INSERT INTO t SELECT STREAM LEN(CAST(f AS string)) AS g FROM a") == expected
    )


@pytest.mark.parametrize(("form", "expected"), [("JSON", None), ("CSV", "NULL_OPERAND n")])
def test_json_of_create_table_is_exempt_because_its_columns_cannot_be_not_null(form: str, expected: str | None) -> None:
    program = f"CREATE TABLE other(n int) FORMAT(STRING, {form}); INSERT INTO t SELECT STREAM n + 1 AS m FROM other"
    assert plan_error(program, Catalog(program_schemas(parse(program), ProgramSettings()))) == expected


def test_all_fields_of_a_computed_struct_keep_whether_they_are_exempt() -> None:
    queries = "WITH a AS (SELECT STREAM celsius AS p.c, _header.trace AS p.h FROM sampled); "
    queries += "WITH b AS (SELECT STREAM p.* FROM a); "
    assert plan_error(f"{queries} INSERT INTO t SELECT STREAM c + 1 AS d FROM b") is None
    assert plan_error(f"{queries} INSERT INTO t SELECT STREAM LEN(h) AS d FROM b") == "NULL_OPERAND h"


def test_the_elements_of_a_lateral_are_exempt_if_the_array_is_undeclared() -> None:
    join = "FROM orders AS o INNER JOIN sampled AS s ON CAST(o._key AS string) = s._key WITHIN 1h"
    assert (
        plan_error(f"INSERT INTO t SELECT STREAM LEN(l.tags[0]) AS n {join} LATERAL o.lines AS l")
        == "NULL_OPERAND l.tags[0]"
    )


def output_schema(projection: str, rest: str = "FROM readings") -> Any:
    """The Avro schema of the only field of the output."""
    plan = plan_text(f"INSERT INTO t STORE VALUE AS AVRO SELECT STREAM {projection} AS f {rest}", CATALOG).plan
    return json.loads(plan.topic_writes[0].value_schema or "")["fields"][0]["type"]


@pytest.mark.parametrize(
    ("projection", "schema"),
    [
        ("sensor", ["null", "string"]),  # never null in a record, but a tombstone has no fields
        ("COALESCE(celsius, 0)", "double"),
        ("AS_NON_NULLABLE(celsius)", "double"),
        ("CASE WHEN celsius IS NULL THEN 0 ELSE celsius END", "double"),
        ("LEN(sensor)", ["null", "int"]),
        ("sensor IS NULL", "boolean"),
        ("_offset", "long"),
        ("_header.trace", ["null", "string"]),
    ],
)
def test_an_output_field_is_nullable_if_a_tombstone_makes_it_null(projection: str, schema: Any) -> None:
    assert output_schema(projection) == schema


@pytest.mark.parametrize(
    ("projection", "schema"),
    [
        ("CONCAT(sensor, COUNT(*))", "string"),
        ("UPPER(MAX(sensor))", ["null", "string"]),
        ("COUNT(*)", "long"),
        ("SUM(LEN(sensor))", ["null", "long"]),
        ("COLLECT(sensor, 3)", {"type": "array", "items": ["null", "string"]}),
    ],
)
def test_an_aggregate_is_nullable_in_the_output_because_a_group_can_consist_of_tombstones(
    projection: str, schema: Any
) -> None:
    assert output_schema(projection, "FROM readings GROUP BY sensor") == schema
