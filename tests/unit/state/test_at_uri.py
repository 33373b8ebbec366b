"""The state of a processor at a URI: what a start asks of the store, and how long it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from devkit.memory_store import MemoryStore, unreachable
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.lease.election import Term
from lsql_runner.state.at_uri import StateAtUri, check_store
from lsql_runner.state.directory import StateDir
from tests.unit.state.test_directory import PINNED


def nobody(error: LsqlError) -> None:
    raise AssertionError(error)


@contextmanager
def opened(state: StateDir, store: MemoryStore, wait_s: float = 10.0, has_lease: bool = False) -> Iterator[None]:
    """The state of the processor `app` in a store."""
    folder = store.root() / "app"
    with closing(StateAtUri(state, str(folder), lambda: folder, nobody, has_lease=has_lease, wait_s=wait_s)) as at_uri:
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


class TestWithALease:
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()

    @pytest.fixture
    def pair(self, tmp_path: Path, store: MemoryStore) -> Iterator[tuple[StateDir, StateDir]]:
        """The states of two processes on two machines."""
        with ExitStack() as stack:
            states = [stack.enter_context(closing(StateDir(tmp_path / n, "app", shared=True))) for n in ("one", "two")]
            for state in states:
                stack.enter_context(opened(state, store, wait_s=0, has_lease=True))
            yield states[0], states[1]

    def test_a_standby_reads_the_state_and_writes_nothing(
        self, pair: tuple[StateDir, StateDir], store: MemoryStore, tmp_path: Path
    ) -> None:
        leader, standby = pair
        assert store.files == {}

        leader.take_over("lease", Term(1, "a"))
        leader.pin(PINNED)
        leader.begin_checkpoint(3, "stateless")

        assert set(standby.saved().checkpoints) == {(3, "stateless")}
        assert standby.owner_text() == leader.owner_text()
        assert standby.owner_text().startswith("1 a ")
        assert {path.name for path in (tmp_path / "two" / "app").iterdir()} == {"lock"}
        assert [path for path in store.files if "/lock/" in path] == ["store://bucket/app/lock/1"]

    def test_a_process_that_was_replaced_changes_nothing(
        self, pair: tuple[StateDir, StateDir], store: MemoryStore
    ) -> None:
        zombie, leader = pair
        zombie.take_over("lease", Term(1, "a"))
        zombie.begin_checkpoint(3, "stateless")
        leader.take_over("lease", Term(2, "b"))
        before = dict(store.files)

        changes: list[Callable[[], None]] = [
            lambda: zombie.pin(PINNED),
            lambda: zombie.set_stopped(True, "ada", 0),
            lambda: zombie.begin_checkpoint(3, "stateless"),
            lambda: zombie.drop_checkpoint(3, "stateless"),
            lambda: zombie.drop_others(4),
        ]
        for change in changes:
            with pytest.raises(LsqlError, match="PROCESSOR_REPLACED"):
                change()

        assert store.files == before
        leader.pin(PINNED)

    def test_a_process_that_does_not_know_whether_it_was_replaced_writes_nothing(
        self, pair: tuple[StateDir, StateDir], store: MemoryStore
    ) -> None:
        zombie, _ = pair
        zombie.take_over("lease", Term(1, "a"))
        store.fails = lambda request: unreachable(request) if request == "list" else None

        with pytest.raises(LsqlError, match="STATE_STORE_UNREACHABLE"):
            zombie.pin(PINNED)

        assert "store://bucket/app/program.json" not in store.files

    def test_a_leader_whose_jvm_has_ended_writes_the_notes_of_its_machine(
        self, pair: tuple[StateDir, StateDir], store: MemoryStore
    ) -> None:
        leader, standby = pair
        leader.take_over("lease", Term(1, "a"))
        store.fails = unreachable

        leader.set_out_of_memory({"heap_mib": 304})

        assert not leader.is_replaced(), "it is called where a request would be too slow"
        assert (leader.out_of_memory(), standby.out_of_memory()) == ({"heap_mib": 304}, None)

    def test_a_lock_that_was_handed_over_can_be_taken_by_any_process(
        self, pair: tuple[StateDir, StateDir], store: MemoryStore, tmp_path: Path
    ) -> None:
        leader, _ = pair
        leader.take_over("lease", Term(1, "a"))
        with closing(StateDir(tmp_path / "three", "app")) as other:
            with pytest.raises(LsqlError, match="STATE_DIR_IN_USE"), opened(other, store, wait_s=0):
                pass

            leader.hand_over()

            with opened(other, store, wait_s=0):
                other.pin(PINNED)
