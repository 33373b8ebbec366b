"""The logs of a checkpoint: what was planned, what has ended, and batches that the runner adds itself."""

from pathlib import Path

import pytest

from devkit.memory_store import MemoryFolder, MemoryStore
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.state.folder import LocalFolder
from lsql_runner.state.offset_log import (
    FirstBatch,
    PlannedBatch,
    append_committed,
    delete_old_batches,
    first_batch,
    newest_batch,
    newest_committed,
    next_batch_id,
    planned_batch,
    renew_identity,
    rewind,
    run_id,
)

A0, A1, B0 = Partition("a", 0), Partition("a", 1), Partition("b", 0)


def test_an_empty_checkpoint_has_no_batch(tmp_path: Path) -> None:
    assert newest_batch(LocalFolder(tmp_path)) is None
    assert newest_committed(LocalFolder(tmp_path)) is None
    assert next_batch_id(LocalFolder(tmp_path)) == 0


def test_an_appended_batch_is_planned_and_committed(tmp_path: Path) -> None:
    append_committed(LocalFolder(tmp_path), 0, [{A0: 5, A1: 7}, {B0: 1}], 100)

    assert newest_batch(LocalFolder(tmp_path)) == PlannedBatch(0, {A0: 5, A1: 7, B0: 1})
    assert newest_committed(LocalFolder(tmp_path)) == 0
    assert next_batch_id(LocalFolder(tmp_path)) == 1


@pytest.mark.parametrize("log", ["offsets", "commits"])
def test_an_entry_of_another_process_is_not_replaced(tmp_path: Path, log: str) -> None:
    (tmp_path / log).mkdir()
    (tmp_path / log / "0").write_bytes(b"of the successor")

    with pytest.raises(LsqlError) as caught:
        append_committed(LocalFolder(tmp_path), 0, [{A0: 5}], 100)

    reason = caught.value.params["reason"]
    assert isinstance(reason, Detail)
    assert (caught.value.code, reason.params) == ("QUERY_FAILED", {"file": f"{tmp_path / log}/0"})
    assert (tmp_path / log / "0").read_bytes() == b"of the successor"


def test_an_entry_that_a_repeated_request_finds_is_that_of_the_first() -> None:
    """The answer to the first request was lost."""
    store = MemoryStore()
    create = MemoryFolder.create

    def refused(folder: MemoryFolder, path: str, content: bytes) -> bool:
        create(folder, path, content)
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryFolder, "create", refused)
        append_committed(store.root(), 0, [{A0: 5}], 100)

    assert newest_committed(store.root()) == 0


def test_a_planned_batch_that_has_not_ended_is_not_committed(tmp_path: Path) -> None:
    append_committed(LocalFolder(tmp_path), 0, [{A0: 5}], 100)
    append_committed(LocalFolder(tmp_path), 1, [{A0: 9}], 100)
    (tmp_path / "commits" / "1").unlink()

    assert newest_committed(LocalFolder(tmp_path)) == 0
    assert next_batch_id(LocalFolder(tmp_path)) == 2


def test_a_new_checkpoint_begins_with_a_batch_that_nobody_has_written(tmp_path: Path) -> None:
    assert first_batch(LocalFolder(tmp_path)) == FirstBatch(0, has_begun=False, positions={})


def test_the_batch_after_those_that_have_ended_has_not_begun(tmp_path: Path) -> None:
    append_committed(LocalFolder(tmp_path), 0, [{A0: 3}], 100)
    append_committed(LocalFolder(tmp_path), 1, [{A0: 5, A1: 7}, {B0: 1}], 100)

    assert first_batch(LocalFolder(tmp_path)) == FirstBatch(2, has_begun=False, positions={A0: 5, A1: 7, B0: 1})


def test_a_planned_batch_that_has_not_ended_has_begun_where_the_batch_before_it_ended(tmp_path: Path) -> None:
    append_committed(LocalFolder(tmp_path), 0, [{A0: 5}], 100)
    append_committed(LocalFolder(tmp_path), 1, [{A0: 9}], 100)
    (tmp_path / "commits" / "1").unlink()

    assert first_batch(LocalFolder(tmp_path)) == FirstBatch(1, has_begun=True, positions={A0: 5})


def test_the_first_batch_of_all_may_have_begun(tmp_path: Path) -> None:
    append_committed(LocalFolder(tmp_path), 0, [{A0: 5}], 100)
    (tmp_path / "commits" / "0").unlink()

    assert first_batch(LocalFolder(tmp_path)) == FirstBatch(0, has_begun=True, positions={})


def test_the_logs_keep_a_number_of_batches(tmp_path: Path) -> None:
    for number in range(150):
        append_committed(LocalFolder(tmp_path), number, [{A0: number}], 100)

    for folder in ("offsets", "commits"):
        assert {path.name for path in (tmp_path / folder).iterdir()} == {str(number) for number in range(50, 150)}
    assert planned_batch(LocalFolder(tmp_path), 149) == PlannedBatch(0, {A0: 149})
    assert planned_batch(LocalFolder(tmp_path), 49) is None


def test_a_batch_that_cannot_be_read_does_not_count_as_missing(tmp_path: Path) -> None:
    """A query would begin again without its position."""
    append_committed(LocalFolder(tmp_path), 0, [{A0: 5}], 100)
    (tmp_path / "offsets" / "0").unlink()
    (tmp_path / "offsets" / "0").mkdir()

    with pytest.raises(OSError, match="Is a directory"):
        first_batch(LocalFolder(tmp_path))


def test_more_batches_than_are_kept_are_deleted(tmp_path: Path) -> None:
    for number in range(9, 12):
        append_committed(LocalFolder(tmp_path), number, [{A0: number}], 100)

    delete_old_batches(LocalFolder(tmp_path), 2)

    for folder in ("offsets", "commits"):
        assert {path.name for path in (tmp_path / folder).iterdir()} == {"10", "11"}


def test_a_rewound_checkpoint_continues_from_the_new_positions_of_a_topic(tmp_path: Path) -> None:
    checkpoint = LocalFolder(tmp_path)
    renew_identity(checkpoint)
    for batch in range(3):
        append_committed(checkpoint, batch, [{A0: 5 + batch, A1: 7}, {B0: 1}], 100)
    (checkpoint / "commits").delete("2")  # the last batch was planned, and has not ended
    run = run_id(checkpoint)

    rewind(checkpoint, {A0: 0, A1: 0})

    assert planned_batch(checkpoint, 0) == PlannedBatch(0, {A0: 5, A1: 7, B0: 1})
    assert planned_batch(checkpoint, 1) == planned_batch(checkpoint, 2) == PlannedBatch(0, {A0: 0, A1: 0, B0: 1})
    assert run_id(checkpoint) != run


def test_a_checkpoint_is_rewound_at_most_to_the_ends_of_a_shorter_topic(tmp_path: Path) -> None:
    checkpoint = LocalFolder(tmp_path)
    renew_identity(checkpoint)
    append_committed(checkpoint, 0, [{A0: 5, A1: 7}, {B0: 1}], 100)
    append_committed(checkpoint, 1, [{A0: 9, A1: 7}, {B0: 2}], 100)
    (checkpoint / "commits").delete("1")

    rewind(checkpoint, {A0: 6, A1: 8})

    assert planned_batch(checkpoint, 0) == PlannedBatch(0, {A0: 5, A1: 7, B0: 1})
    assert planned_batch(checkpoint, 1) == PlannedBatch(0, {A0: 6, A1: 7, B0: 2})
