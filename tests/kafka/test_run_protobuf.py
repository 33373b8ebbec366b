"""A processor of PROTOBUF topics with a real registry: what it reads, writes and registers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.in_process import in_process
from devkit.protobuf import decoded, encoded
from devkit.records import Record
from devkit.registry import Registry
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.formats.proto_text import parse_proto
from tests.conftest import TopicFactory

pytestmark = pytest.mark.timeout(180)

OLD = """
syntax = "proto3";
package com.example;
message Vehicle { string plate = 1; optional double speed = 2; }
"""
NEW = """
syntax = "proto3";
package com.example;
import "google/protobuf/timestamp.proto";
message Place { string name = 1; }
message Vehicle { string plate = 1; optional double speed = 2; google.protobuf.Timestamp at = 3; Place place = 4; }
"""


def test_a_new_version_of_the_schema_is_read_while_it_runs(
    broker: Broker, registry: Registry, topic: TopicFactory, engine: SparkEngine, tmp_path: Path
) -> None:
    source, target, plain = topic(), topic(), topic()
    old_id = registry.register(f"{source}-value", OLD, "PROTOBUF")
    earlier = 'syntax = "proto3"; message Fast { optional double twice = 7; optional string gone = 9; }'
    registry.register(f"{target}-value", earlier, "PROTOBUF")
    key_id = registry.register(f"{source}-key", 'syntax = "proto3"; message Id { int64 id = 1; }', "PROTOBUF")
    key = encoded('syntax = "proto3"; message Id { int64 id = 1; }', key_id, {"id": 5})
    broker.produce(source, [Record(key, encoded(OLD, old_id, {"plate": "a", "speed": 5.0}))])
    sql = f"""
        SET defaults.topic.value.protobuf.message='Fast';
        SET defaults.topic.value.protobuf.package='com.example.fast';
        INSERT INTO {target} SELECT STREAM plate, COALESCE(speed, 0) * 2 AS twice FROM {source};
        INSERT INTO {plain} STORE KEY AS JSON VALUE AS JSON SELECT STREAM * FROM {source};
    """
    env = {"SQL_SCHEMA_REGISTRY_URL": registry.url}

    with in_process(engine, broker.bootstrap, sql, f"proto-{target}", tmp_path, **env) as running:
        running.read_to(1)
        new_id = registry.register(f"{source}-value", NEW, "PROTOBUF")
        value = {"plate": "b", "at": 1_700_000_000_123, "place": {"name": "x"}}
        broker.produce(source, [Record(key, encoded(NEW, new_id, value, "Vehicle"))])
        broker.produce(source, [Record(key, encoded(OLD, old_id, {"plate": "c", "speed": 7.0}))])
        status = running.read_to(3)

    assert status.restarts == 0
    records = broker.consume_all(target)
    assert [decoded(registry, r.value) for r in records] == [
        {"plate": "a", "twice": 10.0},
        {"plate": "b", "twice": 0.0},
        {"plate": "c", "twice": 14.0},
    ]
    assert {r.key for r in records} == {key}
    file = parse_proto(registry.schema(int.from_bytes((records[0].value or b"")[1:5], "big")))
    [message] = file.messages
    assert (file.package, message.name, message.reserved) == ("com.example.fast", "Fast", ((9, 9),))
    assert {field.name: field.number for field in message.fields} == {"plate": 10, "twice": 7}
    assert registry.versions(f"{target}-value") == [1, 2]
    both = [(json.loads(r.key or b""), json.loads(r.value or b"")) for r in broker.consume_all(plain)]
    assert both[0] == ({"id": 5}, {"plate": "a", "speed": 5.0})
