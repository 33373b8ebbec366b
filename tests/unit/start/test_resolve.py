"""The order of sources for a topic's schema: program, LSQL_TOPICS, pinned schema, registry, sample."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from devkit.fake_brokers import FakeBrokers
from devkit.fake_registry import FakeRegistry
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.errors import LsqlError
from lsql_runner.formats.avro import AVRO_FORMAT
from lsql_runner.formats.avro_schema import avro_serde
from lsql_runner.formats.catalog import (
    BYTES_FORMAT,
    JSON_FORMAT,
    STRING_FORMAT,
    Format,
    SchemaOrigin,
    Serde,
    TopicSchema,
)
from lsql_runner.formats.proto_schema import proto_serde
from lsql_runner.formats.protobuf import PROTOBUF_FORMAT
from lsql_runner.formats.text_formats import text_serde
from lsql_runner.kafka.registry import SchemaReference
from lsql_runner.sql.parser import parse
from lsql_runner.start.resolve import KnownSchemas, resolve_catalog
from lsql_runner.types import BYTES, STRING, describe, parse_type

PROTO_OLD = 'syntax = "proto3"; message A { message B { int32 b = 1; } }'
PROTO_NEW = 'syntax = "proto3"; message X { int32 x = 1; } message A { message B { int32 b = 1; int32 c = 2; } }'

PROGRAM = "INSERT INTO target SELECT STREAM * FROM orders"


def brokers_with(*records: tuple[bytes | None, bytes | None]) -> FakeBrokers:
    """Brokers with the topic `orders`, whose first partition of three holds the records."""
    brokers = FakeBrokers()
    brokers.add_topic("orders", 3)
    brokers.produce("orders", *records)
    return brokers


def known(schema: str, origin: SchemaOrigin) -> dict[str, TopicSchema]:
    value = Serde(JSON_FORMAT, parse_type(schema))
    return {"orders": TopicSchema("orders", Serde(STRING_FORMAT, STRING), value, origin=origin)}


def resolved(
    brokers: FakeBrokers,
    program: str = PROGRAM,
    declared: Mapping[str, TopicSchema] | None = None,
    pinned: Mapping[str, TopicSchema] | None = None,
    registry: FakeRegistry | None = None,
) -> TopicSchema:
    knowledge = KnownSchemas(declared=declared or {}, pinned=pinned or {}, sample_records=2, registry=registry)
    return resolve_catalog(parse(program), ProgramSettings(), brokers, knowledge).schemas["orders"]


def test_an_unknown_topic_is_sampled() -> None:
    schema = resolved(brokers_with((b"k", b'{"id": 1}')))

    assert (str(schema.key.format), describe(schema.value.type)) == ("STRING", "struct<id: numeric>")
    assert (schema.origin, schema.partitions) == ("sampled", 3)


def test_a_declared_topic_is_not_sampled() -> None:
    brokers = brokers_with((b"k", b'{"id": 1}'))

    schema = resolved(brokers, declared=known("struct<id: string>", "declared"))

    assert describe(schema.value.type) == "struct<id: string>"
    assert (schema.origin, schema.partitions, brokers.sampled) == ("declared", 3, [])


def test_a_declared_schema_replaces_a_pinned_one() -> None:
    declared, pinned = known("struct<id: string>", "declared"), known("struct<id: long>", "declared")

    assert describe(resolved(brokers_with(), declared=declared, pinned=pinned).value.type) == "struct<id: string>"


def test_a_pinned_schema_keeps_its_types_and_adds_new_fields() -> None:
    brokers = brokers_with((b"k", b'{"id": "text", "color": "red"}'))

    schema = resolved(brokers, pinned=known("struct<id: long>", "declared"))

    assert (schema.origin, describe(schema.value.type)) == ("pinned", "struct<id: long, color: string>")


def test_a_pinned_schema_is_used_for_an_empty_topic() -> None:
    schema = resolved(brokers_with(), pinned=known("struct<id: long>", "declared"))

    assert (schema.origin, describe(schema.value.type)) == ("pinned", "struct<id: long>")


def test_a_format_in_the_program_comes_first() -> None:
    brokers = brokers_with((b"k", b'{"id": 1}'))
    program = f"{PROGRAM} WHERE _ktype = BYTES AND _vtype = STRING"
    declared, pinned = known("struct<id: string>", "declared"), known("struct<id: long>", "declared")

    schema = resolved(brokers, program, declared, pinned)

    assert (schema.key, schema.value) == (Serde(BYTES_FORMAT, BYTES), Serde(STRING_FORMAT, STRING))
    assert schema.origin == "sampled"


def test_a_format_in_the_program_that_agrees_changes_nothing() -> None:
    declared = known("struct<id: string>", "declared")

    schema = resolved(brokers_with(), f"{PROGRAM} WHERE _vtype = JSON", declared)

    assert schema.origin == "declared"


@pytest.mark.parametrize("name", ["CSV", "XML"])
def test_a_format_without_a_schema_must_be_declared(name: str) -> None:
    with pytest.raises(LsqlError) as caught:
        resolved(brokers_with((b"k", b"1,2")), f"{PROGRAM} WHERE _vtype = {name}")

    assert (caught.value.code, caught.value.params) == ("SCHEMA_UNDECLARED", {"topic": "orders", "format": name})


def test_a_windowed_key_whose_schema_is_in_a_registry_must_be_declared() -> None:
    with pytest.raises(LsqlError) as caught:
        resolved(brokers_with((bytes(13), b"{}")), f"{PROGRAM} WHERE _ktype = 'TW[AVRO]'")

    assert (caught.value.code, caught.value.params) == ("SCHEMA_UNDECLARED", {"topic": "orders", "format": "TW[AVRO]"})


def test_a_pinned_schema_without_a_declaration_stays() -> None:
    value = text_serde(Format("CSV"), parse_type("struct<a: int>"), {"delimiter": ";"})
    pinned = {"orders": TopicSchema("orders", Serde(STRING_FORMAT, STRING), value, origin="declared")}

    schema = resolved(brokers_with((b"k", b'{"b": 1}')), f"{PROGRAM} WHERE _vtype = CSV", pinned=pinned)

    assert (schema.value, schema.origin) == (value, "pinned")


@pytest.mark.parametrize("records", [[], [(b"k", None)]])
def test_a_topic_without_values_is_empty(records: list[tuple[bytes | None, bytes | None]]) -> None:
    with pytest.raises(LsqlError) as caught:
        resolved(brokers_with(*records))

    assert (caught.value.code, caught.value.params) == ("TOPIC_EMPTY", {"topic": "orders"})


def test_keys_that_are_all_null_have_the_format_string() -> None:
    assert resolved(brokers_with((None, b'{"id": 1}'))).key == Serde(STRING_FORMAT, STRING)


def test_a_missing_topic_is_left_to_the_binder() -> None:
    brokers = FakeBrokers()
    brokers.add_topic("other")

    catalog = resolve_catalog(parse(PROGRAM), ProgramSettings(), brokers, KnownSchemas(declared={}, pinned={}))

    assert (dict(catalog.schemas), catalog.existing) == ({}, frozenset({"other"}))


def avro(*fields: dict[str, Any], name: str = "Order") -> str:
    return json.dumps({"type": "record", "name": name, "namespace": "com.shop", "fields": list(fields)})


ID = {"name": "id", "type": "long"}
COLOR = {"name": "color", "type": ["null", "string"], "default": None}


def json_schema(**fields: str) -> str:
    return json.dumps({"type": "object", "properties": {name: {"type": kind} for name, kind in fields.items()}})


def with_id(schema_id: int) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + b"body"


class TestRegistry:
    def test_the_newest_version_of_the_subject_is_the_schema_even_of_an_empty_topic(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "AVRO", avro(ID))
        registry.register("orders-value", "AVRO", avro(ID, COLOR))
        registry.register("orders-key", "AVRO", '"string"')

        schema = resolved(brokers_with(), registry=registry)

        assert (str(schema.key.format), describe(schema.key.type)) == ("AVRO", "string")
        assert describe(schema.value.type) == "struct<id: long not null, color: string>"
        assert (schema.value.schema, schema.origin) == (avro(ID, COLOR).replace(" ", ""), "registry")

    def test_a_key_without_a_subject_is_sampled(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "AVRO", avro(ID))

        schema = resolved(brokers_with((b"k", with_id(1))), registry=registry)

        assert (str(schema.key.format), str(schema.value.format)) == ("STRING", "AVRO")

    def test_without_a_subject_the_id_in_the_records_names_the_schema(self) -> None:
        registry = FakeRegistry()
        known_id = registry.register("elsewhere-value", "AVRO", avro(ID))

        schema = resolved(brokers_with((b"k", None), (b"k", with_id(known_id))), registry=registry)

        assert (str(schema.value.format), describe(schema.value.type)) == ("AVRO", "struct<id: long not null>")

    @pytest.mark.parametrize("record", [with_id(99), b"\0\0\0", b"\0"])
    def test_records_with_an_unknown_schema_id_are_bytes(self, record: bytes) -> None:
        schema = resolved(brokers_with((b"k", record)), registry=FakeRegistry())

        assert schema.value.format == BYTES_FORMAT

    def test_json_without_a_registered_schema_is_sampled(self) -> None:
        schema = resolved(brokers_with((b"k", b'{"id": 1}')), registry=FakeRegistry())

        assert (schema.value.format, schema.origin) == (JSON_FORMAT, "sampled")

    def test_a_format_in_the_program_takes_precedence_over_the_registry(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "AVRO", avro(ID))

        schema = resolved(brokers_with(), f"{PROGRAM} WHERE _vtype = BYTES", registry=registry)

        assert schema.value == Serde(BYTES_FORMAT, BYTES)

    def test_avro_without_a_registry_is_refused(self) -> None:
        with pytest.raises(LsqlError) as caught:
            resolved(brokers_with(), f"{PROGRAM} WHERE _vtype = AVRO")

        assert (caught.value.code, caught.value.params) == ("REGISTRY_MISSING", {"topic": "orders"})

    def test_a_declared_schema_needs_a_registry_for_the_schemas_of_the_records(self) -> None:
        value = avro_serde(AVRO_FORMAT, avro(ID))
        declared = {"orders": TopicSchema("orders", Serde(STRING_FORMAT, STRING), value)}

        with pytest.raises(LsqlError) as caught:
            resolved(brokers_with(), declared=declared)

        assert caught.value.code == "REGISTRY_MISSING"
        assert resolved(brokers_with(), declared=declared, registry=FakeRegistry()).value == value

    def test_avro_without_subject_and_records_is_an_empty_topic(self) -> None:
        with pytest.raises(LsqlError) as caught:
            resolved(brokers_with(), f"{PROGRAM} WHERE _vtype = AVRO", registry=FakeRegistry())

        assert caught.value.code == "TOPIC_EMPTY"

    def test_an_unreachable_registry_is_an_error_and_not_another_format(self) -> None:
        registry = FakeRegistry()
        registry.outage = LsqlError("REGISTRY_UNREACHABLE", urls="u", reason="w")

        with pytest.raises(LsqlError) as caught:
            resolved(brokers_with((b"k", b'{"id": 1}')), registry=registry)

        assert caught.value.code == "REGISTRY_UNREACHABLE"

    def test_referenced_schemas_are_included(self) -> None:
        registry = FakeRegistry()
        registry.register("money", "AVRO", avro({"name": "amount", "type": "double"}, name="Money"))
        refers = [SchemaReference("com.shop.Money", "money", 1)]
        total = {"name": "total", "type": "com.shop.Money"}
        registry.register("orders-value", "AVRO", avro(total), refers)

        schema = resolved(brokers_with(), registry=registry)

        assert describe(schema.value.type) == "struct<total: struct<amount: double not null> not null>"

    def test_json_schema_gives_the_type_even_of_an_empty_topic(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "JSON", json_schema(id="integer", color="string"))

        schema = resolved(brokers_with(), registry=registry)

        assert schema.value == Serde(JSON_FORMAT, parse_type("struct<id: long, color: string>"), has_schema_id=True)
        assert schema.origin == "registry"

    @pytest.mark.parametrize(
        ("records", "has_schema_id"),
        [
            ([b'{"id": 1}', b'{"id": 2}'], False),
            ([b'{"id": 1}', with_id(1)], True),
            ([None], True),
        ],
        ids=["no record has an id", "one record has an id", "there is no record"],
    )
    def test_json_has_a_schema_id_if_a_record_of_the_sample_has_one(
        self, records: list[bytes | None], has_schema_id: bool
    ) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "JSON", json_schema(id="integer"))

        schema = resolved(brokers_with(*((b"k", value) for value in records)), registry=registry)

        assert (schema.value.has_schema_id, describe(schema.value.type)) == (has_schema_id, "struct<id: long>")

    def test_a_json_schema_without_a_subject_is_found_by_the_id_in_the_records(self) -> None:
        registry = FakeRegistry()
        known_id = registry.register("elsewhere", "JSON", json_schema(id="integer"))

        schema = resolved(brokers_with((b"k", with_id(known_id))), registry=registry)

        assert schema.value == Serde(JSON_FORMAT, parse_type("struct<id: long>"), has_schema_id=True)

    def test_a_json_schema_that_allows_anything_leaves_the_type_to_the_sample(self) -> None:
        registry = FakeRegistry()
        known_id = registry.register("orders-value", "JSON", '{"type": "object"}')
        record = with_id(known_id).removesuffix(b"body") + b'{"id": 1}'

        schema = resolved(brokers_with((b"k", record)), registry=registry)

        assert schema.value == Serde(JSON_FORMAT, parse_type("struct<id: numeric>"), has_schema_id=True)

    def test_a_referenced_json_schema_gives_the_type(self) -> None:
        registry = FakeRegistry()
        registry.register("money", "JSON", json_schema(cents="integer"))
        whole = json.dumps({"type": "object", "properties": {"total": {"$ref": "money.json"}}})
        registry.register("orders-value", "JSON", whole, [SchemaReference("money.json", "money", 1)])

        schema = resolved(brokers_with(), f"{PROGRAM} WHERE _vtype = JSON", registry=registry)

        assert describe(schema.value.type) == "struct<total: struct<cents: long>>"

    def test_a_json_schema_that_cannot_be_read_is_refused(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "JSON", '{"$ref": "#/nowhere"}')

        with pytest.raises(LsqlError) as caught:
            resolved(brokers_with(), registry=registry)

        assert (caught.value.code, caught.value.params["schema"]) == (
            "SCHEMA_UNREADABLE",
            "subjects/orders-value/versions/1",
        )

    def test_pinned_json_takes_the_new_fields_of_its_schema_and_keeps_its_types(self) -> None:
        value = Serde(JSON_FORMAT, parse_type("struct<id: long>"), has_schema_id=True)
        pinned = {"orders": TopicSchema("orders", Serde(STRING_FORMAT, STRING), value, origin="registry")}
        registry = FakeRegistry()
        registry.register("orders-value", "JSON", json_schema(id="string", color="string"))

        schema = resolved(brokers_with(), pinned=pinned, registry=registry)

        assert schema.value == replace(value, type=parse_type("struct<id: long, color: string>"))

    def test_protobuf_is_read_by_the_newest_version_and_what_it_imports(self) -> None:
        registry = FakeRegistry()
        registry.register("money", "PROTOBUF", 'syntax = "proto3"; package c; message Money { int64 cents = 1; }')
        text = 'syntax = "proto3"; import "c.proto"; message Order { c.Money total = 1; }'
        registry.register("orders-value", "PROTOBUF", text, [SchemaReference("c.proto", "money", 1)])

        schema = resolved(brokers_with(), registry=registry)

        assert (schema.origin, str(schema.value.format)) == ("registry", "PROTOBUF")
        assert describe(schema.value.type) == "struct<total: struct<cents: long not null>>"

    def test_the_message_of_the_newest_record_is_read(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "PROTOBUF", PROTO_OLD)
        registry.register("orders-value", "PROTOBUF", PROTO_NEW)
        brokers = brokers_with((b"k", with_id(1)[:5] + b"\x04\0\0"))

        schema = resolved(brokers, registry=registry)

        assert (dict(schema.value.options), describe(schema.value.type)) == (
            {"message": "A.B"},
            "struct<b: int not null, c: int not null>",
        )

    def test_a_pinned_message_is_kept(self) -> None:
        value = proto_serde(PROTOBUF_FORMAT, PROTO_OLD, "A.B")
        pinned = {"orders": TopicSchema("orders", Serde(STRING_FORMAT, STRING), value, origin="registry")}
        registry = FakeRegistry()
        registry.register("orders-value", "PROTOBUF", PROTO_NEW)

        schema = resolved(brokers_with(), pinned=pinned, registry=registry)

        assert (schema.origin, describe(schema.value.type)) == ("pinned", "struct<b: int not null, c: int not null>")

    def test_a_recursive_schema_is_refused(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "AVRO", avro({"name": "next", "type": ["null", "com.shop.Order"]}))

        with pytest.raises(LsqlError) as caught:
            resolved(brokers_with(), registry=registry)

        assert (caught.value.code, caught.value.params) == (
            "SCHEMA_RECURSIVE",
            {"schema": "subjects/orders-value/versions/1", "type": "com.shop.Order", "field": "next"},
        )

    def test_a_schema_without_a_type_is_refused(self) -> None:
        registry = FakeRegistry()
        registry.register("orders-value", "AVRO", avro({"name": "a", "type": "com.shop.Unknown"}))

        with pytest.raises(LsqlError) as caught:
            resolved(brokers_with(), registry=registry)

        assert (caught.value.code, caught.value.params["schema"]) == (
            "SCHEMA_UNREADABLE",
            "subjects/orders-value/versions/1",
        )

    @pytest.mark.parametrize(
        ("newer", "kind"),
        [
            (avro(ID, COLOR), "struct<id: long not null, color: string>"),
            (avro(COLOR), "struct<id: long not null>"),
            (avro({"name": "id", "type": "string"}), "struct<id: long not null>"),
        ],
        ids=["a new field is added", "a removed field stays", "a changed type stays"],
    )
    def test_a_newer_schema_with_all_pinned_fields_is_used(self, newer: str, kind: str) -> None:
        value = avro_serde(AVRO_FORMAT, avro(ID))
        pinned = {"orders": TopicSchema("orders", Serde(STRING_FORMAT, STRING), value, origin="registry")}
        registry = FakeRegistry()
        registry.register("orders-value", "AVRO", newer)

        schema = resolved(brokers_with((b"k", with_id(1))), pinned=pinned, registry=registry)

        assert (schema.origin, describe(schema.value.type)) == ("pinned", kind)
