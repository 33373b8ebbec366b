"""The processor that the tests of the control loop begin with."""

from pathlib import Path

import pytest

from devkit.fake_runtime import FakeRuntime
from lsql_runner.events.batches import Partition

P0 = Partition("t", 0)
RECORD = (b"k", b'{"g": "x", "a": 3}')


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    """A filter with a source that has a record, and a target."""
    runtime = FakeRuntime(tmp_path, "INSERT INTO o SELECT STREAM * FROM t")
    runtime.brokers.add_topic("t")
    runtime.brokers.add_topic("o")
    runtime.brokers.produce("t", RECORD)
    return runtime
