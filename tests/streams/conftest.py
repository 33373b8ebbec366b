"""One engine for the tests of a module."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsql_runner.engine.memory import MemoryEngine
from tests.kit.jars import jar_folder


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """A memory engine. Of the module, not the session: other modules start JVMs of their own, pyspark knows one."""
    archive = Path(sys.prefix, "share", "lsql-runner", "classes.jsa")
    with MemoryEngine(jar_folder("jars"), archive) as running:
        yield running
