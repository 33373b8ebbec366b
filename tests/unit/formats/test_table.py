"""The table of formats, and the two tables of codecs under the same names."""

from __future__ import annotations

from typing import Any

import pytest

from lsql_runner.cases.codecs import PLAIN, WITH_SCHEMA
from lsql_runner.engine.codecs.table import CODECS
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.declared import as_declaration, declared_topics
from lsql_runner.formats.infer import infer_serde
from lsql_runner.formats.spec import FormatRow
from lsql_runner.formats.table import FORMATS, ROWS, SCHEMA_SETTINGS, names_schema, parse_format, readable_as
from lsql_runner.types import parse_type

EACH = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def test_names_and_settings_are_there_once() -> None:
    assert len(FORMATS) == len(ROWS)
    assert len({setting.key for setting in SCHEMA_SETTINGS}) == len(SCHEMA_SETTINGS)


@EACH
def test_a_format_has_a_codec_in_spark_that_writes_if_the_format_is_written(row: FormatRow) -> None:
    codec = CODECS[row.name]
    assert (codec.encode is not None) == row.is_written
    assert (codec.replace_schema_id is not None) == row.may_have_schema_id


@EACH
def test_a_format_has_a_codec_for_cases(row: FormatRow) -> None:
    assert (row.name in PLAIN) + (row.name in WITH_SCHEMA) == 1
    assert (row.name in WITH_SCHEMA) == row.needs_registry


@EACH
def test_a_format_has_one_type_or_is_declared_with_a_schema(row: FormatRow) -> None:
    assert (row.one_type is None) == (row.declare is not None) == (row.describe is not None)


DECLARED: dict[str, dict[str, Any]] = {
    "JSON": {"schema": {"a": "long"}, "schema_id": True},
    "AVRO": {"schema": {"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]}},
    "PROTOBUF": {"schema": 'syntax = "proto3"; message M { int64 a = 1; }', "options": {"message": "M"}},
    "CSV": {"schema": {"a": "long"}, "options": {"delimiter": ";", "null": "", "quote": '"'}},
    "XML": {"schema": {"a": "long"}, "options": {"row_tag": "r"}},
}


@EACH
def test_what_is_declared_is_described_in_the_same_words(row: FormatRow) -> None:
    value = {"format": row.name, **DECLARED.get(row.name, {})}
    topics = {"t": {"key": {"format": "BYTES"}, "value": value}}
    assert as_declaration(declared_topics(topics)) == topics


def test_windowed_formats_hold_keys_alone() -> None:
    assert parse_format("tw[avro]") == Format("TW", "AVRO")
    assert parse_format("TW[CSV]") is None
    assert parse_format("TW") is None
    assert set(readable_as("value")) - set(readable_as("key")) == {"CSV", "XML"}


def test_a_record_names_its_schema_in_some_formats_always_and_in_json_where_the_topic_does() -> None:
    kind = parse_type("struct<a: long>")
    assert [name for name in FORMATS if names_schema(Serde(Format(name), kind))] == ["AVRO", "PROTOBUF"]
    assert names_schema(Serde(Format("JSON"), kind, has_schema_id=True))
    assert names_schema(Serde(Format("SW", "PROTOBUF"), kind))


@pytest.mark.parametrize("name", ["AVRO", "PROTOBUF", "CSV", "XML"])
def test_a_sample_alone_says_nothing_of_formats_with_schemas(name: str) -> None:
    assert infer_serde([b'{"a": 1}'], Format(name)) is None
