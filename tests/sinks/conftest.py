"""The servers that the sink tests share, and one engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from devkit.engines import memory_engine
from devkit.postgres import Postgres
from devkit.redis import Redis
from devkit.temporary import keep_temporary_files_in_memory
from lsql_runner.engine.in_memory.engine import MemoryEngine

keep_temporary_files_in_memory()


@pytest.fixture(scope="package")
def engine() -> Iterator[MemoryEngine]:
    """A memory engine. It ends after the tests of this folder, because pyspark supports only one JVM at a time."""
    with memory_engine() as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as running:
        yield running


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    with Redis() as running:
        yield running
