"""The state of a processor at a URI: what a start asks of the store, and how long it waits."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from devkit.memory_store import MemoryStore, unreachable
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.runtime.state_at_uri import check_store, state_at_uri
from lsql_runner.runtime.statedir import StateDir
from tests.unit.runtime.test_statedir import PINNED


def nobody() -> None:
    raise AssertionError("the lock was lost")


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
    with closing(StateDir(tmp_path, "app")) as state, state_at_uri(state, store.root() / "app", nobody):
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


def test_a_store_that_cannot_be_reached_is_waited_for(tmp_path: Path) -> None:
    store = MemoryStore()
    outage = iter([True, True])

    def fails(_: str) -> None:
        if next(outage, False):
            unreachable("")

    store.fails = fails
    with closing(StateDir(tmp_path, "app")) as state, state_at_uri(state, store.root() / "app", nobody):
        assert state.saved().pinned is None


@pytest.mark.parametrize("is_reached", [True, False])
def test_a_store_that_refuses_or_is_not_reached_in_time_ends_the_start(tmp_path: Path, is_reached: bool) -> None:
    written = iter([None])

    def refuses(request: str) -> None:
        if request == "write":
            next(written)  # a second attempt has another error
        raise LsqlError("STATE_STORE_REFUSED", uri="u", reason="Forbidden")

    store = MemoryStore(fails=refuses if is_reached else unreachable)
    code = "STATE_STORE_REFUSED" if is_reached else "STATE_STORE_UNREACHABLE"

    with (
        closing(StateDir(tmp_path, "app")) as state,
        pytest.raises(LsqlError, match=code),
        state_at_uri(state, store.root() / "app", nobody, unreachable_s=5 if is_reached else 0),
    ):
        pass


def test_the_state_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    store = MemoryStore()
    with (
        closing(StateDir(tmp_path / "one", "app")) as one,
        closing(StateDir(tmp_path / "other", "app")) as other,
        state_at_uri(one, store.root() / "app", nobody),
        pytest.raises(LsqlError) as caught,
        state_at_uri(other, store.root() / "app", nobody, wait_s=0),
    ):
        pass

    assert (caught.value.code, caught.value.params["path"]) == ("STATE_DIR_IN_USE", "store://bucket/app")
