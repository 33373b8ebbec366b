"""The engine and the schema registry that tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from devkit.jars import jar_folder
from devkit.registry import Registry
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.jvm.java import CLASS_ARCHIVE
from lsql_runner.jvm.spark_jvm import short_lived


@pytest.fixture(scope="package")
def engine() -> Iterator[SparkEngine]:
    """One JVM and one session for all tests of this folder that run a processor in their own process."""
    running = SparkEngine("tests", short_lived(jar_folder("jars"), CLASS_ARCHIVE), threads=2)
    yield running
    running.close()


@pytest.fixture(scope="session")
def registry() -> Iterator[Registry]:
    """A running schema registry, one for the whole run."""
    with Registry() as running:
        yield running
