"""Snapshots of a directory that a test changes as a processor does; tests/kafka/test_restore.py restores state."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.offline import restore_snapshot as restore_in
from lsql_runner.offline import snapshots as snapshots_in
from lsql_runner.plan.fingerprint import Fingerprint
from lsql_runner.state.directory import StateDir
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.offset_log import newest_committed, planned_batch, run_id
from lsql_runner.state.saved_state import Blue, saved_state
from lsql_runner.state.snapshots import (
    Snapshot,
    clone_snapshot,
    prune_snapshots,
    restore_snapshot,
    snapshots,
    take_snapshot,
)
from tests.unit.state.test_repartition import pinned

QUERY = "1/stateful-0"


class Processor:
    """A directory with the files of batches, without Spark."""

    def __init__(self, root: Path, app: str = "app") -> None:
        self.root, self.app = root, app
        with closing(StateDir(root, app)) as state:
            self.path = state.path
            state.begin_checkpoint(1, "stateful-0")
            state.pin(pinned("INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"))
        self.folder = LocalFolder(self.path)
        (self.path / QUERY / "target-offsets").write_text("[]")
        self.write("state/0/_metadata/v2/0", f"stored in {self.path}/1/stateful-0/state")

    def write(self, path: str, text: str) -> None:
        file = self.path / QUERY / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def plan(self, batch: int) -> None:
        times = {"batchWatermarkMs": 0, "batchTimestampMs": 5}
        self.write(f"offsets/{batch}", "\n".join(["v1", json.dumps(times), json.dumps({"t": {"0": batch + 1}})]))

    def run(self, batch: int) -> None:
        self.plan(batch)
        self.write(f"state/0/0/{batch + 1}_id{batch}.changelog", f"changes {batch}")
        self.write(f"commits/{batch}", "v2\n" + json.dumps({"stateUniqueIds": {"0": [[f"id{batch}"]]}}))

    def delete(self, batches: Iterable[int]) -> None:
        for batch in batches:
            for path in (f"offsets/{batch}", f"commits/{batch}", f"state/0/0/{batch + 1}_id{batch}.changelog"):
                (self.path / QUERY / path).unlink()

    def take(self, name: str = "monday", at_ms: int = 1) -> Snapshot:
        return take_snapshot(self.folder, name, at_ms, "0.2.0")

    def restore(self, name: str = "monday") -> LocalFolder:
        """The checkpoint that the next start continues."""
        with closing(StateDir(self.root, self.app)) as state:
            restore_snapshot(state, name)
            saved = state.saved().pinned
            assert saved is not None
            return LocalFolder(self.path / str(saved.generation) / "stateful-0")


@pytest.fixture
def processor(tmp_path: Path) -> Processor:
    return Processor(tmp_path)


def files(folder: LocalFolder) -> set[str]:
    return {path for path in folder.all_files() if path != "metadata"}


def test_a_snapshot_has_all_ended_batches_and_not_the_planned_one(processor: Processor) -> None:
    for batch in range(3):
        processor.run(batch)
    processor.plan(3)
    processor.write("state/0/0/4_half.changelog", "the task runs")
    processor.write("offsets/.4.tmp", "")
    taken = processor.take()

    assert (taken.batches, taken.positions) == ({"stateful-0": 2}, {Partition("t", 0): 3})
    assert snapshots(processor.folder) == [taken]
    copied = files(processor.folder / "snapshots/monday" / QUERY)
    assert {path for path in copied if not path.startswith("state/")} == {
        f"{log}/{batch}" for log in ("offsets", "commits") for batch in range(3)
    }


def test_a_snapshot_stays_when_the_processor_deletes_its_files(processor: Processor) -> None:
    processor.run(0)
    processor.take()
    processor.run(1)
    processor.delete([0])
    restored = processor.restore()

    assert (newest_committed(restored), planned_batch(restored, 1)) == (0, None)
    assert restored.read("state/0/0/1_id0.changelog") == b"changes 0"


def test_a_restored_checkpoint_is_another_run_in_its_own_place(processor: Processor) -> None:
    """The identity decides which records of the targets are its own."""
    processor.run(0)
    former = run_id(processor.folder / QUERY)
    processor.take()
    restored = processor.restore()

    assert run_id(restored) != former
    assert restored.read("target-offsets") is None
    assert restored.read("state/0/_metadata/v2/0") == f"stored in {restored}/state".encode()
    assert run_id(processor.folder / QUERY) == former


def test_state_that_was_replaced_is_in_no_snapshot(processor: Processor) -> None:
    processor.run(0)
    with closing(StateDir(processor.root, processor.app)) as state:
        saved = state.saved().pinned
        assert saved is not None
        kept = Fingerprint(tuple(replace(query, name="stateful-7") for query in saved.fingerprint.queries))
        state.begin_checkpoint(1, "stateful-7")
        state.pin(replace(saved, kept=kept))

    taken = processor.take()
    processor.restore()

    assert taken.batches == {"stateful-0": 0}
    restored = saved_state(processor.folder).pinned
    assert restored is not None
    assert restored.kept.queries == ()


def test_a_blue_query_is_in_a_snapshot_and_goes_on_after_a_restore(processor: Processor) -> None:
    """It writes the results of the changed INSERT, although its state is also kept for a return."""
    with closing(StateDir(processor.root, processor.app)) as state:
        state.begin_checkpoint(1, "stateful-7")
        now = state.saved().pinned
        assert now is not None
        blue = replace(now.fingerprint.queries[0], name="stateful-7")
        blues = {"stateful-0": Blue(query="stateful-7", sql=now.sql)}
        state.pin(replace(now, kept=Fingerprint((blue,)), blues=blues))
    processor.run(0)

    assert list(processor.take().batches) == ["stateful-0", "stateful-7"]  # the green one is never ahead
    processor.restore()

    restored = saved_state(LocalFolder(processor.path)).pinned
    assert restored is not None
    assert ([query.name for query in restored.kept.queries], restored.blues) == (["stateful-7"], blues)


def test_a_snapshot_is_restored_again_and_again(processor: Processor) -> None:
    processor.run(0)
    processor.take()
    first = processor.restore()
    second = processor.restore()

    assert first.path.parent.name == "2"
    assert (second.path.parent.name, files(first)) == ("3", files(second))


def test_a_running_processor_is_not_restored(processor: Processor) -> None:
    processor.run(0)
    processor.take()
    environment = {"SQL_APP_ID": "app", "SQL_STATE_STORE_DIR": str(processor.root)}
    with closing(StateDir(processor.root, "app")), pytest.raises(LsqlError, match="STATE_DIR_IN_USE"):
        restore_in(environment, "monday")

    assert [each.name for each in snapshots_in(environment)] == ["monday"]


def test_another_processor_begins_with_a_snapshot(processor: Processor) -> None:
    processor.run(0)
    processor.take()
    with closing(StateDir(processor.root, "other")) as other:
        clone_snapshot(processor.folder, "monday", other)
        copy = LocalFolder(other.path / QUERY)

        assert newest_committed(copy) == 0
        assert run_id(copy) != run_id(processor.folder / QUERY)
        with pytest.raises(LsqlError, match="STATE_EXISTS"):
            clone_snapshot(processor.folder, "monday", other)


def test_the_newest_snapshots_stay(processor: Processor) -> None:
    processor.run(0)
    for at_ms, name in enumerate(("c", "a", "b")):
        processor.take(name, at_ms)

    assert [each.name for each in prune_snapshots(processor.folder, 1)] == ["c", "a"]
    assert [each.name for each in snapshots(processor.folder)] == ["b"]
    assert [each.name for each in prune_snapshots(processor.folder, 0)] == ["b"]
    assert (processor.folder / "snapshots").folder_names() == []


def test_a_query_that_deletes_its_batch_meanwhile_is_copied_again(
    processor: Processor, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor.run(0)
    copy = LocalFolder.share_with

    def overtaken(source: LocalFolder, target: LocalFolder, paths: Iterable[str]) -> None:
        newest = newest_committed(source)
        assert newest is not None
        processor.run(newest + 1)
        if newest < most:
            processor.delete([newest])
        copy(source, target, paths)

    monkeypatch.setattr(LocalFolder, "share_with", overtaken)
    most = 2
    assert processor.take("third").batches == {"stateful-0": 2}
    most = 100
    with pytest.raises(LsqlError, match="SNAPSHOT_OVERTAKEN"):
        processor.take("never")
    assert [each.name for each in snapshots(processor.folder)] == ["third"]
    assert (processor.folder / "snapshots").folder_names() == ["third"]


def test_a_state_file_that_is_missing_is_no_snapshot(processor: Processor) -> None:
    processor.run(0)
    (processor.path / QUERY / "state/0/0/1_id0.changelog").unlink()

    with pytest.raises(LsqlError, match="SNAPSHOT_OVERTAKEN"):
        processor.take()


def test_a_volume_without_hard_links_has_copies(processor: Processor, monkeypatch: pytest.MonkeyPatch) -> None:
    processor.run(0)

    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "no links")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", refused)
        processor.take()

    assert newest_committed(processor.restore()) == 0


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a b", "-a", "ä", "a" * 101])
def test_a_name_that_is_no_folder_is_refused(processor: Processor, name: str) -> None:
    processor.run(0)
    with pytest.raises(LsqlError, match="SNAPSHOT_NAME_INVALID"):
        processor.take(name)
    with pytest.raises(LsqlError, match="SNAPSHOT_MISSING"):
        processor.restore(name)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (lambda p: p.take(), "SNAPSHOT_EXISTS"),
        (lambda p: p.restore("tuesday"), "SNAPSHOT_MISSING"),
        (lambda p: take_snapshot(LocalFolder(p.root / "nobody"), "x", 0, ""), "STATE_MISSING"),
    ],
)
def test_what_is_not_there_is_an_error(processor: Processor, command: Callable[[Processor], object], code: str) -> None:
    processor.run(0)
    processor.take()

    with pytest.raises(LsqlError, match=code):
        command(processor)
