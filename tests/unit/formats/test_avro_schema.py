"""Avro schemas and types of the language."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.avro_schemas import REFUSED, TYPED, record
from lsql_runner.formats.avro_schema import read_avro, write_avro
from lsql_runner.formats.avro_text import inline_references, narrowed_avro
from lsql_runner.formats.spec import FieldNameError, FormatError
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    describe,
)


def kind_of(schema: Any) -> str:
    return describe(read_avro(json.dumps(schema))[0])


@pytest.mark.parametrize(("schema", "kind"), TYPED)
def test_each_schema_has_a_type(schema: Any, kind: str) -> None:
    assert kind_of(schema) == kind


def test_a_field_is_nullable_where_its_schema_allows_null() -> None:
    kind, nullable = read_avro(
        json.dumps(record({"name": "a", "type": "int"}, {"name": "b", "type": ["null", "int"], "default": None}))
    )

    assert (kind, nullable) == (Struct((Field("a", INT, False), Field("b", INT, True))), False)
    assert read_avro('["null", "int"]') == (INT, True)


@pytest.mark.parametrize("name", ["inner", "outer.space.inner"], ids=["by its short name", "by its full name"])
def test_a_schema_can_refer_to_a_named_type(name: str) -> None:
    inner = record({"name": "x", "type": "long"}, name="inner")

    kind = kind_of(record({"name": "a", "type": inner}, {"name": "b", "type": name}, namespace="outer.space"))

    assert kind == "struct<a: struct<x: long not null> not null, b: struct<x: long not null> not null>"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        *REFUSED,
        (record({"name": "a", "type": {"type": "array", "items": 7}}), "not an Avro schema (field a[])"),
        ({"type": "enum", "symbols": []}, "enum without a name"),
        ({"name": "nothing"}, "not an Avro schema"),
    ],
)
def test_a_schema_without_a_type_is_refused_with_its_place(schema: Any, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_avro(json.dumps(schema))

    assert caught.value.reason == reason


def test_a_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(FormatError) as caught:
        read_avro("record")

    assert caught.value.reason.code == "NOT_JSON"


def test_all_records_of_a_written_schema_have_names() -> None:
    kind = Struct(
        (
            Field("id", LONG, False),
            Field("at", TIMESTAMP),
            Field("place", Struct((Field("x", DOUBLE),))),
            Field("lines", Array(Struct((Field("sku", STRING),)))),
        )
    )

    assert json.loads(write_avro(kind, False, "order", "com.example")) == {
        "type": "record",
        "name": "order",
        "namespace": "com.example",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
            {
                "name": "place",
                "type": [
                    "null",
                    record({"name": "x", "type": ["null", "double"], "default": None}, name="order_place"),
                ],
                "default": None,
            },
            {
                "name": "lines",
                "type": [
                    "null",
                    {
                        "type": "array",
                        "items": [
                            "null",
                            record(
                                {"name": "sku", "type": ["null", "string"], "default": None}, name="order_lines_item"
                            ),
                        ],
                    },
                ],
                "default": None,
            },
        ],
    }


def test_a_field_name_that_is_invalid_in_avro_is_refused() -> None:
    with pytest.raises(FieldNameError) as caught:
        write_avro(Struct((Field("a-b", INT),)), False, "r", "")

    assert caught.value.field == "a-b"


SCALARS: list[DataType] = [BOOLEAN, INT, LONG, FLOAT, DOUBLE, BYTES, STRING, DATE, TIMESTAMP, Decimal(12, 3)]
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)


def structs(kinds: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.lists(st.builds(Field, NAMES, kinds, st.booleans()), min_size=1, max_size=4, unique_by=lambda f: f.name)
    return fields.map(lambda members: Struct(tuple(members)))


KINDS = st.recursive(
    st.sampled_from(SCALARS), lambda kinds: st.one_of(kinds.map(Array), kinds.map(Map), structs(kinds)), max_leaves=12
)


@given(structs(KINDS), st.booleans())
def test_a_written_schema_reads_back_as_the_same_type(kind: DataType, nullable: bool) -> None:
    assert read_avro(write_avro(kind, nullable, "r", "a.b")) == (kind, nullable)


@given(structs(KINDS), st.data())
def test_a_narrowed_schema_has_the_fields_of_the_narrowed_type(kind: DataType, data: st.DataObject) -> None:
    narrow = narrowed(kind, data)

    assert read_avro(narrowed_avro(write_avro(kind, False, "r", "a.b"), narrow))[0] == narrow


def narrowed(kind: DataType, data: st.DataObject) -> DataType:
    """The type without some of its fields."""
    match kind:
        case Array(element):
            return Array(narrowed(element, data))
        case Map(value):
            return Map(narrowed(value, data))
        case Struct(fields):
            kept = [f for f in fields if data.draw(st.booleans())] or [fields[0]]
            return Struct(tuple(Field(f.name, narrowed(f.type, data), f.nullable) for f in kept))
    return kind


def test_a_schema_that_refers_to_a_named_type_is_not_narrowed() -> None:
    point = record({"name": "x", "type": "long"}, {"name": "y", "type": "long"}, name="point")
    text = json.dumps(record({"name": "a", "type": point}, {"name": "b", "type": ["null", "point"]}))

    assert narrowed_avro(text, Struct((Field("b", Struct((Field("x", LONG),))),))) == text


def test_referenced_definitions_are_inlined_where_they_are_first_used() -> None:
    money = record({"name": "amount", "type": "double"}, name="Money", namespace="com.pay")
    line = record({"name": "price", "type": "com.pay.Money"}, {"name": "cost", "type": "com.pay.Money"}, name="Line")
    order = record(
        {"name": "lines", "type": {"type": "array", "items": "Line"}}, {"name": "total", "type": "com.pay.Money"}
    )

    whole = inline_references(json.dumps(order), [json.dumps(line), json.dumps(money)])

    assert describe(read_avro(whole)[0]) == (
        "struct<lines: array<struct<price: struct<amount: double not null> not null, "
        "cost: struct<amount: double not null> not null>> not null, total: struct<amount: double not null> not null>"
    )
    assert whole.count('"amount"') == 1


def test_a_reference_in_the_same_namespace_needs_no_namespace() -> None:
    money = record({"name": "amount", "type": "double"}, name="Money", namespace="com.pay")
    order = record({"name": "total", "type": "Money"}, namespace="com.pay")

    assert kind_of(json.loads(inline_references(json.dumps(order), [json.dumps(money)]))) == (
        "struct<total: struct<amount: double not null> not null>"
    )


@given(structs(KINDS))
def test_a_schema_without_references_is_unchanged(kind: DataType) -> None:
    text = write_avro(kind, False, "r", "a.b")

    assert inline_references(text) == text


def test_the_null_type_is_written() -> None:
    assert write_avro(Struct((Field("a", NULL),)), False, "r", "") == (
        '{"type":"record","name":"r","fields":[{"name":"a","type":"null"}]}'
    )
