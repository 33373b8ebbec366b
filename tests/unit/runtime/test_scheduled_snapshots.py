"""When a running processor takes snapshots of its state. What they contain is in tests/unit/state/test_snapshots.py."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, FakeProcess, FakeRuntime
from lsql_runner.events.processor import SnapshotTaken, WarningRaised
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.snapshots import snapshots, take_snapshot

HOURLY = {"LSQL_SNAPSHOTS_EVERY_S": "3600", "LSQL_SNAPSHOTS_KEEP": "2"}


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, "SET autocreate=true; INSERT INTO o SELECT STREAM * FROM t")
    runtime.brokers.add_topic("t")
    runtime.brokers.produce("t", (b"k", b'{"g": "x"}'))
    return runtime


def folder(runtime: FakeRuntime) -> LocalFolder:
    return LocalFolder(runtime.folder / APP_ID)


def turn(running: FakeProcess, seconds: int = 0) -> None:
    """A turn, after some time, and the end of the snapshot that it has begun."""
    running.advance_s(seconds)
    for thread in threading.enumerate():
        if thread.name == "snapshot":
            thread.join()


def names(runtime: FakeRuntime) -> list[str]:
    return [each.name for each in snapshots(folder(runtime))]


def test_the_newest_snapshots_of_the_schedule_are_kept(runtime: FakeRuntime) -> None:
    with runtime.process(**HOURLY) as running:
        running.run()
        take_snapshot(folder(runtime), "by-hand", runtime.now_ms, "1")
        turn(running)
        [first] = running.events_of(SnapshotTaken)
        for _ in range(4):
            turn(running, 1800)

    assert len(running.events_of(SnapshotTaken)) == 3
    assert "by-hand" in names(runtime)
    assert first.name not in names(runtime)
    assert len(names(runtime)) == 3


def test_a_restart_does_not_begin_the_interval_again(runtime: FakeRuntime) -> None:
    with runtime.process(**HOURLY) as running:
        running.run()
        turn(running)
    runtime.now_ms += 1_800_000
    with runtime.process(**HOURLY) as again:
        again.run()
        turn(again)
        assert again.events_of(SnapshotTaken) == []
        turn(again, 1800)

    assert len(again.events_of(SnapshotTaken)) == 1


def test_a_snapshot_that_cannot_be_taken_is_a_warning(runtime: FakeRuntime) -> None:
    with runtime.process(**HOURLY) as running:
        (runtime.folder / APP_ID / "snapshots").touch()  # no folder
        running.run()
        turn(running)

    assert any("No snapshot was taken" in event.text for event in running.events_of(WarningRaised))


def test_what_a_killed_process_has_left_is_deleted(runtime: FakeRuntime) -> None:
    left = folder(runtime) / "snapshots" / "scheduled-left"
    left.write("1/stateless/metadata", b"{}")

    with runtime.process(**HOURLY) as running:
        running.run()
        turn(running)

    assert left.all_files() == {}


def test_without_the_setting_there_is_none(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
        running.advance_s(100_000)

    assert names(runtime) == []
