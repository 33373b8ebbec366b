"""The processor's directory: one owner, atomic files, generations."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Serde, TopicSchema
from lsql_runner.plan.fingerprint import Fingerprint, QueryFingerprint
from lsql_runner.state.directory import StateDir
from lsql_runner.state.offset_log import SavedCheckpoint, append_committed, run_id
from lsql_runner.state.saved_state import Pinned
from lsql_runner.types import LONG, STRING, Array, Field, Struct

ORDERS = TopicSchema(
    "orders",
    Serde(STRING_FORMAT, STRING),
    Serde(JSON_FORMAT, Struct((Field("id", LONG), Field("odd name: ,<>`", Array(Struct((Field("qty", LONG),))))))),
    origin="declared",
)
PINNED = Pinned(
    sql="INSERT INTO ...",
    fingerprint=Fingerprint(
        (
            QueryFingerprint(
                name="stateful-0",
                targets=("out",),
                sources=("orders",),
                stores=("aggregate-0",),
                state={"of": [1, "x"]},
            ),
            QueryFingerprint(name="stateless", targets=("copy",), sources=("orders",)),
        )
    ),
    schemas={"orders": ORDERS},
    generation=3,
    state_partitions=4,
    versions={"pyspark": "4.2.0"},
    starts={"stateful-0": {Partition("orders", 1): 7}, "stateless": {}},
)

HOLD = "import sys; from pathlib import Path; from lsql_runner.state.directory import StateDir\n"
HOLD += "held = StateDir(Path(sys.argv[1]), 'app'); print('held', flush=True); sys.stdin.read()"


def test_a_locked_directory_is_refused_with_the_process_that_holds_the_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"

        with pytest.raises(LsqlError) as caught:
            StateDir(tmp_path, "app", wait_s=0)
        holder.kill()

    assert (caught.value.code, caught.value.params["pid"]) == ("STATE_DIR_IN_USE", str(holder.pid))
    StateDir(tmp_path, "app").close()  # the lock ended with its process


def test_two_processors_can_share_the_state_directory(tmp_path: Path) -> None:
    one, other = StateDir(tmp_path, "one"), StateDir(tmp_path, "other")

    assert one.path != other.path
    one.close()
    other.close()


def test_a_file_instead_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("")

    with pytest.raises(LsqlError) as caught:
        StateDir(tmp_path / "root", "app")

    assert (caught.value.code, caught.value.params["reason"]) == ("STATE_DIR_UNWRITABLE", "Not a directory")


def test_a_pinned_program_is_read_back(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    assert state.saved().pinned is None

    state.pin(PINNED)

    assert state.saved().pinned == PINNED
    state.close()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"sql": 1, "fingerprint": 2}', "null", '{"sql": "", "x": 1}'])
def test_an_unreadable_program_json_is_refused(tmp_path: Path, text: str) -> None:
    state = StateDir(tmp_path, "app")
    (state.path / "program.json").write_text(text)

    with pytest.raises(LsqlError) as caught:
        state.saved()

    assert caught.value.code == "STATE_UNREADABLE"
    state.close()


@pytest.mark.parametrize("key", ["starts", "state_partitions"])
def test_a_program_json_of_an_earlier_build_is_refused(tmp_path: Path, key: str) -> None:
    state = StateDir(tmp_path, "app")
    state.pin(PINNED)
    file = state.path / "program.json"
    document = json.loads(file.read_text())
    del document[key]
    file.write_text(json.dumps(document))

    with pytest.raises(LsqlError) as caught:
        state.saved()

    assert caught.value.code == "STATE_UNREADABLE"
    state.close()


def test_a_fingerprint_without_a_version_is_refused(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    state.pin(PINNED)
    file = state.path / "program.json"
    prose = {"stateful-0": {"sources": ["orders"], "stores": {"aggregate-0": "aggregate in store aggregate-0"}}}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"fingerprint": prose}))

    with pytest.raises(LsqlError) as caught:
        state.saved()

    assert caught.value.code == "STATE_UNREADABLE"
    state.close()


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = StateDir(tmp_path, "app")
    state.set_stopped(True, "me", 1)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(LsqlError) as caught:
        state.set_stopped(False, "me", 2)

    assert caught.value.params["reason"] == "No space left on device"
    assert state.stopped_by() == "me"
    state.close()


def test_a_stop_is_saved_for_the_next_process(tmp_path: Path) -> None:
    first = StateDir(tmp_path, "app")
    assert first.stopped_by() is None
    first.set_stopped(True, "anna", 1)
    first.close()

    second = StateDir(tmp_path, "app")
    assert second.stopped_by() == "anna"
    second.set_stopped(False, "anna", 2)
    assert second.stopped_by() is None
    second.close()


def test_a_checkpoint_exists_once_it_was_begun(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    checkpoint = state.checkpoints(1) / "query"
    append_committed(checkpoint, 0, [{Partition("t", 0): 5}], 100)
    assert not state.saved().checkpoints
    assert state.saved().generations == {1}

    state.begin_checkpoint(1, "query")

    assert dict(state.saved().checkpoints) == {(1, "query"): SavedCheckpoint()}
    assert checkpoint.folder_names() == [], "the files of a deleted checkpoint are not continued"
    state.close()


def test_a_checkpoint_has_the_positions_after_its_last_batches(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    state.begin_checkpoint(1, "query")
    checkpoint = state.checkpoints(1) / "query"
    for batch in range(2):
        append_committed(checkpoint, batch, [{Partition("t", 0): batch + 5}], 100)
    checkpoint.delete("commits/1")

    assert state.saved().checkpoints[1, "query"] == SavedCheckpoint(
        planned={Partition("t", 0): 6}, ended={Partition("t", 0): 5}, has_begun=True
    )
    state.close()


def test_a_checkpoint_that_begins_anew_has_another_run_id(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    state.begin_checkpoint(1, "query")
    first = run_id(state.checkpoints(1) / "query")

    state.begin_checkpoint(1, "query")

    assert len(first) == 32
    assert run_id(state.checkpoints(1) / "query") != first
    state.close()


@pytest.mark.parametrize("generation", [1, 2])
def test_a_checkpoint_that_begins_again_continues_its_run(tmp_path: Path, generation: int) -> None:
    state = StateDir(tmp_path, "app")
    state.begin_checkpoint(1, "stateless")
    before = state.checkpoints(1) / "stateless"
    run = run_id(before)
    for batch in range(8):
        append_committed(before, batch, [{Partition("t", 0): batch + 5}], 100)
    entries = [{"batch": 7, "offsets": {"out": {"0": 3}}}, {"batch": 9, "offsets": {"out": {"0": 4}}}]
    before.write("target-offsets", json.dumps(entries).encode())
    before.write("written-inserts", b"{}")

    state.begin_checkpoint(generation, "stateless", 1)

    begun = state.checkpoints(generation) / "stateless"
    assert state.saved().checkpoints[generation, "stateless"] == SavedCheckpoint()
    assert run_id(begun) == run
    assert json.loads(begun.read("target-offsets") or b"") == [{"batch": 0, "offsets": {"out": {"0": 3}}}]
    assert set(begun.all_files()) == {"metadata", "target-offsets", "written-inserts"}
    state.close()


def test_a_crash_while_a_checkpoint_begins_again_loses_no_run(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    state.begin_checkpoint(1, "stateless")
    checkpoint = state.checkpoints(1) / "stateless"
    run = run_id(checkpoint)
    checkpoint.write("run", checkpoint.read("metadata") or b"")
    checkpoint.delete("metadata")

    state.begin_checkpoint(1, "stateless", 1)

    assert run_id(checkpoint) == run
    state.close()


def test_without_a_last_checkpoint_a_new_run_begins(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")

    state.begin_checkpoint(2, "stateless", 1)

    assert len(run_id(state.checkpoints(2) / "stateless")) == 32
    state.close()


def test_the_results_of_an_opening_are_kept_once(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    state.begin_checkpoint(1, "stateful-0")
    checkpoint = state.checkpoints(1) / "stateful-0"
    state.keep_opened(1, "stateful-0")
    assert checkpoint.read("open-batch") is None
    checkpoint.write("open-batch", b"7.1f2e")

    state.keep_opened(1, "stateful-0")
    state.keep_opened(1, "stateful-0")

    assert checkpoint.read("open-batch") == b"7.1f2e.kept"
    state.close()


def test_a_deleted_checkpoint_does_not_exist(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    state.begin_checkpoint(1, "query")

    state.drop_checkpoint(1, "query")
    state.drop_checkpoint(1, "query")

    assert not state.saved().checkpoints
    state.close()


def test_other_generations_are_deleted(tmp_path: Path) -> None:
    state = StateDir(tmp_path, "app")
    for name in ("1", "2", "9", "10", "kept"):
        (state.path / name).mkdir()

    state.drop_others(9)

    assert {path.name for path in state.path.iterdir() if path.is_dir()} == {"9", "kept"}
    state.close()
