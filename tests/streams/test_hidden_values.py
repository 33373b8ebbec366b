"""Error texts of Spark and of the JSON reader, without the values of records."""

from __future__ import annotations

import json

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from devkit.engines import hidden_values
from devkit.spark_rows import records
from lsql_runner.compile.codecs.table import decode
from lsql_runner.engine.in_memory.engine import MemoryEngine
from lsql_runner.engine.rows import TopicRecord
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.formats.declared import parse_topics
from lsql_runner.jvm.failures import Failure, classify
from lsql_runner.pipeline import plan_text
from lsql_runner.types import NUMERIC, STRING, Field, Struct, parse_type
from tests.secret_places import PLACES, shown

pytestmark = pytest.mark.timeout(400)  # the first test waits for the JVM

SECRET, NUMBER = "s3cr3t", 987654321987
SCALARS = "i: int, n: long, d: double, price: decimal(5,2), day: date, at: timestamp, clock: time, ok: boolean"
JSON = Serde(JSON_FORMAT, parse_type(f"struct<{SCALARS}, tags: array<string>, counts: map<string, long>>"))


def failure(session: SparkSession, value: str, expression: str) -> Failure:
    """Why an expression over the text `s` or the number `n` fails."""
    rows = records(session, value.encode()).selectExpr("CAST(raw AS string) AS s", f"{NUMBER} + length(raw) - 6 AS n")
    with hidden_values(session), pytest.raises((PySparkException, Py4JError)) as error:
        rows.selectExpr(expression).collect()
    with hidden_values(session):
        return classify(error.value)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("CAST(s AS int)", 'The value *** of the type "STRING" cannot be cast to "INT" because it is malformed.'),
        ("CAST(s AS date)", 'The value *** of the type "STRING" cannot be cast to "DATE" because it is malformed.'),
        ("CAST(n AS int)", 'The value *** of the type "BIGINT" cannot be cast to "INT" due to an overflow'),
        ("CAST(n AS decimal(5,2))", "*** cannot be represented as Decimal(5, 2)"),
        ("n * n * n", "The result is out of the range of its type"),
        ("CAST(n AS int) + 1", 'The value *** of the type "BIGINT" cannot be cast to "INT" due to an overflow'),
        ("n / (n - n)", "Division by zero"),
        ("to_date(s, 'yyyy-MM-dd')", "The text does not match the pattern of the timestamp"),
        ("to_timestamp(s, 'yyyy')", "The text does not match the pattern of the timestamp"),
        ("regexp_extract('a', '(' || s, 0)", "The value of parameter(s) `regexp` in `regexp_extract` is invalid: ***"),
        ("array(1)[CAST(n - n AS int) + 7]", "The index *** is out of bounds. The array has 1 elements."),
        ("date_format(now(), s)", ""),
        ("make_date(2024, CAST(length(s) AS int) + 30, 1)", "A field of a date or time is out of range"),
    ],
)
def test_the_error_of_an_expression_has_types_and_no_value(session: SparkSession, expression: str, reason: str) -> None:
    error = failure(session, SECRET, expression)

    assert error.kind == "refused"
    assert error.reason.startswith(reason)
    assert SECRET not in repr(error)
    assert str(NUMBER) not in repr(error)


@pytest.mark.parametrize(
    ("select", "place"),
    [
        ("SELECT STREAM i, CAST(n AS int) AS x FROM t", "field x"),
        ("SELECT STREAM i, CAST(n AS int) AS _key.k FROM t", "field _key.k"),
        ("SELECT STREAM i, CAST(n AS int) AS _key FROM t", "_key"),
        ("SELECT STREAM CAST(n AS int) AS _value FROM t", "_value"),
        ("SELECT STREAM i FROM t WHERE i > 0 AND CAST(n AS int) > 1", "WHERE"),
        ("SELECT STREAM x + 1 AS y FROM (SELECT STREAM CAST(n AS int) AS x FROM t)", "field x"),
        ("SELECT STREAM COUNT(*) AS c FROM t GROUP BY CAST(n AS int)", "GROUP BY"),
        ("SELECT STREAM SUM(CAST(n AS int)) AS s FROM t GROUP BY i", "SUM"),
    ],
)
def test_the_error_names_the_field_or_clause_that_fails(engine: MemoryEngine, select: str, place: str) -> None:
    value = Serde(JSON_FORMAT, parse_type("struct<n: string not null, i: long not null>"))
    program = plan_text(
        f"INSERT INTO o {select}", Catalog({"t": TopicSchema("t", Serde(STRING_FORMAT, STRING), value)})
    )
    texts = ("1", SECRET)
    rows = [
        TopicRecord(
            topic="t", key=b"k", value=json.dumps({"n": n, "i": 1}).encode(), timestamp_ms=7, partition=0, offset=o
        )
        for o, n in enumerate(texts)
    ]

    with hidden_values(engine.session):
        error = engine.run(program.plan, [rows]).error

    assert error is not None
    assert (error.code, error.params["offset"]) == ("RECORD_REFUSED", 1)
    assert str(error.params["reason"]).startswith(
        f'{place}: The value *** of the type "STRING" cannot be cast to "INT"'
    )


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("i / (i - 2)", "Division by zero"),
        ("i % (i - 2)", "Remainder by zero"),
        ("i * 99999999999999999999 + i", "*** cannot be represented as Decimal(38, 18)"),
        ("CAST(i * 9999999999 AS int)", "due to an overflow"),
    ],
)
def test_a_record_with_an_error_of_exact_numbers_is_named(engine: MemoryEngine, expression: str, reason: str) -> None:
    """Only fields of a sample have such numbers, whose operators are our own."""
    value = Serde(JSON_FORMAT, Struct((Field("i", NUMERIC, nullable=False),)))
    catalog = Catalog({"t": TopicSchema("t", Serde(STRING_FORMAT, STRING), value)})
    program = plan_text(f"INSERT INTO o SELECT STREAM {expression} AS x FROM t", catalog)
    rows = [
        TopicRecord(topic="t", key=b"k", value=b'{"i": %d}' % i, timestamp_ms=7, partition=0, offset=offset)
        for offset, i in enumerate((0, 2))
    ]

    with hidden_values(engine.session):
        error = engine.run(program.plan, [rows]).error

    assert error is not None
    assert (error.code, error.params["offset"]) == ("RECORD_REFUSED", 1)
    assert str(error.params["reason"]).startswith("field x: ")
    assert reason in str(error.params["reason"])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"i": SECRET}, "field i: a text is not a number"),
        ({"ok": SECRET}, "field ok: a text is not a boolean"),
        ({"counts": {SECRET: SECRET}}, "field counts{}: "),
        ({"i": NUMBER}, "field i: a number does not fit the type int"),
        ({"price": NUMBER}, "field price: "),
        ({"price": SECRET}, "field price: "),
        ({"d": SECRET}, "field d: "),
        ({"day": SECRET}, "field day: "),
        ({"at": SECRET}, "field at: "),
        ({"clock": SECRET}, "field clock: "),
        ({"tags": SECRET}, "field tags: "),
        ([SECRET], ""),
        (SECRET, ""),
    ],
)
def test_the_error_of_a_json_record_has_the_field_and_no_value(
    session: SparkSession, value: object, reason: str
) -> None:
    rows = records(session, json.dumps(value).encode()).select(decode(F.col("raw"), JSON, JSON.type).alias("v"))
    with hidden_values(session), pytest.raises((PySparkException, Py4JError)) as error:
        rows.collect()
    with hidden_values(session):
        classified = classify(error.value)

    assert classified.kind == "malformed"
    assert classified.reason.startswith(reason)
    assert SECRET not in repr(classified)
    assert str(NUMBER) not in repr(classified)


@pytest.mark.parametrize("name", PLACES)
def test_the_error_of_a_program_has_its_place_and_no_value(engine: MemoryEngine, name: str) -> None:
    place = PLACES[name]
    declared = parse_topics(json.dumps({"t": place.declared()}))
    program = plan_text(f"INSERT INTO o {place.select.format(t='t')}", Catalog(declared))
    record = TopicRecord(
        topic="t",
        key=place.record.key,
        value=place.record.value,
        timestamp_ms=7,
        partition=0,
        offset=3,
        headers=place.record.headers,
    )

    with hidden_values(engine.session):
        error = engine.run(program.plan, [[record]]).error

    assert error is not None
    assert (error.code, error.params["topic"], error.params["offset"]) == (place.code, "t", 3)
    assert place.says in str(error.params["reason"])
    assert shown(f"{error.message} {error.params}") == []
