"""The stores that the tests share: an object store, and HDFS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from devkit.hdfs import Hdfs
from devkit.object_store import ObjectStore
from devkit.temporary import keep_temporary_files_in_memory

keep_temporary_files_in_memory()


@pytest.fixture(scope="session")
def store() -> Iterator[ObjectStore]:
    with ObjectStore() as running:
        yield running


@pytest.fixture(scope="session")
def hdfs() -> Iterator[Hdfs]:
    with Hdfs() as running:
        yield running
