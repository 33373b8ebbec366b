"""The state of a processor at a URI: what a start asks of the store, and how long it waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from devkit.memory_store import MemoryStore, unreachable
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.runtime.state_at_uri import StateAtUri, check_store
from lsql_runner.runtime.statedir import StateDir
from tests.unit.runtime.test_statedir import PINNED


def nobody(error: LsqlError) -> None:
    raise AssertionError(error)


@contextmanager
def opened(state: StateDir, store: MemoryStore, wait_s: float = 10.0) -> Iterator[None]:
    """The state of the processor `app` in a store."""
    folder = store.root() / "app"
    with closing(StateAtUri(state, str(folder), lambda: folder, nobody, wait_s=wait_s)) as at_uri:
        at_uri.open()
        yield


def reason_of(error: LsqlError) -> Detail:
    reason = error.params["reason"]
    assert isinstance(reason, Detail)
    return reason


def fault(store: MemoryStore) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        check_store(store.root() / "app")
    return caught.value


def test_a_store_that_creates_files_exclusively_is_accepted_and_left_as_it_was() -> None:
    store = MemoryStore()

    check_store(store.root() / "app")

    assert store.files == {}


def test_a_store_that_creates_a_file_twice_is_refused_by_name() -> None:
    store = MemoryStore(is_exclusive=False)

    error = fault(store)

    assert (error.code, reason_of(error).code) == ("STATE_STORE_NOT_ATOMIC", "TWICE")
    assert store.files == {}


def test_a_store_that_cannot_create_files_exclusively_is_refused_with_its_reason() -> None:
    def no_condition(request: str) -> None:
        if request == "create":
            raise LsqlError("STATE_STORE_FAILED", uri="u", reason="Not Implemented")

    error = fault(MemoryStore(fails=no_condition))

    assert error.code == "STATE_STORE_NOT_ATOMIC"
    assert reason_of(error).params == {"reason": "Not Implemented"}


def test_a_store_that_loses_files_is_refused() -> None:
    store = MemoryStore()

    def forget(request: str) -> None:
        if request == "read":
            store.files.clear()

    store.fails = forget

    assert reason_of(fault(store)).code == "LOST"


def test_the_program_is_written_to_the_store_and_the_mark_to_this_machine(tmp_path: Path) -> None:
    store = MemoryStore()
    with closing(StateDir(tmp_path, "app")) as state, opened(state, store):
        state.pin(PINNED)
        state.begin_checkpoint(3, "stateless")
        mark = state.unmarked_file()
        mark.write_text('{"offset": 7}')
        state.set_out_of_memory({"heap_mib": 304})  # there is no JVM that could write to the store

        assert (state.mark(), state.out_of_memory()) == ({"offset": 7}, {"heap_mib": 304})
        assert state.saved().pinned == PINNED
        assert set(state.saved().checkpoints) == {(3, "stateless")}

    assert mark.parent == tmp_path / "app"
    assert {path.rpartition("bucket/")[2] for path in store.files} == {
        "app/program.json",
        "app/3/stateless/metadata",
        "app/lock/1",
    }
    assert {path.name for path in (tmp_path / "app").iterdir()} == {
        "lock",
        "machine",
        "mark.json",
        "out-of-memory.json",
    }


def test_a_store_that_does_not_answer_is_asked_once() -> None:
    """Each request may wait for a minute."""
    asked: list[str] = []

    def fails(request: str) -> None:
        asked.append(request)
        unreachable(request)

    with pytest.raises(LsqlError, match="STATE_STORE_UNREACHABLE"):
        check_store(MemoryStore(fails=fails).root() / "app")

    assert asked == ["write"]


def test_until_the_state_is_open_its_folder_has_the_error(tmp_path: Path) -> None:
    store = MemoryStore(fails=unreachable)
    folder = store.root() / "app"
    with (
        closing(StateDir(tmp_path, "app")) as state,
        closing(StateAtUri(state, str(folder), lambda: folder, nobody)) as at_uri,
    ):
        reasons = []
        for _ in range(2):
            with pytest.raises(LsqlError, match="STATE_STORE_UNREACHABLE") as caught:
                state.set_stopped(True, "ada", 0)
            reasons.append(str(caught.value.params["reason"]))
            with pytest.raises(LsqlError, match="STATE_STORE_UNREACHABLE"):
                at_uri.open()

        assert reasons == ["it was not asked yet", "Connection refused"]
        assert not (state.path / "control.json").exists()

        store.fails = lambda _: None
        at_uri.open()
        at_uri.open()

        state.set_stopped(True, "ada", 0)
        assert "store://bucket/app/control.json" in store.files
        assert [path for path in store.files if "/lock/" in path] == ["store://bucket/app/lock/1"]


def test_the_state_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    store = MemoryStore()
    with (
        closing(StateDir(tmp_path / "one", "app")) as one,
        closing(StateDir(tmp_path / "other", "app")) as other,
        opened(one, store),
        pytest.raises(LsqlError) as caught,
        opened(other, store, wait_s=0),
    ):
        pass

    assert (caught.value.code, caught.value.params["path"]) == ("STATE_DIR_IN_USE", "store://bucket/app")
