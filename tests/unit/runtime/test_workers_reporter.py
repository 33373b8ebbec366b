"""Events about workers, and what the status makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.fake_runtime import FakeRuntime
from lsql_runner.events.processor import WarningRaised, WorkersChanged
from lsql_runner.events.workers import JoinedWorker, RefusedWorker

ONE, OTHER = JoinedWorker("10.0.0.1:4000", 2), JoinedWorker("10.0.0.2:4000", 4)


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, "INSERT INTO o SELECT STREAM * FROM t")
    runtime.brokers.add_topic("t")
    runtime.brokers.add_topic("o")
    return runtime


def test_a_processor_without_workers_reports_none(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.turn()

        assert running.events_of(WorkersChanged) == []
        assert running.status.workers is None


def test_workers_that_join_and_leave_are_reported(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        runtime.engine.known_workers = ()
        running.advance_s(2)
        runtime.engine.known_workers = (ONE, OTHER)
        running.advance_s(2)
        running.advance_s(2)
        runtime.engine.known_workers = (OTHER,)
        running.advance_s(2)

        changes = [(event.workers, event.joined, event.left) for event in running.events_of(WorkersChanged)]
        assert changes == [
            ((), (), ()),
            ((ONE, OTHER), (ONE.address, OTHER.address), ()),
            ((OTHER,), (), (ONE.address,)),
        ]
        assert running.status.workers == (OTHER,)


def test_a_worker_that_begins_to_leave_is_reported(runtime: FakeRuntime) -> None:
    leaving = JoinedWorker(ONE.address, ONE.cores, leaving=True)
    with runtime.process() as running:
        runtime.engine.known_workers = (ONE,)
        running.advance_s(2)
        runtime.engine.known_workers = (leaving,)
        running.advance_s(2)

        assert running.events_of(WorkersChanged)[-1].workers == (leaving,)
        assert running.events_of(WorkersChanged)[-1].left == ()


def test_a_refused_worker_is_a_warning_with_both_versions(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        runtime.engine.known_workers = ()
        runtime.engine.refused_workers = (RefusedWorker("10.0.0.3:4000", "99.0.0"),)
        running.advance_s(2)
        runtime.engine.refused_workers = (RefusedWorker("10.0.0.3:4001", "99.0.0"),)
        running.advance_s(2)

        (text,) = {event.text for event in running.events_of(WarningRaised) if "refused" in event.text}
        assert "10.0.0.3 " in text
        assert "99.0.0" in text
        assert [warning for warning in running.status.warnings if "refused" in warning] == [text]


def test_more_workers_than_the_program_has_tasks_are_a_warning_once(runtime: FakeRuntime) -> None:
    def idle() -> list[str]:
        return [event.text for event in running.events_of(WarningRaised) if "run fewer workers" in event.text]

    with runtime.process(LSQL_TOPICS='{"t": {"value": {"format": "STRING"}}}') as running:
        runtime.engine.known_workers = (ONE,)  # two slots, for one partition
        running.advance_s(2)
        assert idle() == []
        runtime.engine.known_workers = (ONE, OTHER)
        running.advance_s(2)
        running.advance_s(2)

        (text,) = idle()
        assert text.startswith("2 workers run up to 6 tasks at the same time, and the program never has more than 1,")
