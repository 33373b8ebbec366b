"""When the volume of the state is measured, and what the events contain."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from devkit.fake_runtime import FakeRuntime
from lsql_runner.events.processor import VolumeMeasured
from lsql_runner.events.state import State

SECONDS = 30


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, "INSERT INTO o SELECT STREAM * FROM t")
    runtime.brokers.add_topic("t")
    runtime.brokers.add_topic("o")
    return runtime


def test_a_processor_that_waits_for_its_first_record_measures_the_volume_of_its_state(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.turn()
        assert running.state is State.WAITING

    (event,) = running.events_of(VolumeMeasured)
    assert (event.at_ms, event.size_bytes) == (runtime.now_ms, shutil.disk_usage(runtime.folder).total)
    assert 0 < event.free_bytes < event.size_bytes
    assert running.status.volume == event


def test_it_is_measured_every_30_s(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        for _ in range(2 * SECONDS + 1):
            running.advance_s(1)

    times = [event.at_ms for event in running.events_of(VolumeMeasured)]
    assert [later - earlier for earlier, later in pairwise(times)] == [SECONDS * 1000] * 2


def test_a_volume_that_cannot_be_measured_does_not_stop_the_processor(runtime: FakeRuntime) -> None:
    runtime.brokers.produce("t", (b"k", b'{"g": "x", "a": 3}'))
    with runtime.process() as running:
        shutil.rmtree(running.state_dir.path)
        running.turn()
        assert running.state is State.RUNNING

    assert running.events_of(VolumeMeasured) == []
