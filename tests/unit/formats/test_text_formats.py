"""The types and options of CSV and XML."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, cast

import pytest

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.declared import as_declaration, declared_topics, parse_topics
from lsql_runner.formats.spec import DeclarationError, FormatError
from lsql_runner.formats.text_formats import text_serde
from lsql_runner.types import parse_type

CSV, XML = Format("CSV"), Format("XML")


def test_missing_options_have_their_defaults() -> None:
    kind = parse_type("struct<a: int>")

    assert text_serde(CSV, kind, {"delimiter": ";"}).options == (("delimiter", ";"), ("null", ""), ("quote", '"'))
    assert text_serde(XML, kind, {}) == Serde(XML, kind, options=(("row_tag", ""),))


@pytest.mark.parametrize(
    ("form", "kind", "options", "reason"),
    [
        (CSV, "string", {}, "a record of CSV is a struct with fields, not string"),
        (XML, "array<struct<a: int>>", {}, "a record of XML is a struct with fields, not array<struct<a: int>>"),
        (CSV, "struct<>", {}, "a record of CSV is a struct with fields, not struct<>"),
        (CSV, "struct<a: array<int>>", {}, "a CSV column cannot have the type array<int> (field a)"),
        (CSV, "struct<a: bytes>", {}, "a CSV column cannot have the type bytes (field a)"),
        (CSV, "struct<a: int>", {"row_tag": "a"}, "CSV has no option row_tag; its options are delimiter, quote, null"),
        (CSV, "struct<a: int>", {"delimiter": ""}, "delimiter is one ASCII character, not ''"),
        (CSV, "struct<a: int>", {"delimiter": "§"}, "delimiter is one ASCII character, not '§'"),
        (CSV, "struct<a: int>", {"quote": "\n"}, "quote is one ASCII character, not '\\n'"),
        (CSV, "struct<a: int>", {"quote": ","}, "delimiter and quote must differ"),
        (XML, "struct<a: map<string, int>>", {}, "an XML element cannot have the type map<string, int> (field a)"),
        (XML, "struct<a: struct<b: bytes>>", {}, "an XML element cannot have the type bytes (field a.b)"),
        (XML, "struct<a: array<array<int>>>", {}, "an XML element cannot have the type array<array<int>> (field a)"),
        (XML, "struct<_a: array<int>>", {}, "an XML attribute cannot have the type array<int> (field _a)"),
        (
            XML,
            "struct<a: struct<_VALUE: struct<b: int>>>",
            {},
            "the text of an XML element cannot have the type struct<b: int> (field a._VALUE)",
        ),
    ],
)
def test_invalid_schemas_and_options_are_refused(
    form: Format, kind: str, options: Mapping[str, str], reason: str
) -> None:
    with pytest.raises(FormatError) as caught:
        text_serde(form, parse_type(kind), options)

    assert caught.value.reason == reason


def test_a_csv_without_quotes_is_allowed() -> None:
    assert dict(text_serde(CSV, parse_type("struct<a: int>"), {"quote": ""}).options)["quote"] == ""


@pytest.mark.parametrize(
    "value",
    [
        {"format": "CSV", "schema": {"a": "int"}, "options": {"delimiter": "\t", "null": "\\N"}},
        {"format": "XML", "schema": {"a": "array<struct<_b: int, _VALUE: string>>"}, "options": {"row_tag": "o"}},
    ],
)
def test_a_declaration_reads_back_as_the_same_topics(value: object) -> None:
    topics = declared_topics({"t": {"value": value}})

    assert declared_topics(as_declaration(topics)) == topics


NESTED = reduce(lambda inner, _: {"a": inner}, range(500), cast("Any", "int"))


@pytest.mark.parametrize(
    ("topic", "place", "code"),
    [
        ({}, "topic t", "TOPIC"),
        ({"value": {}}, "topic t, value", "PART"),
        ({"value": {"format": "CSV"}}, "topic t, value", "SCHEMA"),
        ({"value": {"format": "CSV", "schema": {"a": "bytes"}}}, "topic t, value", "SCHEMA_OR_OPTIONS"),
        (
            {"value": {"format": "CSV", "schema": {"a": "int"}, "options": {"null": 0}}},
            "topic t, value, options",
            "OPTIONS",
        ),
        ({"value": {"format": "STRING", "options": {}}}, "topic t, value", "NO_OPTIONS"),
        ({"value": {"format": "STRING", "schema": "string"}}, "topic t, value", "NO_SCHEMA"),
        (
            {"value": {"format": "JSON", "schema": {"a": "int"}, "schema_id": 1}},
            "topic t, value, schema_id",
            "SCHEMA_ID",
        ),
        ({"value": {"format": "JSON", "schema": {"a": "array<"}}}, "topic t, value, field a", "TEXT_ENDS"),
        ({"value": {"format": "JSON", "schema": {"a": "decimal(x,2)"}}}, "topic t, value, field a", "NOT_A_NUMBER"),
        ({"value": {"format": "JSON", "schema": {"a": "array<" * 500}}}, "topic t, value, field a", "TOO_DEEP"),
        ({"value": {"format": "JSON", "schema": NESTED}}, "topic t, value", "TOO_DEEP"),
        ({"value": {"format": "JSON", "schema": {"a": {"b": 1}}}}, "topic t, value, field a.b", "TYPE"),
        ({"value": {"format": "AVRO", "schema": {"type": "recor"}}}, "topic t, value", "SCHEMA"),
        ({"value": {"format": "PROTOBUF", "schema": "message {"}}, "topic t, value", "FILE"),
        (
            {"key": {"format": "XML", "schema": {"a": "int"}}, "value": {"format": "STRING"}},
            "topic t, key, format",
            "FORMAT",
        ),
        ({"value": {"format": "SW[CSV]", "schema": {"a": "int"}}}, "topic t, value, format", "FORMAT"),
        ({"value": {"format": "STRING"}, "origin": "guessed"}, "topic t, origin", "ORIGIN"),
    ],
)
def test_an_invalid_declaration_is_refused_with_its_place(topic: object, place: str, code: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        declared_topics({"t": topic})

    assert (caught.value.reason.params["place"], caught.value.reason.code) == (place, code)


def test_a_reason_inside_a_declaration_is_part_of_the_text() -> None:
    value = {"format": "CSV", "schema": {"a": "bytes"}}

    with pytest.raises(DeclarationError) as caught:
        declared_topics({"t": {"value": value}})

    assert str(caught.value) == (
        "topic t, value: expected a schema and options of CSV: a CSV column cannot have the type bytes (field a)"
    )


def test_json_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(DeclarationError) as caught:
        parse_topics('{"t": ' + "[" * 100_000)

    assert caught.value.reason.code == "JSON_TOO_DEEP"


def test_a_sampled_schema_is_still_sampled_when_it_is_read_back() -> None:
    declared = {"t": {"value": {"format": "JSON", "schema": {"a": "long"}}, "origin": "sampled"}}
    topics = declared_topics(declared)
    assert topics["t"].origin == "sampled"
    assert declared_topics(as_declaration(topics)) == topics
