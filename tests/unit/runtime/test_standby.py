"""The control loop of a process that stands by, and takes over: nothing changes before it leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from devkit.fake_leadership import FakeLeadership
from devkit.fake_runtime import FakeRuntime
from devkit.memory_store import MemoryStore, unreachable
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.events.leadership import LeadershipChanged
from lsql_runner.events.processor import StateChanged
from lsql_runner.events.state import State
from lsql_runner.jvm.java import DEATHS
from lsql_runner.lease.election import Term
from lsql_runner.state.owner import OwnerNumber
from lsql_runner.status.lifecycle import Cause

FILTER = "SET defaults.topic.autocreate=true; INSERT INTO o SELECT STREAM * FROM t"


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    runtime = FakeRuntime(tmp_path, FILTER)
    runtime.leadership = FakeLeadership()
    runtime.brokers.add_topic("t")
    runtime.brokers.produce("t", (b"k", b'{"a": 3}'))
    return runtime


@pytest.fixture
def leadership(runtime: FakeRuntime) -> FakeLeadership:
    assert isinstance(runtime.leadership, FakeLeadership)
    return runtime.leadership


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_standby_is_healthy_and_changes_nothing(runtime: FakeRuntime) -> None:
    with runtime.process() as standby:
        for _ in range(3):
            standby.advance_s(100)

        assert (standby.state, standby.health()) == (State.STANDBY, [])
        assert (files(runtime.folder), runtime.engine.jobs) == ({"lock"}, [])
        assert "o" not in runtime.brokers.topics()


def test_a_standby_whose_program_does_not_fit_the_state_ends(runtime: FakeRuntime) -> None:
    """A rollout stops, and the process that leads goes on."""
    leadership, runtime.leadership = runtime.leadership, None
    runtime.sql = "SET autocreate=true; INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY a"
    with runtime.process() as running:
        running.run()
    runtime.leadership, runtime.sql = leadership, runtime.sql.replace("GROUP", "WINDOW BY TUMBLE 1m GROUP")

    with pytest.raises(LsqlError, match="STATE_INCOMPATIBLE"), runtime.process():
        pass


def test_a_standby_shows_its_program(runtime: FakeRuntime) -> None:
    with runtime.process() as standby:
        assert standby.loop.description.topology["nodes"]


def test_a_standby_warms_the_engine_with_the_newest_records(runtime: FakeRuntime) -> None:
    runtime.brokers.produce("t", *[(b"k", b'{"a": 3}')] * 300)
    with runtime.process() as standby:
        for _ in range(3):
            standby.advance_s(100)

        assert [list(job.source.start_offsets.values()) for job in runtime.engine.warmed] == [
            [{Partition("t", 0): 201}]
        ]


def test_a_query_whose_topics_are_empty_is_not_run(runtime: FakeRuntime) -> None:
    runtime.sql += "; INSERT INTO n SELECT STREAM _key, COUNT(*) AS n FROM e WINDOW BY TUMBLE 1s GROUP BY _key"
    runtime.brokers.add_topic("e")
    with runtime.process(LSQL_TOPICS='{"e": {"value": {"format": "JSON", "schema": {"a": "long"}}}}') as standby:
        standby.turn()

        assert [set(job.source.start_offsets) for job in runtime.engine.warmed] == [{"stateless"}]


def test_an_invalid_program_is_refused_before_it_stands_by(runtime: FakeRuntime) -> None:
    runtime.sql = FILTER.replace("*", "missing")

    with pytest.raises(LsqlError) as caught, runtime.process():
        pass
    assert caught.value.code == "FIELD_UNKNOWN"


def test_a_process_with_the_lease_owns_the_state_directory_and_runs(
    runtime: FakeRuntime, leadership: FakeLeadership
) -> None:
    with runtime.process() as standby:
        standby.turn()
        leadership.term = Term(2, "this")
        standby.turn()
        standby.run()

        assert (standby.state_dir.path / "owner").read_text().startswith("2 this ")
        assert runtime.engine.jobs[0].owner == standby.state_dir.owner
        states = [(event.old, event.new) for event in standby.events_of(StateChanged)][:3]
        assert states == [
            (State.STARTING, State.STANDBY),
            (State.STANDBY, State.STARTING),
            (State.STARTING, State.RUNNING),
        ]


def test_a_process_that_leads_at_its_start_does_not_stand_by(runtime: FakeRuntime, leadership: FakeLeadership) -> None:
    leadership.term = Term(1, "this")
    with runtime.process() as process:
        process.run()


def test_a_processor_that_a_person_has_stopped_stays_stopped_at_the_next_leader(
    runtime: FakeRuntime, leadership: FakeLeadership
) -> None:
    with runtime.process() as standby:
        standby.state_dir.set_stopped(True, "ann", 0)
        standby.turn()
        leadership.term = Term(2, "this")
        standby.turn()
        standby.turn()

        assert (standby.state, runtime.engine.jobs) == (State.STOPPED, [])
        standby.state_dir.set_stopped(False, "ann", 1)
        standby.turn(Cause.START)
        standby.run()


def test_a_leader_knows_that_it_was_replaced(runtime: FakeRuntime, leadership: FakeLeadership) -> None:
    leadership.term = Term(1, "this")
    with runtime.process() as zombie:
        zombie.run()
        assert leadership.is_replaced is not None
        assert not leadership.is_replaced()

        leadership.term = Term(2, "other")
        with runtime.process() as successor:
            successor.turn()
            assert leadership.is_replaced is not None
            assert zombie.state_dir.is_replaced()
            assert not successor.state_dir.is_replaced()
            with pytest.raises(LsqlError) as caught:
                zombie.state_dir.set_stopped(True, "ann", 0)
            assert caught.value.code == "PROCESSOR_REPLACED"
            leadership.term = Term(3, "this")  # so that the end of the zombie is not that of the successor


def test_the_end_of_a_jvm_that_found_another_owner_is_reported_as_such(
    runtime: FakeRuntime, leadership: FakeLeadership
) -> None:
    leadership.term = Term(1, "this")
    with runtime.process() as zombie:
        zombie.run()
        (zombie.state_dir.path / "owner").write_text("2 other")
        runtime.engine.jvm = "another process has taken over"
        zombie.turn()

        assert zombie.reason == "PROCESSOR_REPLACED"


def test_the_lease_is_released_when_the_jvm_has_ended(runtime: FakeRuntime, leadership: FakeLeadership) -> None:
    leadership.term = Term(1, "this")
    with runtime.process() as process:
        process.run()
        runtime.engine.jvm = "killed"
        process.turn()

        assert (process.reason, leadership.calls) == ("JVM_GONE", ["release"])


def test_a_lease_that_cannot_be_used_makes_a_standby_unhealthy_and_not_a_leader(
    runtime: FakeRuntime, leadership: FakeLeadership
) -> None:
    leadership.error = LsqlError("LEASE_UNAVAILABLE", lease="streams/orders", reason="it does not exist")
    with runtime.process() as standby:
        standby.turn()
        standby.turn()
        assert standby.health() == ["lease-unavailable"]

        leadership.error = None
        leadership.term = Term(1, "this")
        standby.turn()
        standby.run()
        leadership.error = LsqlError("LEASE_UNAVAILABLE", lease="streams/orders", reason="it does not exist")
        standby.turn()
        assert (standby.state, standby.health()) == (State.RUNNING, [])
        assert len(standby.events_of(LeadershipChanged)) == 3


class TestStateAtUri:
    @pytest.fixture
    def store(self, runtime: FakeRuntime) -> MemoryStore:
        runtime.env = {"LSQL_STATE_URI": "s3a://bucket"}
        runtime.store = MemoryStore()
        return runtime.store

    def test_a_standby_reads_the_store_and_changes_nothing(self, runtime: FakeRuntime, store: MemoryStore) -> None:
        with runtime.process() as standby:
            for _ in range(3):
                standby.advance_s(100)

            assert (standby.state, standby.health()) == (State.STANDBY, [])
            assert standby.loop.description.topology["nodes"]
            assert len(runtime.engine.warmed) == 1
            assert (store.files, files(runtime.folder)) == ({}, {"lock"})

    def test_a_process_with_the_lease_takes_the_lock_of_the_one_before_and_runs(
        self, runtime: FakeRuntime, leadership: FakeLeadership, store: MemoryStore
    ) -> None:
        leadership.term = Term(1, "this")
        with runtime.process() as zombie:
            zombie.run()
            leadership.term = Term(2, "other")
            with runtime.process() as successor:
                successor.run()

                owners = [job.owner for job in runtime.engine.jobs]
                assert [owner.number for owner in owners if isinstance(owner, OwnerNumber)] == [1, 2]
                assert successor.state_dir.owner_text().startswith("2 other ")
                with pytest.raises(LsqlError, match="PROCESSOR_REPLACED"):
                    zombie.state_dir.set_stopped(True, "ann", 0)
                assert leadership.is_replaced is not None
                store.fails = unreachable
                assert not leadership.is_replaced(), "the renewal of the Lease waits for no request"
                store.fails = lambda _: None
                leadership.term = Term(3, "this")  # so that the end of the zombie is not that of the successor

    def test_a_leader_waits_while_a_process_without_the_lease_has_the_state(
        self, runtime: FakeRuntime, leadership: FakeLeadership, store: MemoryStore
    ) -> None:
        store.files["store://bucket/app/lock/1"] = b'{"host": "there", "pid": 7, "machine": "another"}'
        leadership.term = Term(1, "this")
        with runtime.process() as process:
            process.until(lambda: process.reason == "STATE_DIR_IN_USE")
            assert (process.state, process.health()) == (State.WAITING, ["state-in-use"])

            store.files["store://bucket/app/lock/1"] = b'{"released": true}'
            process.until(lambda: process.state is State.RUNNING)

    def test_a_leader_waits_for_a_store_that_does_not_answer(
        self, runtime: FakeRuntime, leadership: FakeLeadership, store: MemoryStore
    ) -> None:
        with runtime.process() as process:
            process.turn()
            store.fails = unreachable
            leadership.term = Term(1, "this")
            process.until(lambda: process.state is State.WAITING)
            assert process.reason == "STATE_STORE_UNREACHABLE"

            store.fails = lambda _: None
            process.until(lambda: process.state is State.RUNNING)

    def test_the_end_of_a_jvm_that_found_another_owner_is_reported_as_such(
        self, runtime: FakeRuntime, leadership: FakeLeadership, store: MemoryStore
    ) -> None:
        leadership.term = Term(1, "this")
        with runtime.process() as zombie:
            zombie.run()
            store.fails = unreachable  # requests need the JVM
            runtime.engine.jvm = DEATHS("REPLACED")
            zombie.turn()

            assert zombie.reason == "PROCESSOR_REPLACED"


def test_processes_with_a_lease_share_the_lock_and_others_are_refused(runtime: FakeRuntime) -> None:
    with runtime.process(), runtime.process():
        runtime.leadership = None
        with pytest.raises(LsqlError) as caught, runtime.process():
            pass
        assert caught.value.code == "STATE_DIR_IN_USE"
