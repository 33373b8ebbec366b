"""The object store that the tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from devkit.object_store import ObjectStore
from devkit.temporary import keep_temporary_files_in_memory

keep_temporary_files_in_memory()


@pytest.fixture(scope="session")
def store() -> Iterator[ObjectStore]:
    with ObjectStore() as running:
        yield running
