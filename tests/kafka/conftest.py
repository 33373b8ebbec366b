"""The engine and the schema registry that the tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.broker import Broker
from devkit.broker_clients import CLIENTS, ClientFactory, spark_brokers
from devkit.engines import quick_jvm
from devkit.registry import Registry
from devkit.temporary import keep_temporary_files_in_memory
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.jvm.spark_jvm import SparkJvm
from tests.conftest import TopicFactory
from tests.kafka.changed_program import ChangedProgram
from tests.thorough import inputs

keep_temporary_files_in_memory()


@pytest.fixture(scope="package")
def engine() -> Iterator[SparkEngine]:
    """A JVM and an open Spark session for all tests of this folder that run a processor in the pytest process."""
    running = SparkEngine("tests", SparkJvm(quick_jvm()), threads=2)
    _ = running.session  # waits until it is open: before, its memory is not measured
    yield running
    running.close()


@pytest.fixture
def program(broker: Broker, engine: SparkEngine, topic: TopicFactory, tmp_path: Path) -> ChangedProgram:
    """A processor whose program the test changes."""
    return ChangedProgram(broker, engine, topic, tmp_path)


@pytest.fixture(params=inputs([*CLIENTS, "spark"], "java".__ne__), scope="module")
def client(request: pytest.FixtureRequest) -> ClientFactory:
    """Each client of brokers. `java` has the requests of `spark`, in a JVM of its own."""
    if request.param == "spark":
        return spark_brokers(request.getfixturevalue("engine")._jvm)
    return CLIENTS[request.param]


@pytest.fixture(scope="session")
def registry() -> Iterator[Registry]:
    """A running schema registry, one for each pytest process."""
    with Registry() as running:
        yield running
