"""Every case file on a real broker; tests/streams runs the same files in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.registry import Registry
from lsql_runner.cases.case_run import run_case
from lsql_runner.cases.load import load_case
from lsql_runner.cases.on_kafka import KafkaCases
from lsql_runner.cases.run import find_cases
from lsql_runner.config.settings import read_settings
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.kafka.librdkafka import LibrdkafkaBrokers
from lsql_runner.kafka.registry import RestRegistry

ROOT = Path(__file__).parents[2]
FILES = find_cases([ROOT / "sql-examples", ROOT / "tests/streams/cases"])
# Rows of sinks are not in topics; tests/sinks tests them on real servers.
CASES = [path for path in FILES if not load_case(path).sinks]

pytestmark = pytest.mark.timeout(120)


def name(path: Path) -> str:
    return path.parent.name if path.name == "case.yaml" else path.name.removesuffix(".case.yaml")


@pytest.fixture(scope="module")
def kafka_cases(broker: Broker, registry: Registry, engine: SparkEngine) -> Iterator[KafkaCases]:
    variables = {"SQL": "", "SQL_BOOTSTRAP_SERVERS": broker.bootstrap, "SQL_SCHEMA_REGISTRY_URL": registry.url}
    settings = read_settings(variables)
    assert settings.registry is not None
    with (
        closing(LibrdkafkaBrokers(settings.connection)) as brokers,
        closing(RestRegistry(settings.registry)) as schemas,
    ):
        yield KafkaCases(settings=settings, engine=engine, brokers=brokers, registry=schemas, warn=pytest.fail)


@pytest.mark.parametrize("path", CASES, ids=name)
def test_a_case_passes_on_kafka(path: Path, kafka_cases: KafkaCases) -> None:
    assert run_case(load_case(path), kafka_cases) == []
