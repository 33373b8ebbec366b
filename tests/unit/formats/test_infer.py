"""Formats and types inferred from samples."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsql_runner.formats.catalog import BYTES_FORMAT, JSON_FORMAT, STRING_FORMAT, Format, Serde
from lsql_runner.formats.infer import infer_serde
from lsql_runner.formats.json_budget import MAX_FIELDS, MAX_VALUES
from lsql_runner.formats.json_format import json_type
from lsql_runner.formats.json_types import field_count, merge_types, settled, widened
from lsql_runner.types import BOOLEAN, BYTES, DOUBLE, LONG, NULL, STRING, Array, DataType, Struct, describe, parse_type


def inferred(*values: Any) -> str:
    return describe(settled(json_type(values)))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1, "numeric"),
        (10**20 - 1, "numeric"),
        (10**20, "double"),
        (1 - 10**20, "numeric"),
        (1.0, "double"),
        (True, "boolean"),
        ("text", "string"),
        (None, "json"),
        ([], "array<json>"),
        ([None], "array<json>"),
        ([[]], "array<array<json>>"),
        ({}, "json"),
        ([{}], "array<json>"),
        ({"b": None}, "struct<b: json>"),
        ([1, 2.5], "array<double>"),
        ([[1]], "array<array<numeric>>"),
        ({"b": 1}, "struct<b: numeric>"),
        ([{"a": 1}, {"b": True}], "array<struct<a: numeric, b: boolean>>"),
    ],
)
def test_a_value_has_a_type(value: Any, kind: str) -> None:
    assert inferred({"a": value}) == f"struct<a: {kind}>"


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (1, 2.5, "double"),
        (1, "x", "string"),
        (1, True, "string"),
        (None, 1, "numeric"),
        (1, None, "numeric"),
        ({"a": 1}, {"b": 1}, "struct<a: numeric, b: numeric>"),
        ({"a": 1}, [1], "string"),
        ([1], ["x"], "array<string>"),
        ([], [1], "array<numeric>"),
        ({}, {"b": 1}, "struct<b: numeric>"),
        ({}, None, "json"),
        (None, [], "array<json>"),
        ({"a": None}, {"a": {"b": 1}}, "struct<a: struct<b: numeric>>"),
    ],
)
def test_two_values_have_a_common_type(first: Any, second: Any, kind: str) -> None:
    assert inferred({"v": first}, {"v": second}) == f"struct<v: {kind}>"


def test_fields_are_in_the_order_of_their_first_occurrence() -> None:
    assert inferred({"b": 1}, {"a": 1, "b": 2}) == "struct<b: numeric, a: numeric>"


def test_a_record_with_too_many_values_is_left_out_of_the_sample() -> None:
    hostile = b'{"b": [' + b"[]," * MAX_VALUES + b"[]]}"

    serde = infer_serde([hostile, b'{"a": 1}', b"[" * 100_000], JSON_FORMAT)

    assert serde is not None
    assert describe(serde.type) == "struct<a: numeric>"


def test_a_type_does_not_grow_without_limit() -> None:
    records = [json.dumps({f"f{n}_{i}": 1 for i in range(1_000)}).encode() for n in range(20)]

    serde = infer_serde(records, JSON_FORMAT)

    assert serde is not None
    assert field_count(serde.type) == MAX_FIELDS


def test_fields_are_counted_at_all_levels() -> None:
    kind = parse_type("struct<a: long, b: array<struct<c: map<string, struct<d: long>>>>>")

    assert field_count(kind) == 4


def test_deep_nesting_becomes_json() -> None:
    value: Any = 1
    for _ in range(40):
        value = {"a": value}

    assert inferred(value).count("struct") == 31
    assert ": json>" in inferred(value)
    assert inferred(value, {"a": 1}) == "struct<a: string>"


@pytest.mark.parametrize(
    ("samples", "serde"),
    [
        ([b"plain", b"text"], Serde(STRING_FORMAT, STRING)),
        ([b"1", b"2"], Serde(STRING_FORMAT, STRING)),
        ([b"\xff\x00"], Serde(BYTES_FORMAT, BYTES)),
        ([b"a\0b"], Serde(BYTES_FORMAT, BYTES)),
        ([b'{"a": 1}', b"not json"], Serde(JSON_FORMAT, parse_type("struct<a: numeric>"))),
        ([b'{"a": 1}', None], Serde(JSON_FORMAT, parse_type("struct<a: numeric>"))),
        ([None], None),
        ([], None),
    ],
)
def test_the_format_is_inferred(samples: list[bytes | None], serde: Serde | None) -> None:
    assert infer_serde(samples, None) == serde


def test_a_named_format_of_one_type_needs_no_sample() -> None:
    assert infer_serde([], Format("LONG")) == Serde(Format("LONG"), LONG)
    assert infer_serde([b"not eight bytes"], Format("TW", "STRING")) == Serde(Format("TW", "STRING"), STRING)


def test_a_named_json_needs_a_sample() -> None:
    assert infer_serde([None], JSON_FORMAT) is None
    assert infer_serde([b"[" * 100_000], JSON_FORMAT) == Serde(JSON_FORMAT, parse_type("struct<>"))


@pytest.mark.parametrize(
    ("pinned", "seen", "expected"),
    [
        ("struct<a: long>", "struct<b: string, a: long>", "struct<a: long, b: string>"),
        ("struct<a: long>", "struct<a: string>", "struct<a: long>"),
        ("struct<a: long, b: long>", "struct<a: long>", "struct<a: long, b: long>"),
        ("struct<a: struct<x: long>>", "struct<a: struct<y: long>>", "struct<a: struct<x: long, y: long>>"),
        (
            "struct<a: array<struct<x: long>>>",
            "struct<a: array<struct<y: long>>>",
            "struct<a: array<struct<x: long, y: long>>>",
        ),
        ("struct<a: long>", "struct<a: struct<x: long>>", "struct<a: long>"),
        ("struct<a: long>", "struct<a: numeric>", "struct<a: long>"),
        ("struct<a: numeric>", "struct<a: double>", "struct<a: numeric>"),
        ("struct<a: json>", "struct<a: struct<x: long>>", "struct<a: json>"),
    ],
)
def test_a_pinned_type_gains_fields_and_never_changes_them(pinned: str, seen: str, expected: str) -> None:
    assert widened(parse_type(pinned), parse_type(seen)) == parse_type(expected)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=3)


@given(st.lists(OBJECTS, min_size=1, max_size=4))
def test_repeated_values_do_not_change_the_type(values: list[Any]) -> None:
    assert json_type([*values, *values]) == json_type(values)


@given(st.lists(OBJECTS, min_size=1, max_size=3), OBJECTS)
def test_pinned_fields_keep_their_types_and_only_new_fields_are_added(values: list[Any], more: Any) -> None:
    pinned = settled(json_type(values))
    assert isinstance(pinned, Struct)

    grown = widened(pinned, settled(json_type([more])))

    assert isinstance(grown, Struct)
    assert grown.names[: len(pinned.names)] == pinned.names
    for before, after in zip(pinned.fields, grown.fields, strict=False):
        assert after.type == before.type or isinstance(before.type, Struct | Array)
    assert widened(grown, pinned) == grown
    assert widened(pinned, pinned) == pinned


@given(st.lists(OBJECTS, min_size=1, max_size=3))
def test_a_sample_of_objects_is_json(values: list[Any]) -> None:
    samples = [json.dumps(value).encode() for value in values]

    serde = infer_serde(samples, None)

    assert serde is not None
    assert serde.format == JSON_FORMAT


@pytest.mark.parametrize("kind", [NULL, LONG, DOUBLE, BOOLEAN, STRING, Array(LONG)])
def test_a_type_merged_with_itself_or_null_is_unchanged(kind: DataType) -> None:
    assert merge_types(kind, kind) == merge_types(kind, NULL) == merge_types(NULL, kind) == kind
