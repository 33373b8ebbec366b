"""What CSV and XML can hold, and their options."""

from collections.abc import Mapping

import pytest

from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.declared import as_declaration, declared_topics
from lsql_runner.formats.spec import DeclarationError
from lsql_runner.formats.text_formats import TextFormatError, text_serde
from lsql_runner.types import parse_type

CSV, XML = Format("CSV"), Format("XML")


def test_options_that_are_not_given_have_their_defaults() -> None:
    kind = parse_type("struct<a: int>")

    assert text_serde(CSV, kind, {"delimiter": ";"}).options == (("delimiter", ";"), ("null", ""), ("quote", '"'))
    assert text_serde(XML, kind, {}) == Serde(XML, kind, options=(("row_tag", ""),))


@pytest.mark.parametrize(
    ("form", "kind", "options", "said"),
    [
        (CSV, "string", {}, "a record of CSV is a struct of fields, not string"),
        (XML, "array<struct<a: int>>", {}, "a record of XML is a struct of fields, not array<struct<a: int>>"),
        (CSV, "struct<>", {}, "a record of CSV is a struct of fields, not struct<>"),
        (CSV, "struct<a: array<int>>", {}, "a is array<int>, which a CSV column cannot hold"),
        (CSV, "struct<a: bytes>", {}, "a is bytes, which a CSV column cannot hold"),
        (CSV, "struct<a: int>", {"row_tag": "a"}, "CSV has no option row_tag; it has delimiter, quote, null"),
        (CSV, "struct<a: int>", {"delimiter": ""}, "delimiter is one ASCII character, not ''"),
        (CSV, "struct<a: int>", {"delimiter": "§"}, "delimiter is one ASCII character, not '§'"),
        (CSV, "struct<a: int>", {"quote": "\n"}, "quote is one ASCII character, not '\\n'"),
        (CSV, "struct<a: int>", {"quote": ","}, "delimiter and quote must differ"),
        (XML, "struct<a: map<string, int>>", {}, "a is map<string, int>, which an XML element cannot hold"),
        (XML, "struct<a: struct<b: bytes>>", {}, "a.b is bytes, which an XML element cannot hold"),
        (XML, "struct<a: array<array<int>>>", {}, "a is array<array<int>>, which an XML element cannot hold"),
        (XML, "struct<_a: array<int>>", {}, "_a is an attribute of XML, which array<int> cannot be"),
        (
            XML,
            "struct<a: struct<_VALUE: struct<b: int>>>",
            {},
            "a._VALUE is the text of an element of XML, which struct<b: int> cannot be",
        ),
    ],
)
def test_invalid_schemas_and_options_are_refused(
    form: Format, kind: str, options: Mapping[str, str], said: str
) -> None:
    with pytest.raises(TextFormatError) as error:
        text_serde(form, parse_type(kind), options)

    assert str(error.value) == said


def test_a_csv_without_quotes_is_allowed() -> None:
    assert dict(text_serde(CSV, parse_type("struct<a: int>"), {"quote": ""}).options)["quote"] == ""


@pytest.mark.parametrize(
    "value",
    [
        {"format": "CSV", "schema": {"a": "int"}, "options": {"delimiter": "\t", "null": "\\N"}},
        {"format": "XML", "schema": {"a": "array<struct<_b: int, _VALUE: string>>"}, "options": {"row_tag": "o"}},
    ],
)
def test_what_is_declared_can_be_pinned(value: object) -> None:
    topics = declared_topics({"t": {"value": value}})

    assert declared_topics(as_declaration(topics)) == topics


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ({"value": {"format": "CSV"}}, "t.value: a schema, since CSV has many shapes"),
        ({"value": {"format": "CSV", "schema": {"a": "bytes"}}}, "t.value: what CSV can be; a is bytes"),
        ({"value": {"format": "CSV", "schema": {"a": "int"}, "options": {"null": 0}}}, "t.value.options: an object"),
        ({"value": {"format": "STRING", "options": {}}}, "t.value: no options, since STRING has none"),
        (
            {"key": {"format": "XML", "schema": {"a": "int"}}, "value": {"format": "STRING"}},
            "t.key: a format of STRING",
        ),
        ({"value": {"format": "SW[CSV]", "schema": {"a": "int"}}}, "t.value: a format of STRING"),
    ],
)
def test_an_invalid_declaration_is_refused_with_its_place(topic: object, said: str) -> None:
    with pytest.raises(DeclarationError) as error:
        declared_topics({"t": topic})

    assert str(error.value).startswith(said)


def test_a_sampled_schema_is_still_sampled_when_it_is_read_back() -> None:
    declared = {"t": {"value": {"format": "JSON", "schema": {"a": "long"}}, "origin": "sampled"}}
    topics = declared_topics(declared)
    assert topics["t"].origin == "sampled"
    assert declared_topics(as_declaration(topics)) == topics


def test_where_a_schema_comes_from_is_one_of_two() -> None:
    with pytest.raises(DeclarationError, match=r"t\.origin: declared or sampled"):
        declared_topics({"t": {"value": {"format": "STRING"}, "origin": "guessed"}})
