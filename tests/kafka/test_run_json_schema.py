"""A processor of JSON topics with schemas in a real registry: what it reads, writes and registers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from devkit.registry import Registry
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from lsql_runner.formats.schema_id import schema_id_prefix, starts_with_schema_id, without_schema_id
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(180)

SCHEMA = {"type": "object", "properties": {"plate": {"type": "string"}, "speed": {"type": ["number", "null"]}}}
FAST: dict[str, Any] = {"plate": "b", "speed": 50.0, "more": [1]}


@pytest.fixture
def source(broker: Broker, registry: Registry, topic: TopicFactory) -> str:
    """A topic with one record with a schema id and one without."""
    name = topic()
    schema_id = registry.register(f"{name}-value", json.dumps(SCHEMA), "JSON")
    slow = {"plate": "a", "speed": 5}
    broker.produce(name, [Record(b"k", schema_id_prefix(schema_id) + encoded(FAST)), Record(b"k", encoded(slow))])
    return name


@pytest.fixture
def run_to(broker: Broker, registry: Registry, engine: SparkEngine, tmp_path: Path) -> Callable[..., list[Record]]:
    """Runs a program until two records of its source are read; returns the content of the target."""

    def run(sql: str, target: str) -> list[Record]:
        env = {"SQL_SCHEMA_REGISTRY_URL": registry.url}
        with in_process(engine, broker.bootstrap, sql, f"json-{target}", tmp_path, **env) as running:
            running.read_to(2)
        return broker.consume_all(target)

    return run


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def valid(registry: Registry, record: Record) -> Any:
    """The value of a record, validated with the schema of its id."""
    assert record.value is not None
    assert starts_with_schema_id(record.value)
    value = json.loads(without_schema_id(record.value))
    Draft7Validator(json.loads(registry.schema(int.from_bytes(record.value[1:5], "big")))).validate(value)
    return value


def test_computed_records_have_the_id_of_a_new_schema(
    source: str, registry: Registry, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    target = topic()

    records = run_to(f"INSERT INTO {target} SELECT STREAM plate, speed * 2 AS twice FROM {source}", target)

    assert [valid(registry, one) for one in records] == [{"plate": "b", "twice": 100.0}, {"plate": "a", "twice": 10.0}]
    assert registry.versions(f"{target}-value") == [1]


def test_records_that_are_only_copied_keep_their_bytes(
    source: str, broker: Broker, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    target = topic()

    records = run_to(f"INSERT INTO {target} SELECT STREAM * FROM {source}", target)

    assert [one.value for one in records] == [one.value for one in broker.consume_all(source)]


def test_a_field_is_added_to_all_fields_of_a_record(
    source: str, registry: Registry, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    target = topic()

    first, _ = run_to(f"INSERT INTO {target} SELECT STREAM *, speed > 10 AS fast FROM {source}", target)

    assert valid(registry, first) == FAST | {"fast": True}


def test_the_program_determines_whether_json_has_a_schema_id(
    source: str, broker: Broker, registry: Registry, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    plain, bare, named = topic(), topic(), topic()
    broker.produce(plain, [Record(b"k", encoded(FAST)), Record(b"k", None)])

    without = run_to(
        f"SET defaults.topic.value.json.schema=false; INSERT INTO {bare} SELECT STREAM * FROM {source}", bare
    )
    first, tombstone = run_to(
        f"SET `topic.{named}.value.json.schema`=true; INSERT INTO {named} SELECT STREAM * FROM {plain}", named
    )

    assert without[0].value == encoded(FAST)
    assert valid(registry, first) == FAST
    assert tombstone.value is None


def test_the_key_of_a_windowed_count_is_followed_by_its_window(
    broker: Broker, registry: Registry, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    source, target = topic(), topic()
    key_id = registry.register(f"{source}-key", json.dumps(SCHEMA), "JSON")
    key = schema_id_prefix(key_id) + encoded({"plate": "b"})
    broker.produce(source, [Record(key, encoded(FAST), timestamp_ms=1_000), Record(key, encoded(FAST), timestamp_ms=1)])
    sql = f"INSERT INTO {target} SELECT STREAM COUNT(*) AS n FROM {source} WHERE _key.plate = 'b' WINDOW BY TUMBLE 1d"

    *_, last = run_to(sql, target)

    # One form of the key, whatever the producers of its records wrote: with the schema of the target.
    assert last.key is not None
    written_id = int.from_bytes(last.key[1:5], "big")
    assert (json.loads(last.key[5:-8]), last.key[-8:]) == ({"plate": "b"}, bytes(8))
    assert registry.versions(f"{target}-key") == [1]
    Draft7Validator(json.loads(registry.schema(written_id))).validate({"plate": "b"})
    assert json.loads(last.value or b"") == {"n": 2}


@pytest.mark.parametrize("value", [b"\0", b"\0\0\0\0\1", b"\0\0\0\0\1{", b"\0\0\0\0\1[]"])
def test_a_schema_id_without_an_object_is_malformed(
    source: str,
    value: bytes,
    broker: Broker,
    registry: Registry,
    topic: TopicFactory,
    engine: SparkEngine,
    tmp_path: Path,
) -> None:
    target = topic()
    broker.produce(source, [Record(b"k", value)])
    sql = f"INSERT INTO {target} SELECT STREAM plate FROM {source}"
    env = {"SQL_SCHEMA_REGISTRY_URL": registry.url}

    with in_process(engine, broker.bootstrap, sql, f"json-{target}", tmp_path, **env) as running:
        failed = running.wait_for(lambda s: s.state is State.FAILED)

    assert failed.reason is not None
    assert (failed.reason.code, failed.reason.params["offset"]) == ("RECORD_MALFORMED", 2)
