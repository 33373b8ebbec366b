"""Output schemas: the requests to the registry, and the texts and ids in the plan."""

from __future__ import annotations

import pytest

from devkit.fake_registry import FakeRegistry
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Catalog, Serde, TopicSchema
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.queries import Plan
from lsql_runner.start.registry_schemas import output_schemas, register_output_schemas, unregistered_schemas
from lsql_runner.types import LONG, STRING, Field, Struct

KIND = Struct((Field("g", STRING), Field("a", LONG)))
CATALOG = Catalog({"t": TopicSchema("t", Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, KIND), partitions=1)})


def plan(kind: str, *selects: str) -> Plan:
    inserts = ";".join(f" INSERT INTO o STORE VALUE AS {kind} SELECT STREAM {select} FROM t" for select in selects)
    return plan_text(f"SET autocreate=true;{inserts}", CATALOG).plan


def test_a_new_schema_has_no_id_and_is_not_registered() -> None:
    registry = FakeRegistry()

    [schema] = output_schemas(plan("AVRO", "a"), registry)

    assert (schema.subject, schema.kind, schema.id, schema.incompatibility) == ("o-value", "AVRO", None, None)
    assert registry.texts() == {}


def test_a_schema_of_an_older_version_has_its_id_and_is_not_checked() -> None:
    registry = FakeRegistry()
    [schema] = output_schemas(plan("AVRO", "a"), registry)
    first = registry.register(schema.subject, schema.kind, schema.text)
    registry.register("o-value", "AVRO", '{"type": "record", "name": "Newer", "fields": []}')
    registry.strict.add("o-value")

    [again] = output_schemas(plan("AVRO", "a"), registry)

    assert (again.id, again.incompatibility) == (first, None)


def test_inserts_with_equal_schemas_share_one_id() -> None:
    registry = FakeRegistry()
    three = plan("AVRO", "a", "a", "g")

    assert len(output_schemas(three, registry)) == 2
    assert [write.value_id for write in register_output_schemas(three, registry).topic_writes] == [1, 1, 2]


def test_a_protobuf_schema_has_the_numbers_of_the_newest_version() -> None:
    registry = FakeRegistry()
    registry.register("o-value", "PROTOBUF", 'syntax = "proto3"; message o { int64 x = 1; int64 a = 7; }')

    [schema] = output_schemas(plan("PROTOBUF", "a"), registry)

    assert "a = 7;" in schema.text
    assert "a = 1;" in schema.planned


def test_the_second_of_two_protobuf_schemas_has_the_numbers_of_the_first() -> None:
    registry = FakeRegistry()

    first, second = output_schemas(plan("PROTOBUF", "g, a", "a"), registry)

    assert "a = 2;" in first.text
    assert "a = 2;" in second.text


def test_a_program_with_output_schemas_needs_a_registry() -> None:
    with pytest.raises(LsqlError) as caught:
        output_schemas(plan("AVRO", "a"), None)

    assert (caught.value.code, output_schemas(plan("JSON", "a"), None)) == ("REGISTRY_MISSING", ())
    assert [schema.subject for schema in unregistered_schemas(plan("AVRO", "a"))] == ["o-value"]
