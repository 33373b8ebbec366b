"""New versions, unknown versions and an unavailable registry, for each kind of schema.

A processor reads real records of versions that appear while it runs: no lower layer has a registry that changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from devkit import avro, protobuf
from devkit.broker import Broker
from devkit.in_process import InProcess, in_process
from devkit.records import Record
from devkit.registry import Registry
from devkit.registry_proxies import RegistryProxy
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.events.state import State
from lsql_runner.formats.schema_id import schema_id_of, schema_id_prefix, without_schema_id
from tests.conftest import TopicFactory
from tests.thorough import inputs

pytestmark = pytest.mark.timeout(180)

Values = dict[str, Any]


@dataclass(frozen=True)
class Schemas:
    """Versions of a schema: `old` has plate and speed, `new` also at, `newer` also lane."""

    type: str
    versions: tuple[str, str, str]
    encode: Callable[[str, int, Values], bytes]
    decode: Callable[[Registry, bytes | None], Values]


def _avro_schema(*added: str) -> str:
    fields = [{"name": "plate", "type": "string"}, {"name": "speed", "type": ["null", "double"], "default": None}]
    fields += [{"name": name, "type": "long", "default": 0} for name in added]
    return json.dumps({"type": "record", "name": "Vehicle", "fields": fields})


def _json_schema(*added: str) -> str:
    fields = {"plate": {"type": "string"}, "speed": {"type": ["number", "null"]}}
    return json.dumps({"type": "object", "properties": fields | {name: {"type": "integer"} for name in added}})


def _proto_schema(*added: str) -> str:
    fields = "".join(f" int64 {name} = {number};" for number, name in enumerate(added, start=3))
    return f'syntax = "proto3"; message Vehicle {{ string plate = 1; optional double speed = 2;{fields} }}'


def _json_value(registry: Registry, data: bytes | None) -> Values:
    assert data is not None
    assert registry.schema(schema_id_of(data))
    value: Values = json.loads(without_schema_id(data))
    return value


KINDS = [
    Schemas(type, (schema(), schema("at"), schema("at", "lane")), encode, decode)
    for type, schema, encode, decode in (
        ("AVRO", _avro_schema, avro.encoded, avro.decoded),
        ("JSON", _json_schema, lambda _, id, value: schema_id_prefix(id) + json.dumps(value).encode(), _json_value),
        ("PROTOBUF", _proto_schema, protobuf.encoded, protobuf.decoded),
    )
]


class Vehicles:
    """A source topic with records of several versions, and a program that computes with them."""

    def __init__(self, schemas: Schemas, broker: Broker, registry: Registry, topic: TopicFactory) -> None:
        self._schemas, self._broker, self._registry = schemas, broker, registry
        self.source, self.target = topic(), topic()
        self.sql = f"INSERT INTO {self.target} SELECT STREAM plate, COALESCE(speed, 0) * 2 AS twice FROM {self.source}"
        self.register(0)

    def register(self, version: int) -> int:
        return self._registry.register(f"{self.source}-value", self._schemas.versions[version], self._schemas.type)

    def write(self, version: int, schema_id: int, **value: Any) -> None:
        encoded = self._schemas.encode(self._schemas.versions[version], schema_id, value)
        self._broker.produce(self.source, [Record(b"k", encoded)])

    def write_unknown(self) -> None:
        """Write a record with the id of no schema."""
        self._broker.produce(self.source, [Record(b"k", b"\0\x7f\xff\xff\xff\2a")])

    def results(self) -> list[tuple[str, float]]:
        values = [self._schemas.decode(self._registry, r.value) for r in self._broker.consume_all(self.target)]
        return [(value["plate"], value["twice"]) for value in values]


@pytest.fixture(params=KINDS, ids=lambda schemas: schemas.type)
def schemas(request: pytest.FixtureRequest) -> Schemas:
    parameter: Schemas = request.param
    return parameter


@pytest.fixture
def vehicles(schemas: Schemas, broker: Broker, registry: Registry, topic: TopicFactory) -> Vehicles:
    return Vehicles(schemas, broker, registry, topic)


@pytest.fixture
def run(vehicles: Vehicles, broker: Broker, engine: SparkEngine, tmp_path: Path) -> Callable[[str], Any]:
    """Runs the program with a registry at a URL."""

    def run(registry_url: str) -> Any:
        env = {"SQL_SCHEMA_REGISTRY_URL": registry_url}
        return in_process(engine, broker.bootstrap, vehicles.sql, f"evolve-{vehicles.target}", tmp_path, **env)

    return run


def test_a_new_version_is_read_while_it_runs_and_a_restart_registers_nothing(
    vehicles: Vehicles, registry: Registry, run: Callable[[str], Any]
) -> None:
    running: InProcess
    old = vehicles.register(0)
    vehicles.write(0, old, plate="a", speed=5.0)
    with run(registry.url) as running:
        running.read_to(1)
        vehicles.write(1, vehicles.register(1), plate="b", speed=6.0, at=1)
        vehicles.write(0, old, plate="c", speed=7.0)
        assert running.read_to(3).restarts == 0
    registered = registry.versions(f"{vehicles.target}-value")

    with run(registry.url) as running:
        vehicles.write(1, vehicles.register(1), plate="d", speed=8.0, at=2)
        running.read_to(4)

    assert vehicles.results() == [("a", 10.0), ("b", 12.0), ("c", 14.0), ("d", 16.0)]
    assert registry.versions(f"{vehicles.target}-value") == registered == [1]


@pytest.mark.parametrize("schemas", inputs(KINDS, KINDS[0].__eq__), ids=lambda schemas: schemas.type, indirect=True)
def test_a_version_that_cannot_be_asked_for_waits_and_an_unknown_one_is_malformed(
    schemas: Schemas, vehicles: Vehicles, registry: Registry, run: Callable[[str], Any]
) -> None:
    """A record of a version that is not known yet is not malformed, and it is not lost. JSON needs no version."""
    running: InProcess
    with RegistryProxy(registry.url) as proxy, run(proxy.url) as running:
        vehicles.write(0, vehicles.register(0), plate="a", speed=1.0)
        running.read_to(1)
        newer = vehicles.register(2)
        with proxy.disconnecting():
            vehicles.write(2, newer, plate="b", speed=2.0, at=1, lane=2)
            if schemas.type == "JSON":
                assert running.read_to(2).restarts == 0
            else:
                away = running.wait_for(lambda s: s.restarts > 0)
                assert away.last_error is not None
                assert away.last_error.code == "QUERY_FAILED"
        running.read_to(2)
        assert vehicles.results() == [("a", 2.0), ("b", 4.0)]
        vehicles.write_unknown()
        failed = running.wait_for(lambda s: s.state is State.FAILED)

    assert failed.reason is not None
    assert (failed.reason.code, failed.reason.params["offset"]) == ("RECORD_MALFORMED", 2)
