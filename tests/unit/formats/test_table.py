"""The table of formats, and the two tables of codecs with the same keys."""

from __future__ import annotations

from typing import Any

import pytest

from lsql_runner.cases.codecs import PLAIN, WITH_SCHEMA
from lsql_runner.compile.codecs.table import CODECS
from lsql_runner.formats.catalog import Format, Serde
from lsql_runner.formats.declared import as_declaration, declared_topics
from lsql_runner.formats.infer import infer_serde
from lsql_runner.formats.spec import FormatRow
from lsql_runner.formats.table import FORMATS, ROWS, SCHEMA_SETTINGS, parse_format, readable_as, records_have_schema_id
from lsql_runner.types import parse_type

EACH = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def test_names_and_settings_are_unique() -> None:
    assert len(FORMATS) == len(ROWS)
    assert len({setting.key for setting in SCHEMA_SETTINGS}) == len(SCHEMA_SETTINGS)


@EACH
def test_a_format_has_a_codec_in_spark_with_an_encoder_if_it_is_written(row: FormatRow) -> None:
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
def test_a_serde_is_described_as_it_was_declared(row: FormatRow) -> None:
    value = {"format": row.name, **DECLARED.get(row.name, {})}
    topics = {"t": {"key": {"format": "BYTES"}, "value": value}}
    assert as_declaration(declared_topics(topics)) == topics


def test_windowed_formats_are_formats_of_keys() -> None:
    assert parse_format("tw[avro]") == Format("TW", "AVRO")
    assert parse_format("TW[CSV]") is None
    assert parse_format("TW") is None
    assert set(readable_as("value")) - set(readable_as("key")) == {"CSV", "XML"}


def test_records_of_avro_and_protobuf_always_have_a_schema_id_and_json_may() -> None:
    kind = parse_type("struct<a: long>")
    assert [name for name in FORMATS if records_have_schema_id(Serde(Format(name), kind))] == ["AVRO", "PROTOBUF"]
    assert records_have_schema_id(Serde(Format("JSON"), kind, has_schema_id=True))
    assert records_have_schema_id(Serde(Format("SW", "PROTOBUF"), kind))


@pytest.mark.parametrize("name", ["AVRO", "PROTOBUF", "CSV", "XML"])
def test_the_type_of_a_format_with_a_schema_is_not_inferred_from_a_sample(name: str) -> None:
    assert infer_serde([b'{"a": 1}'], Format(name)) is None
