"""NULL: errors in the modern dialect, conditions that exclude NULL, and nullable fields of the output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.pipeline import plan_text
from tests.golden.catalog import CATALOG


def plan_error(text: str) -> str | None:
    """The code and, if it has one, the field of the error of a program; None if the program is valid."""
    try:
        plan_text(text, CATALOG)
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
