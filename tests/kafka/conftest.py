"""The engine and the schema registry that the tests of a process share, and which tests stay in one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.engines import quick_jvm
from devkit.registry import Registry
from devkit.temporary import keep_temporary_files_in_memory
from lsql_runner.engine.processor import SparkEngine

keep_temporary_files_in_memory()

HERE = Path(__file__).parent
WITH_SERVERS = {
    "test_kerberos",
    "test_key_stores",
    "test_lsql_test",
    "test_refusals",
    "test_run_stateless",
    "test_security",
}
"""Modules that start servers of their own."""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the tests of a module with servers in one process; those of the others go to whichever is free."""
    for item in items:
        if item.path.parent == HERE and item.path.stem in WITH_SERVERS:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="package")
def engine() -> Iterator[SparkEngine]:
    """One JVM and one session for all tests of this folder that run a processor in their own process."""
    running = SparkEngine("tests", quick_jvm(), threads=2)
    yield running
    running.close()


@pytest.fixture(scope="session")
def registry() -> Iterator[Registry]:
    """A running schema registry, one for the whole run."""
    with Registry() as running:
        yield running
