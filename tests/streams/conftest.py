"""One engine for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lsql_runner.engine.memory import MemoryEngine
from tests.kit.jars import class_archive, jar_folder


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """A memory engine. Of the module, not the session: other modules start JVMs of their own, pyspark knows one."""
    with MemoryEngine(jar_folder("jars"), class_archive()) as running:
        yield running
