"""JSON Schema to types and back."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from lsql_runner.formats.json_output import write_json_schema
from lsql_runner.formats.json_schema import read_json_schema
from lsql_runner.formats.spec import FormatError
from lsql_runner.types import describe, parse_type


def read(schema: Any, **references: Any) -> str | None:
    kind = read_json_schema(json.dumps(schema), {name: json.dumps(one) for name, one in references.items()})
    return None if kind is None else describe(kind)


def objects(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer"}, "long"),
        ({"type": "number"}, "double"),
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date-time"}, "string"),
        ({"type": "boolean"}, "boolean"),
        ({"type": ["null", "integer"]}, "long"),
        ({"type": ["integer", "string"]}, "string"),
        ({"oneOf": [{"type": "null"}, {"type": "number"}]}, "double"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "double"),
        ({"anyOf": [objects(x={"type": "integer"}), objects(y={"type": "string"})]}, "struct<x: long, y: string>"),
        ({"allOf": [objects(x={"type": "integer"}), objects(y={"type": "string"})]}, "struct<x: long, y: string>"),
        ({"enum": ["a", "b"]}, "string"),
        ({"enum": [1, 2.5]}, "double"),
        ({"const": True}, "boolean"),
        ({"type": "array", "items": {"type": "integer"}}, "array<long>"),
        ({"items": [{"type": "integer"}, {"type": "string"}]}, "array<string>"),
        ({"type": "array"}, "array<string>"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "map<string, double>"),
        ({"type": "object"}, "map<string, string>"),
        ({"properties": {"x": {"type": "boolean"}}}, "struct<x: boolean>"),
        (True, "string"),
        ({}, "string"),
        ({"description": "any value"}, "string"),
    ],
)
def test_a_field_has_a_type_that_holds_all_allowed_values(schema: Any, kind: str) -> None:
    assert read(objects(a=schema)) == f"struct<a: {kind}>"


@pytest.mark.parametrize("schema", [True, {}, {"type": "object"}, {"type": "null"}, {"title": "anything"}])
def test_a_schema_without_fields_or_another_type_does_not_determine_the_type(schema: Any) -> None:
    assert read(schema) is None


def test_a_schema_that_refers_only_to_itself_is_text() -> None:
    assert read({"$ref": "#"}) == "string"


def test_fields_keep_their_order() -> None:
    assert read(objects(b={"type": "integer"}, a={"type": "string"})) == "struct<b: long, a: string>"


@pytest.mark.parametrize(
    "reference",
    ["#/definitions/money", "#money", "https://shop/money.json", "money.json", "#/$defs/by~1path"],
)
def test_references_inside_a_schema_are_resolved(reference: str) -> None:
    money = objects(cents={"type": "integer"})
    schema = {
        "$id": "https://shop/order.json",
        **objects(total={"$ref": reference}),
        "definitions": {"money": money, "anchored": {"$anchor": "money", **money}},
        "$defs": {"by/path": money, "known": {"$id": "https://shop/money.json", **money}},
    }

    assert read(schema) == "struct<total: struct<cents: long>>"


def test_references_to_other_schemas_are_resolved() -> None:
    order = objects(total={"$ref": "money.json"}, paid={"$ref": "money.json#/definitions/flag"})
    money = {**objects(cents={"$ref": "#/definitions/count"}), "definitions": {"count": {"type": "integer"}}}
    money["definitions"]["flag"] = {"type": "boolean"}

    assert read(order, **{"money.json": money}) == "struct<total: struct<cents: long>, paid: boolean>"


MONEY = objects(cents={"$ref": "#/$defs/count"})
BUNDLE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://shop/order.json",
    **objects(total={"$ref": "parts/money.json"}, count={"$ref": "#/$defs/count"}),
    "$defs": {
        "count": {"type": "string"},
        "money": {"$id": "parts/money.json", **MONEY, "$defs": {"count": {"type": "integer"}}},
    },
}


def test_references_inside_a_bundled_schema_are_relative_to_its_id() -> None:
    assert read(BUNDLE) == "struct<total: struct<cents: long>, count: string>"


def test_a_bundled_schema_can_refer_to_its_own_definitions() -> None:
    beside = {"$id": "count.json", "type": "integer"}
    money = {"$id": "parts/money.json", **objects(cents={"$ref": "count.json"}), "$defs": {"count": beside}}
    schema = {"$id": "https://shop/order.json", **objects(total=money)}

    assert read(schema) == "struct<total: struct<cents: long>>"


def test_a_property_called_id_does_not_name_a_schema() -> None:
    schema = objects(id={"const": "elsewhere"}, at={"$ref": "#/$defs/at"})

    assert read({**schema, "$defs": {"at": {"type": "integer"}}}) == "struct<id: string, at: long>"


DRAFTS_WITH_SIBLINGS = [
    {},
    {"$schema": "https://json-schema.org/draft/2020-12/schema"},
    {"$schema": "https://json-schema.org/draft/2019-09/schema"},
]


@pytest.mark.parametrize("draft", DRAFTS_WITH_SIBLINGS)
def test_keywords_beside_a_reference_apply_since_2019_09(draft: dict[str, Any]) -> None:
    base = {"definitions": {"base": objects(id={"type": "integer"})}}
    extended = {"$ref": "#/definitions/base", **objects(name={"type": "string"})}

    assert read({**draft, **extended, **base}) == "struct<id: long, name: string>"
    assert read({**draft, **objects(a=extended), **base}) == "struct<a: struct<id: long, name: string>>"


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#"]
)
def test_keywords_beside_a_reference_are_ignored_up_to_draft_7(draft: str) -> None:
    base = {"definitions": {"base": objects(id={"type": "integer"})}}
    extended = {"$ref": "#/definitions/base", **objects(name={"type": "string"})}

    assert read({"$schema": draft, **objects(a=extended), **base}) == "struct<a: struct<id: long>>"


@pytest.mark.parametrize(
    ("draft", "word"),
    [
        (None, "$id"),
        ("http://json-schema.org/draft-07/schema#", "$id"),
        ("http://json-schema.org/draft-04/schema#", "id"),
    ],
)
def test_the_anchors_of_earlier_drafts_are_ids_with_a_hash(draft: str | None, word: str) -> None:
    schema = {**objects(a={"$ref": "#money"}), "definitions": {"m": {word: "#money", "type": "integer"}}}

    assert read(schema if draft is None else {"$schema": draft, **schema}) == "struct<a: long>"


def test_a_recursive_schema_is_text_where_it_recurs() -> None:
    assert read(objects(id={"type": "integer"}, next={"$ref": "#"})) == "struct<id: long, next: string>"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON Schema"),
        (json.dumps(objects(a=1)), "not a JSON Schema (field a)"),
        (json.dumps(objects(a={"type": "money"})), "'money' is not a JSON type (field a)"),
        (json.dumps(objects(a={"$ref": "#/nowhere"})), "the $ref #/nowhere does not exist (field a)"),
        (json.dumps(objects(a={"$ref": 5})), "the $ref 5 does not exist (field a)"),
        (json.dumps(objects(a={"allOf": {}})), "allOf is not a list (field a)"),
        (json.dumps({"type": "object", "properties": []}), "properties is not an object"),
    ],
)
def test_an_invalid_schema_is_refused_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_json_schema(text)

    assert caught.value.reason == reason


def test_a_schema_that_grows_exponentially_is_refused() -> None:
    doubling = {f"d{n}": objects(a={"$ref": f"#/$defs/d{n + 1}"}, b={"$ref": f"#/$defs/d{n + 1}"}) for n in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**doubling, "d40": {"type": "integer"}}}

    with pytest.raises(FormatError) as caught:
        read(schema)

    assert caught.value.reason.code == "TOO_LARGE"


WORDS = [
    "type",
    "properties",
    "items",
    "$ref",
    "$id",
    "allOf",
    "oneOf",
    "enum",
    "const",
    "additionalProperties",
    "object",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(WORDS) | st.text(), inner),
)


@given(JSON)
def test_any_json_is_a_type_or_an_error_with_a_reason(schema: Any) -> None:
    with suppress(FormatError):
        kind = read_json_schema(json.dumps(schema))
        assert kind is None or parse_type(describe(kind)) == kind


SCALARS = "id: long, ratio: double, name: string, ok: boolean"


@pytest.mark.parametrize(
    "kind",
    [
        f"struct<{SCALARS}>",
        f"struct<inner: struct<{SCALARS}>, many: array<struct<x: long>>, by_name: map<string, double>>",
        "struct<deep: array<array<map<string, boolean>>>>",
    ],
)
def test_a_written_schema_reads_back_as_the_same_type(kind: str) -> None:
    text = write_json_schema(parse_type(kind), "T", is_open=False)

    Draft7Validator.check_schema(json.loads(text))
    assert describe(read_json_schema(text) or parse_type("string")) == kind


def test_a_written_schema_allows_only_its_records() -> None:
    kind = parse_type(
        "struct<id: long, price: decimal(9,2), day: date, at: timestamp, raw: bytes, tags: array<string>>"
    )
    closed = Draft7Validator(json.loads(write_json_schema(kind, "T", is_open=False)))
    record = {
        "id": 1,
        "price": 2.5,
        "day": "2026-03-01",
        "at": "2026-03-01T12:00:00Z",
        "raw": "yv4=",
        "tags": ["a", None],
    }

    assert closed.is_valid(record)
    assert closed.is_valid(dict.fromkeys(record))
    assert not closed.is_valid(record | {"id": "1"})
    assert not closed.is_valid(record | {"more": 1})
    assert Draft7Validator(json.loads(write_json_schema(kind, "T", is_open=True))).is_valid(record | {"more": 1})


def test_the_same_type_has_the_same_text() -> None:
    kind = parse_type("struct<b: long, a: string>")

    assert write_json_schema(kind, "T", False) == (
        '{"$schema":"http://json-schema.org/draft-07/schema#","title":"T","type":"object",'
        '"properties":{"b":{"type":["integer","null"]},"a":{"type":["string","null"]}},"additionalProperties":false}'
    )
