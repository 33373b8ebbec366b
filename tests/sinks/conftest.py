"""The servers that the tests of sinks share, and one engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lsql_runner.engine.memory import MemoryEngine
from tests.kit.jars import class_archive, jar_folder
from tests.kit.postgres import Postgres
from tests.kit.redis import Redis


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """A memory engine of the module: other modules start JVMs of their own, pyspark knows one."""
    with MemoryEngine(jar_folder("jars"), class_archive()) as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as running:
        yield running


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    with Redis() as running:
        yield running
