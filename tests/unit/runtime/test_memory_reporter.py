"""When the memory is measured, and what the events contain."""

from itertools import pairwise
from pathlib import Path

import pytest

from devkit.fake_engine import MEMORY
from devkit.fake_runtime import FakeProcess, FakeRuntime
from lsql_runner.events.processor import MemoryMeasured
from lsql_runner.events.state import State
from lsql_runner.runtime.memory_reporter import HEAP_GROWTH_BYTES
from lsql_runner.status.lifecycle import Cause

FIRST_SECONDS = 5
SECONDS = 30


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, "INSERT INTO o SELECT STREAM * FROM t")
    runtime.brokers.add_topic("t")
    runtime.brokers.add_topic("o")
    runtime.brokers.produce("t", (b"k", b'{"g": "x", "a": 3}'))
    return runtime


def measured(running: FakeProcess) -> list[MemoryMeasured]:
    return [event for event in running.events if isinstance(event, MemoryMeasured)]


def test_the_first_turn_after_the_start_measures_the_memory(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.turn()
        assert (running.state, running.status.memory) == (State.RUNNING, None)
        running.turn()

    (event,) = measured(running)
    assert (event.at_ms, event.jvm) == (runtime.now_ms, MEMORY)
    assert event.python_bytes is not None
    assert event.python_bytes > 10 << 20


def test_it_is_measured_5_s_after_the_first_time_and_then_every_30_s(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.turn()
        for _ in range(2 * SECONDS):
            running.advance_s(1)
            running.turn()

    times = [event.at_ms for event in measured(running)]
    assert [later - earlier for earlier, later in pairwise(times)] == [FIRST_SECONDS * 1000, SECONDS * 1000]


def test_the_heap_shrinks_before_each_measurement_but_the_first(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
        running.turn()
        assert (len(measured(running)), runtime.engine.shrunk) == (1, [])
        for count, seconds in ((1, FIRST_SECONDS), (2, SECONDS)):
            running.advance_s(seconds)
            assert runtime.engine.shrunk == [HEAP_GROWTH_BYTES] * count


def test_it_is_measured_while_the_processor_is_stopped(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
        running.turn(Cause.STOP)
        assert running.state is State.STOPPED
        running.advance_s(SECONDS)

    assert measured(running)[-1].at_ms == runtime.now_ms


def test_a_jvm_that_does_not_respond_does_not_stop_the_processor(runtime: FakeRuntime) -> None:
    runtime.engine.jvm_memory = None
    with runtime.process() as running:
        running.run()
        running.turn()
        assert running.state is State.RUNNING

    assert measured(running)[-1].jvm is None
    assert measured(running)[-1].python_bytes is not None
