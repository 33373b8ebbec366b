"""The lock on the state at a URI: who gets it when, and when its holder ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event

import pytest

from devkit.memory_store import MemoryStore, unreachable
from lsql_runner.errors import LsqlError
from lsql_runner.state import uri_lock
from lsql_runner.state.uri_lock import LEASE_S, MARGIN_S, Holder, StoreLock, owner_of
from lsql_runner.state.volume_lock import LockHeldError

DEADLINE_S = 10.0


class Machine:
    """Processes of one machine with a clock. The clock advances by a second with each look at the lock, or as a test
    says: threads of a process that compete for the lock of the interpreter do not look in turns.
    """

    def __init__(self, store: MemoryStore, name: str) -> None:
        self.store = store
        self.name = name
        self.now_s = 1000.0
        self.look_s = 1.0
        self.lost = Event()
        self.error: LsqlError | None = None

    def _look(self) -> float:
        self.now_s += self.look_s
        return self.now_s

    def _lose(self, error: LsqlError) -> None:
        self.error = error
        self.lost.set()

    def lock(self, wait_s: float = 100.0) -> StoreLock:
        folder = self.store.root() / "app"
        return StoreLock(folder, self.holder(), self._lose, wait_s=wait_s, now_s=self._look, poll_s=0.001)

    def holder(self) -> Holder:
        return Holder(machine=self.name)


class Candidate(Machine):
    """A process that a Lease has chosen for a term."""

    def __init__(self, store: MemoryStore, name: str, term: int, lease: str = "one") -> None:
        super().__init__(store, name)
        self.term, self.lease = term, lease

    def holder(self) -> Holder:
        return Holder(lease=self.lease, term=self.term, owner=self.name)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """Closes locks at the end. Leases are not renewed, as by a process that is suspended."""
    monkeypatch.setattr(uri_lock, "RENEW_S", 1000.0)
    with ExitStack() as stack:
        yield stack


def taken(locks: ExitStack, machine: Machine, wait_s: float = 100.0) -> StoreLock:
    lock = machine.lock(wait_s)
    locks.callback(lock.close)
    return lock


def holders(store: MemoryStore) -> dict[str, str]:
    documents = {p.rpartition("/")[2]: json.loads(content) for p, content in store.files.items() if "/lock/" in p}
    return {number: document.get("machine") or document["owner"] for number, document in documents.items()}


def test_a_free_lock_is_taken_at_once(store: MemoryStore, locks: ExitStack) -> None:
    machine = Machine(store, "a")

    taken(locks, machine, wait_s=0)

    assert holders(store) == {"1": "a"}


def test_a_released_lock_is_taken_at_once(store: MemoryStore, locks: ExitStack) -> None:
    Machine(store, "a").lock(wait_s=0).close()

    taken(locks, Machine(store, "b"), wait_s=0)

    assert holders(store) == {"2": "b"}, "the earlier number is deleted"


def test_the_lock_of_a_killed_process_of_this_machine_is_taken_at_once(store: MemoryStore, locks: ExitStack) -> None:
    taken(locks, Machine(store, "a"))

    taken(locks, Machine(store, "a"), wait_s=0)

    assert holders(store) == {"2": "a"}


def test_the_lock_of_another_machine_is_taken_when_its_lease_has_ended(store: MemoryStore, locks: ExitStack) -> None:
    taken(locks, Machine(store, "a"))
    other = Machine(store, "b")
    seen_s = other.now_s + 2  # the time of the first look at the file

    taken(locks, other)

    assert holders(store) == {"2": "b"}
    assert other.now_s - seen_s > LEASE_S + MARGIN_S


def test_a_lock_that_its_holder_renews_is_not_taken(store: MemoryStore, locks: ExitStack) -> None:
    taken(locks, Machine(store, "a"))
    renewals = iter(range(10_000))

    def renewed(request: str) -> None:
        if request == "read":
            path = "store://bucket/app/lock/1"
            store.files[path] = json.dumps(json.loads(store.files[path]) | {"renewals": next(renewals)}).encode()

    store.fails = renewed
    with pytest.raises(LockHeldError) as caught:
        Machine(store, "b").lock(wait_s=60)

    assert " on " in caught.value.holder
    assert holders(store) == {"1": "a"}


def test_of_two_processes_that_find_the_end_of_a_lease_one_takes_the_lock(store: MemoryStore, locks: ExitStack) -> None:
    taken(locks, Machine(store, "a"))

    def created_by_the_other(request: str) -> None:
        if request == "create":
            store.fails = lambda _: None
            taken(locks, Machine(store, "c"))

    store.fails = created_by_the_other
    with pytest.raises(LockHeldError):
        Machine(store, "b").lock(wait_s=LEASE_S + MARGIN_S + 5)

    assert holders(store) == {"2": "c"}


def test_a_number_that_was_deleted_is_not_taken_again(store: MemoryStore, locks: ExitStack) -> None:
    """A process that is suspended before it creates the next number finds later ones when it continues."""
    taken(locks, Machine(store, "a"))

    def suspended(request: str) -> None:
        if request == "create":
            store.fails = lambda _: None
            for name in "cd":
                taken(locks, Machine(store, name))

    store.fails = suspended
    with pytest.raises(LockHeldError):
        Machine(store, "b").lock(wait_s=LEASE_S + MARGIN_S + 5)

    assert max(holders(store).items()) == ("3", "d")


def test_a_holder_that_cannot_renew_its_lease_ends_before_another_one_takes_the_lock(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uri_lock, "RENEW_S", 0.001)
    machine = Machine(store, "a")
    machine.look_s = 0
    lock = machine.lock()
    renewed_s = machine.now_s

    def late(request: str) -> None:
        machine.now_s += LEASE_S / 3
        unreachable(request)

    store.fails = late

    assert machine.lost.wait(DEADLINE_S)
    assert machine.now_s - renewed_s > LEASE_S
    assert machine.error is not None
    assert (machine.error.code, machine.error.params) == (
        "STATE_LOCK_EXPIRED",
        {"uri": "store://bucket/app", "seconds": LEASE_S, "reason": "Connection refused"},
    )
    lock.close()


def test_a_holder_whose_store_does_not_answer_ends_too(store: MemoryStore, locks: ExitStack) -> None:
    """Its only request waits: there is no error of the store."""
    machine = Machine(store, "a")

    taken(locks, machine)

    assert machine.lost.wait(DEADLINE_S)
    assert machine.error is not None
    assert "did not answer" in str(machine.error.params["reason"])


def test_a_holder_that_was_replaced_ends(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uri_lock, "RENEW_S", 0.001)
    machine = Machine(store, "a")
    machine.look_s = 0
    lock = machine.lock()

    store.files["store://bucket/app/lock/3"] = b"{}"
    del store.files["store://bucket/app/lock/1"]

    assert machine.lost.wait(DEADLINE_S)
    assert machine.error is not None
    assert machine.error.code == "PROCESSOR_REPLACED"
    lock.close()


def test_a_renewed_lock_is_kept_and_released(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uri_lock, "RENEW_S", 0.001)
    machine = Machine(store, "a")
    machine.look_s = 0
    lock = machine.lock()
    renewed = Event()

    def late(request: str) -> None:
        if request == "write":
            machine.now_s += LEASE_S / 3
        if machine.now_s > 1000 + 3 * LEASE_S:
            renewed.set()

    store.fails = late
    assert renewed.wait(DEADLINE_S)
    lock.close()

    assert not machine.lost.is_set()
    assert json.loads(store.files["store://bucket/app/lock/1"])["released"]


def test_a_lock_with_unreadable_content_ends_like_a_lease(store: MemoryStore, locks: ExitStack) -> None:
    store.files["store://bucket/app/lock/7"] = b"not JSON"

    taken(locks, Machine(store, "a"))

    assert holders(store) == {"8": "a"}


class TestWithALease:
    def test_the_process_of_a_later_term_takes_the_lock_at_once(self, store: MemoryStore, locks: ExitStack) -> None:
        before = taken(locks, Candidate(store, "a", 1), wait_s=0)

        after = taken(locks, Candidate(store, "b", 2), wait_s=0)

        assert (before.owner.is_replaced(), after.owner.is_replaced()) == (True, False)
        assert holders(store) == {"2": "b"}
        assert (owner_of(store.root() / "app"), after.owner.text) == ("b", "b")

    def test_a_process_whose_first_request_failed_takes_the_lock_again(
        self, store: MemoryStore, locks: ExitStack
    ) -> None:
        process = Candidate(store, "a", 1)
        taken(locks, process, wait_s=0)

        taken(locks, process, wait_s=0)

        assert holders(store) == {"2": "a"}

    @pytest.mark.parametrize("other", [Candidate(MemoryStore(), "b", 2), Candidate(MemoryStore(), "b", 1, "other")])
    def test_neither_a_later_term_nor_another_lease_is_replaced(
        self, store: MemoryStore, locks: ExitStack, other: Candidate
    ) -> None:
        """The first one was suspended before it took the lock. The second one is from another cluster."""
        other.store = store
        taken(locks, other, wait_s=0)

        with pytest.raises(LockHeldError):
            Candidate(store, "a", 1).lock(wait_s=0)

        assert holders(store) == {"1": "b"}

    def test_it_waits_for_a_process_without_the_lease(self, store: MemoryStore, locks: ExitStack) -> None:
        taken(locks, Machine(store, "a"))
        with pytest.raises(LockHeldError):
            Candidate(store, "b", 1).lock(wait_s=0)

        taken(locks, Candidate(store, "b", 1), wait_s=LEASE_S + MARGIN_S + 5)

        assert holders(store) == {"2": "b"}

    def test_a_process_without_the_lease_waits_for_it(self, store: MemoryStore, locks: ExitStack) -> None:
        leader = taken(locks, Candidate(store, "a", 1))
        with pytest.raises(LockHeldError):
            Machine(store, "b").lock(wait_s=0)

        leader.close()

        taken(locks, Machine(store, "b"), wait_s=0)
        assert (holders(store), owner_of(store.root() / "app")) == ({"2": "b"}, "")

    def test_a_holder_that_writes_its_file_again_after_two_others_have_taken_the_lock_ends(
        self, store: MemoryStore, monkeypatch: pytest.MonkeyPatch, locks: ExitStack
    ) -> None:
        """It was suspended before this request, and its file was deleted."""
        monkeypatch.setattr(uri_lock, "RENEW_S", 0.001)
        zombie = Candidate(store, "a", 1)
        zombie.look_s = 0

        def suspended(request: str) -> None:
            if request == "write":
                store.fails = lambda _: None
                monkeypatch.setattr(uri_lock, "RENEW_S", 1000.0)
                taken(locks, Candidate(store, "b", 2), wait_s=0)
                taken(locks, Candidate(store, "c", 3), wait_s=0)
                monkeypatch.setattr(uri_lock, "RENEW_S", 0.001)

        store.fails = suspended
        taken(locks, zombie, wait_s=0)

        assert zombie.lost.wait(DEADLINE_S)
        assert zombie.error is not None
        assert zombie.error.code == "PROCESSOR_REPLACED"
        assert holders(store) == {"1": "a", "3": "c"}
