"""A processor of AVRO topics with a real registry: what it reads, writes and registers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devkit.avro import decoded, encoded
from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.records import Record
from devkit.registry import Registry
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(180)

PLATE = {"name": "plate", "type": "string"}
SPEED = {"name": "speed", "type": ["null", "double"], "default": None}
AT = {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 0}


def vehicle(*fields: Any) -> str:
    return json.dumps({"type": "record", "name": "Vehicle", "namespace": "com.example", "fields": list(fields)})


OLD, NEW = vehicle(PLATE, SPEED), vehicle(PLATE, SPEED, AT)


class Vehicles:
    """A source topic, its subject, and records of both versions of its schema."""

    def __init__(self, broker: Broker, registry: Registry, topic: str) -> None:
        self._broker, self._registry, self.topic = broker, registry, topic
        self.old_id = registry.register(f"{topic}-value", OLD)
        self._written = 0

    def write(self, schema: str, schema_id: int, **value: Any) -> None:
        self._broker.produce(self.topic, [Record(b"k", encoded(schema, schema_id, value))])
        self._written += 1


@pytest.fixture
def vehicles(broker: Broker, registry: Registry, topic: TopicFactory) -> Vehicles:
    return Vehicles(broker, registry, topic())


@pytest.fixture
def run_to(broker: Broker, registry: Registry, engine: SparkEngine, tmp_path: Path) -> Callable[..., list[Record]]:
    """Runs a program until its source is read to a position; returns the content of the target."""

    def run(sql: str, target: str, position: int) -> list[Record]:
        env = {"SQL_SCHEMA_REGISTRY_URL": registry.url}
        with in_process(engine, broker.bootstrap, sql, f"avro-{target}", tmp_path, **env) as running:
            running.read_to(position)
        return broker.consume_all(target)

    return run


def test_records_of_two_schemas_are_filtered_and_written_with_a_new_one(
    vehicles: Vehicles, registry: Registry, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    target = topic()
    new_id = registry.register(f"{vehicles.topic}-value", NEW)
    vehicles.write(OLD, vehicles.old_id, plate="a", speed=5.0)
    vehicles.write(OLD, vehicles.old_id, plate="b", speed=50.0)
    vehicles.write(NEW, new_id, plate="c", speed=70.0, at=1_700_000_000_123)
    sql = f"""
        SET defaults.topic.value.avro.record='Fast';
        SET defaults.topic.value.avro.namespace='com.example.fast';
        INSERT INTO {target} SELECT STREAM plate, speed * 2 AS twice, at FROM {vehicles.topic}
            WHERE speed IS NOT NULL AND speed > 10
    """

    records = run_to(sql, target, 3)

    values = [decoded(registry, record.value) for record in records]
    assert [(one["plate"], one["twice"]) for one in values] == [("b", 100.0), ("c", 140.0)]
    assert [int(one["at"].timestamp() * 1000) for one in values] == [0, 1_700_000_000_123]
    schema = json.loads(registry.schema(int.from_bytes((records[0].value or b"")[1:5], "big")))
    assert (schema["namespace"], schema["name"]) == ("com.example.fast", "Fast")
    assert registry.versions(f"{target}-value") == [1]


def test_a_record_that_is_only_copied_keeps_its_bytes(
    vehicles: Vehicles, broker: Broker, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    target = topic()
    vehicles.write(OLD, vehicles.old_id, plate="b", speed=50.0)

    [record] = run_to(f"INSERT INTO {target} SELECT STREAM * FROM {vehicles.topic}", target, 1)

    assert record.value == broker.consume_all(vehicles.topic)[0].value


def test_json_becomes_avro_and_avro_becomes_json(
    broker: Broker, registry: Registry, vehicles: Vehicles, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    source, as_avro, as_json = topic(), topic(), topic()
    broker.produce(source, [Record(b"k", b'{"id": 1, "name": "n", "tags": ["a", "b"]}')])
    vehicles.write(OLD, vehicles.old_id, plate="b", speed=None)

    [there] = run_to(f"INSERT INTO {as_avro} STORE VALUE AS AVRO SELECT STREAM * FROM {source}", as_avro, 1)
    [back] = run_to(f"INSERT INTO {as_json} STORE VALUE AS JSON SELECT STREAM * FROM {vehicles.topic}", as_json, 1)

    assert decoded(registry, there.value) == {"id": 1, "name": "n", "tags": ["a", "b"]}
    assert json.loads(back.value or b"") == {"plate": "b", "speed": None}


def test_a_field_is_added_to_all_fields_of_a_record(
    registry: Registry, vehicles: Vehicles, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    target = topic()
    vehicles.write(OLD, vehicles.old_id, plate="b", speed=50.0)

    [record] = run_to(
        f"INSERT INTO {target} SELECT STREAM *, COALESCE(speed, 0) > 10 AS fast FROM {vehicles.topic}", target, 1
    )

    assert decoded(registry, record.value) == {"plate": "b", "speed": 50.0, "fast": True}


def test_a_schema_that_the_registry_refuses_is_registered_again_later(
    broker: Broker, registry: Registry, vehicles: Vehicles, topic: TopicFactory, engine: SparkEngine, tmp_path: Path
) -> None:
    target = topic()
    subject = f"{target}-value"
    registry.register(subject, json.dumps({"type": "record", "name": "Other", "fields": [PLATE]}))
    registry.set_compatibility(subject, "BACKWARD")
    sql = f"INSERT INTO {target} STORE VALUE AS AVRO SELECT STREAM speed AS weight FROM {vehicles.topic}"
    env = {"SQL_SCHEMA_REGISTRY_URL": registry.url}

    with in_process(engine, broker.bootstrap, sql, f"avro-{target}", tmp_path, **env) as running:
        refused = running.wait_for(lambda s: s.reason is not None)
        registry.set_compatibility(subject, "NONE")
        running.wait_for(lambda s: s.state is State.RUNNING)

    assert refused.reason is not None
    assert (refused.state, refused.reason.code) == (State.RESTARTING, "SCHEMA_INCOMPATIBLE")


def test_a_windowed_count_of_avro_records(
    registry: Registry, vehicles: Vehicles, topic: TopicFactory, run_to: Callable[..., list[Record]]
) -> None:
    target = topic()
    for speed in (10.0, 20.0):
        vehicles.write(OLD, vehicles.old_id, plate="a", speed=speed)
    sql = f"""INSERT INTO {target} SELECT STREAM plate, COUNT(*) AS n, MAX(speed) AS most FROM {vehicles.topic}
              WINDOW BY TUMBLE 1d GROUP BY plate"""

    *_, last = run_to(sql, target, 2)

    assert decoded(registry, last.value) == {"plate": "a", "n": 2, "most": 20.0}
