"""Case files with AVRO, without an engine: schemas and their ids, writers, comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsql_runner.cases.compare import ActualRecord, differences
from lsql_runner.cases.load import parse_case
from lsql_runner.cases.model import Case
from lsql_runner.cases.prepare import PreparedCase, prepare_case
from lsql_runner.errors import LsqlError

BASE = """
sql: SET autocreate=true; INSERT INTO o SELECT STREAM a FROM t
topics:
  t:
    key: {format: "TW[AVRO]", schema: string}
    value:
      format: AVRO
      schema: &new {type: record, name: R, fields: [{name: a, type: long}, {name: b, type: int, default: 0}]}
      writers:
        old: {type: record, name: R, fields: [{name: a, type: int}]}
"""


def case(text: str, base: str = BASE) -> Case:
    return parse_case(base + text, Path("x.case.yaml"))


def prepared(text: str, base: str = BASE) -> PreparedCase:
    return prepare_case(case(text + "\nexpect: []", base))


def test_records_have_the_ids_of_their_schemas() -> None:
    ready = prepared(
        """
input:
  - {topic: t, key: {key: k, window_start: 1}, value: {a: 1, b: 2}}
  - {topic: t, value_writer: old, value: {a: 1}}
  - {topic: t, value: null}
"""
    )
    key, old, own = (ready.registry.latest("t-key"), *ready.registry.ids("t-value"))
    assert key is not None
    assert [(record.key, record.value) for record in ready.batches[0]] == [
        (b"\0\0\0\0%c\x02k" % key.schema.id + b"\0" * 7 + b"\x01", b"\0\0\0\0%c\x02\x04" % own),
        (None, b"\0\0\0\0%c\x02" % old),
        (None, None),
    ]


def test_output_schemas_are_registered_as_in_production() -> None:
    ready = prepared("")
    [write] = ready.plan.topic_writes
    version = ready.registry.latest("o-value")
    assert version is not None
    assert (write.value_id, write.value_schema) == (version.schema.id, version.schema.text)


def test_a_value_that_its_schema_does_not_allow_is_refused_with_the_record_and_the_field() -> None:
    with pytest.raises(LsqlError) as caught:
        prepared("input: [{topic: t, value: {a: 1}}, {topic: t, value: {a: x}}]")
    params = caught.value.params
    assert (params["number"], params["part"], params["reason"]) == (2, "value", '"x" is not a valid long (field a)')


def test_avro_that_the_program_names_needs_a_declaration() -> None:
    sql = "sql: SET autocreate=true; INSERT INTO o SELECT * FROM t WHERE _vtype=AVRO\n"
    with pytest.raises(LsqlError, match="declare the topic, with its schema, under topics"):
        prepared("input: [{topic: t, value: {a: 1}}]", base=sql)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "topics: {t: {value: {format: AVRO, schema: {type: enum, name: E, symbols: [a-b]}}}}",
            "topics.t.value.schema",
        ),
        ("topics: {t: {value: {format: AVRO, schema: int, writers: {x: {type: y}}}}}", "topics.t.value.writers.x"),
        ("topics: {t: {value: {format: AVRO, schema: int, writers: [int]}}}", "topics.t.value.writers"),
        ("topics: {t: {value: {format: STRING, writers: {x: int}}}}", "topics.t.value.writers"),
        ("topics: {t: {value: {format: AVRO, schema: nothing}}}", "topics"),
        (
            "topics: {t: {value: {format: STRING}}}\ninput: [{topic: t, value_writer: x, value: a}]",
            "input[0].value_writer",
        ),
        (
            "topics: {t: {value: {format: AVRO, schema: int, writers: {x: int}}}}\ninput: [{topic: t, key_writer: x}]",
            "input[0].key_writer",
        ),
    ],
)
def test_invalid_schemas_and_writers_are_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(LsqlError) as caught:
        case(text + "\nexpect: []", base="sql: x\n")
    assert (caught.value.code, caught.value.params["place"]) == ("CASE_INVALID", place)


KEYED = """
sql: SET autocreate=true; INSERT INTO o SELECT STREAM * FROM t
topics:
  t:
    key:
      format: AVRO
      schema: {type: record, name: K, fields: [{name: at, type: {type: long, logicalType: timestamp-millis}}]}
    value:
      format: AVRO
      schema:
        type: record
        name: V
        fields: [{name: n, type: long}, {name: day, type: {type: int, logicalType: date}}]
input:
  - {topic: t, key: {at: 1000}, value: {n: 1, day: 2026-03-01}}
  - {topic: t, key: {at: 1000}, value: {n: 2, day: 2026-03-02}}
"""


def compared(expect: str) -> list[str]:
    """The differences of a case whose program copies its input."""
    checked = case(f"expect: {expect}", KEYED)
    ready = prepare_case(checked)
    actual = [
        ActualRecord(topic="o", key=r.key, value=r.value, timestamp_ms=r.timestamp_ms)
        for batch in ready.batches
        for r in batch
    ]
    return differences(checked, ready.plan, actual, ready.registry.texts())


def test_avro_is_compared_by_value_in_any_notation() -> None:
    first = "{key: {at: 1970-01-01T00:00:01Z}, value: {day: 2026-03-01, n: 1.0}}"
    assert compared(f"[{first}, {{key: {{at: 1000}}, value: {{n: 2, day: 2026-03-02}}}}]") == []


def test_a_difference_in_avro_is_shown_in_the_notation_of_the_case() -> None:
    expect = "[{key: {at: 1000}, value: {n: 1, day: 2026-03-01}}, {key: {at: 1000}, value: {n: 2, day: 2026-03-03}}]"
    assert compared(expect) == [
        'o, key {"at": "1970-01-01T00:00:01Z"}: - expected, + found',
        '    {"day": "2026-03-01", "n": 1}',
        '  - {"day": "2026-03-03", "n": 2}',
        '  + {"day": "2026-03-02", "n": 2}',
    ]


def test_a_missing_and_an_unexpected_key_of_avro_are_two_differences() -> None:
    lines = compared("[{key: {at: 5}, value: {n: 1, day: 2026-03-01}}]")
    assert [line for line in lines if not line.startswith("  ")] == [
        'o, key {"at": 5}: - expected, + found',
        'o, key {"at": "1970-01-01T00:00:01Z"}: - expected, + found',
    ]


def test_records_with_an_unknown_schema_id_are_a_difference() -> None:
    checked = case("expect: [{key: {at: 1000}, value: {n: 1, day: 2026-03-01}}]", KEYED)
    written = ActualRecord(topic="o", key=b"\0\0\0\0\x63\x02", value=None, timestamp_ms=0)
    assert any("not AVRO" in line for line in differences(checked, prepare_case(checked).plan, [written]))
