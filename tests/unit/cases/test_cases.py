"""Case files without an engine: reading, encoding, comparing and reporting."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsql_runner.cases.compare import ActualRecord, differences, error_differences
from lsql_runner.cases.load import load_case, parse_case
from lsql_runner.cases.model import Case, ExpectedError
from lsql_runner.cases.prepare import PreparedCase, prepare_case
from lsql_runner.cases.report import CaseResult, as_junit
from lsql_runner.cases.run import find_cases
from lsql_runner.cases.scalars import InvalidValue
from lsql_runner.cases.values import decode_value, encode_value, same_value
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Format
from lsql_runner.formats.table import parse_format
from lsql_runner.yaml_text import YamlError, load_yaml

BASE = """
sql: SET autocreate=true; INSERT INTO o SELECT STREAM a AS b FROM t
topics:
  t: {key: {format: STRING}, value: {format: JSON, schema: {a: long}}}
"""


def case(text: str, base: str = BASE) -> Case:
    return parse_case(base + text, Path("x.case.yaml"))


def form(name: str) -> Format:
    parsed = parse_format(name)
    assert parsed is not None
    return parsed


# --- YAML ---


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("2026-03-01", "2026-03-01"),
        ("12:30:45", "12:30:45"),
        ("012", 12),
        ("1_000", "1_000"),
        ("12", 12),
        ("-1.5e3", -1500.0),
        ("true", True),
        ("~", None),
        ("", None),
    ],
)
def test_yaml_is_read_as_version_1_2(text: str, value: object) -> None:
    assert load_yaml(text) == value


def test_a_duplicate_key_is_refused_with_its_line() -> None:
    with pytest.raises(YamlError) as caught:
        load_yaml("a: 1\nb: 1\nb: 2\n")

    assert (caught.value.reason.code, caught.value.reason.params) == ("KEY_DUPLICATE", {"key": "b", "line": 3})


# --- values ---


@pytest.mark.parametrize(
    ("name", "value", "data"),
    [
        ("STRING", "é", b"\xc3\xa9"),
        ("INT", -2, b"\xff\xff\xff\xfe"),
        ("LONG", 256, b"\0\0\0\0\0\0\x01\0"),
        ("BYTES", "00ff", b"\0\xff"),
        ("JSON", {"a": [1, None, "é"]}, '{"a":[1,null,"é"]}'.encode()),
        ("TW[STRING]", {"key": "k", "window_start": 1}, b"k\0\0\0\0\0\0\0\x01"),
        ("TW[INT]", {"key": 7, "window_start": -1}, b"\0\0\0\x07" + b"\xff" * 8),
        (
            "SW[STRING]",
            {"key": "k", "window_start": 1, "window_end": 2},
            b"k" + b"\0" * 7 + b"\x02" + b"\0" * 7 + b"\x01",
        ),
    ],
)
def test_a_value_has_the_bytes_of_its_format(name: str, value: object, data: bytes) -> None:
    assert encode_value(value, form(name)) == data
    assert decode_value(data, form(name)) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STRING", 1),
        ("INT", 2**31),
        ("INT", True),
        ("INT", "1"),
        ("LONG", 2**63),
        ("BYTES", "xyz"),
        ("BYTES", 12),
        ("TW[STRING]", "k"),
        ("TW[STRING]", {"key": "k"}),
        ("TW[STRING]", {"key": 1, "window_start": 1}),
        ("TW[STRING]", {"key": "k", "window_start": 1, "window_end": 2}),
        ("SW[STRING]", {"key": "k", "window_start": 1}),
        ("SW[STRING]", {"key": "k", "window_start": 1, "window_end": 2**63}),
    ],
)
def test_a_value_that_its_format_does_not_allow_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidValue):
        encode_value(value, form(name))


@given(st.integers(-(2**63), 2**63 - 1), st.text(), st.integers(-(2**63), 2**63 - 1))
def test_an_encoded_value_decodes_to_the_same_value(number: int, text: str, start: int) -> None:
    assert decode_value(encode_value(number, form("LONG")), form("LONG")) == number
    windowed = {"key": text, "window_start": start}
    assert decode_value(encode_value(windowed, form("TW[STRING]")), form("TW[STRING]")) == windowed
    session = windowed | {"window_end": number}
    assert decode_value(encode_value(session, form("SW[STRING]")), form("SW[STRING]")) == session


@pytest.mark.parametrize("name", ["TW[STRING]", "SW[STRING]"])
def test_a_windowed_key_is_not_shorter_than_its_window(name: str) -> None:
    with pytest.raises(InvalidValue):
        decode_value(b"\0" * 7, form(name))


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (None, 0, False),
        (0.1 + 0.2, 0.3, True),
        (1.0, 1.001, False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ({"a": None}, {}, False),
        ([1, 2], [2, 1], False),
        (9007199254740993, 9007199254740992, False),
    ],
)
def test_equality_of_values(a: Any, b: Any, same: bool) -> None:
    assert same_value(a, b) is same


# --- reading ---


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("expect: [{key: a, walue: 1}]", "expect[0].walue"),
        ("expect: []\ninput: [{key: a}]", "input[0].topic"),
        ("expect: []\ninput: [{topic: t, timestamp: soon}]", "input[0].timestamp"),
        ("expect: []\ninput: [{topic: t, partition: -1}]", "input[0].partition"),
        ("expect: []\ninput: [{topic: t, headers: {a: 1}}]", "input[0].headers"),
        ("expect: []\ninput: [{topic: t, headers: {a: {hex: xy}}}]", "input[0].headers"),
        ("expect: []\ninput: [{topic: t, headers: [a]}]", "input[0].headers"),
        ("expect: []\ninput: [{topic: t, value: 1, value_text: a}]", "input[0]"),
        ("expect: []\ninput: [{batch: 1, topic: t}]", "input[0].topic"),
        ("expect: []\ninput: [1]", "input[0]"),
        ("expect_error: {}", "expect_error.code"),
        ("expect: []\nexpect_error: {code: A}", "$"),
        ("input: []", "$"),
        ("expect: [", "$"),
        ("expect: []\nsurprise: 1", "surprise"),
    ],
)
def test_an_invalid_case_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(LsqlError) as caught:
        case(text)
    assert (caught.value.code, caught.value.params["place"]) == ("CASE_INVALID", place)


@pytest.mark.parametrize(
    ("topics", "place"),
    [
        ("topics: {t: {value: {format: AVRO}}}", "topics"),
        ("topics: {t: {partitions: 0}}", "topics.t.partitions"),
        ("topics: {t: {partitions: 1, walue: {}}}", "topics"),
    ],
)
def test_an_invalid_declaration_is_refused_with_the_place(topics: str, place: str) -> None:
    with pytest.raises(LsqlError) as caught:
        case(topics + "\nexpect: []", base="sql: x\n")
    assert (caught.value.code, caught.value.params["place"]) == ("CASE_INVALID", place)


def test_the_program_may_be_in_a_separate_file(tmp_path: Path) -> None:
    folder = tmp_path / "my-case"
    folder.mkdir()
    (folder / "case.yaml").write_text("expect: []\n", encoding="utf-8")
    with pytest.raises(LsqlError, match="FILE_UNREADABLE"):
        load_case(folder / "case.yaml")
    (folder / "query.sql").write_text("INSERT ...", encoding="utf-8")
    loaded = load_case(folder / "case.yaml")
    assert (loaded.name, loaded.sql) == ("my-case", "INSERT ...")


# --- preparing ---


def prepared(text: str, base: str = BASE) -> PreparedCase:
    return prepare_case(case(text + "\nexpect: []", base))


def test_batch_marks_split_the_input_and_offsets_continue() -> None:
    batches = prepared(
        """
input:
  - {topic: t, key: k, timestamp: 1970-01-01T00:00:01.5Z, value: {a: 1}}
  - {topic: t, partition: 1, value: {a: 2}}
  - batch: next
  - {topic: t, value: null, headers: [{h: x}, {h: {hex: ff}}, {n: null}]}
"""
    ).batches
    assert [[(r.partition, r.offset, r.timestamp_ms) for r in batch] for batch in batches] == [
        [(0, 0, 1500), (1, 0, 1500)],
        [(0, 1, 1500)],
    ]
    assert (batches[0][0].key, batches[0][0].value) == (b"k", b'{"a":1}')
    assert (batches[1][0].value, batches[1][0].headers) == (None, (("h", b"x"), ("h", b"\xff"), ("n", None)))


def test_the_schema_of_an_undeclared_topic_comes_from_the_records() -> None:
    ready = prepared(
        'input: [{topic: t, key: "1", value: {a: 1, c: x}}]',
        base="sql: SET autocreate=true; INSERT INTO o SELECT STREAM a AS b FROM t\n",
    )
    source = ready.planned.plan.sources[0]
    assert (source.origin, str(source.key.format), str(source.value.format)) == ("sampled", "STRING", "JSON")


def test_the_program_may_name_the_format() -> None:
    sql = "sql: SET autocreate=true; INSERT INTO o SELECT * FROM t WHERE _ktype=LONG AND _vtype=INT\n"
    ready = prepared("input: [{topic: t, key: 1, value: 2}]", base=sql)
    assert (ready.batches[0][0].key, ready.batches[0][0].value) == (b"\0" * 7 + b"\x01", b"\0\0\0\x02")


def test_a_number_in_an_unknown_format_is_refused() -> None:
    sql = "sql: SET autocreate=true; INSERT INTO o SELECT * FROM t\n"
    with pytest.raises(LsqlError, match="the key of input record 1"):
        prepared("input: [{topic: t, key: 1, value: {a: 1}}]", base=sql)


def test_a_target_that_the_case_does_not_name_must_be_created_by_the_program() -> None:
    sql = "sql: INSERT INTO o SELECT STREAM a AS b FROM t\n"
    with pytest.raises(LsqlError, match="TARGET_UNKNOWN"):
        prepared("input: [{topic: t, value: {a: 1}}]", base=sql)


# --- comparing ---


def compared(expect: str, *actual: ActualRecord) -> list[str]:
    checked = case(f"expect: {expect}")
    return differences(checked, prepare_case(checked).planned.plan, actual)


def record(key: bytes | None, value: bytes | None, at_ms: int = 0, **headers: bytes) -> ActualRecord:
    return ActualRecord(topic="o", key=key, value=value, timestamp_ms=at_ms, headers=tuple(headers.items()))


def test_order_is_compared_within_a_key_only() -> None:
    a1, a2, b1 = record(b"a", b'{"b":1}'), record(b"a", b'{"b":2}'), record(b"b", b'{"b":1}')
    expect = "[{key: a, value: {b: 1}}, {key: a, value: {b: 2}}, {key: b, value: {b: 1}}]"
    assert compared(expect, b1, a1, a2) == []
    assert compared(expect, a2, a1, b1) != []


def test_timestamp_and_headers_are_compared_only_if_the_case_gives_them() -> None:
    assert compared("[{key: a, value: {b: 1}}]", record(b"a", b'{"b":1}', 5, h=b"x")) == []
    assert compared("[{key: a, value: {b: 1}, timestamp: 4}]", record(b"a", b'{"b":1}', 5)) != []
    assert compared("[{key: a, value: {b: 1}, headers: {}}]", record(b"a", b'{"b":1}', h=b"x")) != []


def test_the_headers_of_the_processor_are_not_compared() -> None:
    headers = (("lsql.batch", b"app/q/1"), ("lsql.id", b"\0" * 16))
    written = ActualRecord(topic="o", key=b"a", value=b'{"b":1}', timestamp_ms=0, headers=headers)
    assert compared("[{key: a, value: {b: 1}, headers: {}}]", written) == []


def test_a_tombstone_is_not_the_json_text_null() -> None:
    assert compared("[{key: a, value: null}]", record(b"a", None)) == []
    assert compared("[{key: a, value: null}]", record(b"a", b"null")) != []


def test_value_text_is_compared_byte_by_byte() -> None:
    assert compared("""[{key: a, value_text: '{"b":1}'}]""", record(b"a", b'{"b":1}')) == []
    assert compared("""[{key: a, value_text: '{"b":1}'}]""", record(b"a", b'{"b": 1}')) != []


def test_a_difference_shows_expected_and_found_records() -> None:
    lines = compared(
        "[{key: a, value: {b: 1}}, {key: a, value: {b: 2}}]", record(b"a", b'{"b":1}', 7), record(b"a", b'{"b":3}', 8)
    )
    assert lines == [
        'o, key "a": - expected, + found',
        '    {"b": 1}',
        '  - {"b": 2}',
        '  + {"b": 3}',
    ]


def test_bytes_in_another_format_are_a_difference() -> None:
    assert compared("[{key: a, value: {b: 1}}]", record(b"\xff", b"{")) != []


def test_an_expected_record_for_no_target_is_refused() -> None:
    with pytest.raises(LsqlError) as caught:
        compared("[{topic: x, key: a}]")
    assert caught.value.params["place"] == "expect[0]"


def test_errors_are_compared_by_the_fields_that_the_case_gives() -> None:
    refused = LsqlError("RECORD_REFUSED", topic="t", partition=0, offset=3, reason="Division by zero")
    assert error_differences(ExpectedError(code="RECORD_REFUSED", offset=3), refused, "") == []
    assert error_differences(ExpectedError(code="RECORD_REFUSED", offset=2), refused, "")[0] == (
        "error offset: expected 2, found 3"
    )
    assert error_differences(ExpectedError(code="A"), None, "") == ["expected the error A, but nothing failed"]
    assert error_differences(None, refused, "")[0].startswith("RECORD_REFUSED")


# --- finding and reporting ---


def test_the_cases_of_a_folder_are_ordered_by_path(tmp_path: Path) -> None:
    for name in ("b/case.yaml", "a/case.yaml", "a/x.case.yaml", "a/values.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    paths = find_cases([tmp_path, tmp_path / "b" / "case.yaml"])
    assert [str(path.relative_to(tmp_path)) for path in paths] == ["a/case.yaml", "a/x.case.yaml", "b/case.yaml"]


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LsqlError, match="CASES_MISSING"):
        find_cases([tmp_path])


def test_the_report_contains_failures_as_text() -> None:
    results = [CaseResult(Path("a"), "one", (), 0.5), CaseResult(Path("b"), "two", ("x < \x00", "y"), 1.0)]
    suite = ElementTree.fromstring(as_junit(results))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.findtext("failure") for case in suite] == [None, "x < \ufffd\ny"]
