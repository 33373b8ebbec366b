"""Lost state, and state of another program: refused, reset, or rebuilt."""

from __future__ import annotations

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import ErrorReport
from lsql_runner.events.state import State
from tests.unit.runtime.conftest import P0, RECORD


@pytest.fixture
def counted(runtime: FakeRuntime) -> FakeRuntime:
    """A program with a COUNT that has read two records and has ended."""
    runtime.sql = "INSERT INTO o SELECT STREAM COUNT(*) AS n FROM t GROUP BY g"
    runtime.brokers.produce("t", RECORD)
    with runtime.process() as running:
        running.run()
    return runtime


def lose(runtime: FakeRuntime) -> None:
    for path in sorted((runtime.folder / APP_ID).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def refusal(runtime: FakeRuntime, **env: str) -> ErrorReport:
    """Why the processor has failed before it ran; its process stays, and answers requests."""
    with runtime.process(**env) as running:
        running.turn()
        assert (running.state, running.health()) == (State.FAILED, ["failed"])
        assert running.status.reason is not None
        return running.status.reason


SUM = "INSERT INTO o SELECT STREAM SUM(a) AS n FROM t GROUP BY g"


def test_a_process_that_ends_before_its_first_batch_is_no_lost_state(runtime: FakeRuntime) -> None:
    runtime.sql = SUM
    with runtime.process() as running:
        running.turn()
    assert runtime.brokers.group_positions(APP_ID, [P0]) == {P0: 0}

    with runtime.process() as again:
        assert again.run().status.records_in == 1


def test_a_rebuild_that_ends_before_its_first_batch_is_a_rebuild_at_the_next_start(counted: FakeRuntime) -> None:
    lose(counted)
    with counted.process(LSQL_STATE_ON_LOSS="rebuild"):
        pass  # killed before the position was committed
    counted.brokers.commit(APP_ID, {P0: 2})

    with counted.process() as again:
        assert again.run().status.records_in == 2


def test_an_old_generation_is_kept_until_each_query_has_ended_a_batch(counted: FakeRuntime) -> None:
    counted.sql = f"{SUM}; {SUM.replace('FROM t', 'FROM u')}"
    counted.brokers.add_topic("u")
    counted.brokers.produce("u", RECORD)
    with counted.process(LSQL_STATE_ON_CHANGE="reset", LSQL_STATE_PARTITIONS="3") as running:
        running.turn()
        assert running.state_dir.saved().generations == {1, 2}

    with counted.process() as again:
        counted.brokers.produce("t", RECORD)
        again.turn()
        counted.brokers.delete_records("u", 0, 1)
        assert running.state_dir.saved().generations == {1, 2}
        again.run().turn()
        assert again.state_dir.saved().generations == {2}


@pytest.mark.parametrize("files", [("program.json",), ("1/stateful-0/metadata", "program.json")])
def test_a_crash_between_the_changes_of_a_first_start_leads_to_a_normal_start(
    runtime: FakeRuntime, files: tuple[str, ...]
) -> None:
    runtime.sql = SUM
    with runtime.process():
        pass
    for file in files:
        (runtime.folder / APP_ID / file).unlink()

    with runtime.process() as again:
        assert again.run().status.records_in == 1


def test_the_position_after_a_restart_is_that_of_the_checkpoints(counted: FakeRuntime) -> None:
    counted.brokers.commit(APP_ID, {P0: 1})  # a kill between the commit log and the commit to the group

    with counted.process() as again:
        again.turn()
        assert again.status.committed == {P0: 2}

    assert counted.brokers.group_positions(APP_ID, [P0]) == {P0: 2}


def test_a_warning_of_the_engine_is_a_warning_of_the_processor(counted: FakeRuntime) -> None:
    counted.engine.warnings = ("The sink has later batches.",)

    with counted.process() as again:
        again.turn()
        assert again.status.warnings[-1] == "The sink has later batches."


def test_a_deleted_checkpoint_is_lost_state(counted: FakeRuntime) -> None:
    (counted.folder / APP_ID / "1/stateful-0/metadata").unlink()

    assert refusal(counted).code == "STATE_LOST"


def test_lost_state_is_refused(counted: FakeRuntime) -> None:
    lose(counted)

    error = refusal(counted)

    assert (error.code, error.params["group"]) == ("STATE_LOST", APP_ID)


def test_lost_state_with_reset_begins_empty_at_the_position(counted: FakeRuntime) -> None:
    lose(counted)
    counted.brokers.produce("t", RECORD)

    with counted.process(LSQL_STATE_ON_LOSS="reset") as running:
        assert running.run().status.records_in == 1


def test_lost_state_with_rebuild_reads_from_the_first_record(counted: FakeRuntime) -> None:
    lose(counted)
    counted.brokers.produce("t", RECORD)

    with counted.process(LSQL_STATE_ON_LOSS="rebuild") as running:
        running.turn()
        assert running.status.committed == {P0: 0}
        counted.engine.run_batches()
        assert running.status.records_in == 3
    assert counted.brokers.group_positions(APP_ID, [P0]) == {P0: 3}


def test_state_of_another_program_is_refused_and_kept(counted: FakeRuntime) -> None:
    count, counted.sql = counted.sql, counted.sql.replace("COUNT(*)", "SUM(a)")

    error = refusal(counted)

    assert error.code == "STATE_INCOMPATIBLE"
    assert error.params["path"] == str(counted.folder / APP_ID)
    counted.sql = count
    counted.brokers.produce("t", RECORD)
    with counted.process() as running:
        assert (running.run().status.records_in, running.status.generation) == (1, 1)


@pytest.mark.parametrize(("keep", "checkpoints"), [(0, {"stateful-1"}), (1, {"stateful-0", "stateful-1"})])
def test_state_of_another_program_is_replaced_with_reset(
    counted: FakeRuntime, keep: int, checkpoints: set[str]
) -> None:
    counted.sql = counted.sql.replace("COUNT(*)", "SUM(a)")
    counted.brokers.produce("t", RECORD)

    with counted.process(LSQL_STATE_ON_CHANGE="reset", LSQL_STATE_KEEP_GENERATIONS=str(keep)) as running:
        status = running.run().status
        running.turn()

    assert (status.records_in, status.generation) == (1, 1)
    assert any("The program changed" in warning for warning in status.warnings)
    assert {name for _, name in running.state_dir.saved().checkpoints} == checkpoints
    with counted.process() as again:  # the state is that program's now
        assert again.run().status.warnings == ()


def test_a_changed_stateless_program_continues_with_the_pinned_schema(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
    runtime.sql = "INSERT INTO o SELECT STREAM color, a AS number FROM t"
    runtime.brokers.produce("t", (b"k", b'{"g": "x", "a": 3, "color": "red"}'))

    with runtime.process() as running:
        assert running.run().status.records_in == 1

    uses = {use.topic: use for use in running.status.topics}
    assert (uses["t"].value_type, uses["t"].schema_origin) == (
        "struct<g: string, a: numeric, color: string>",
        "pinned",
    )


def test_a_stateless_program_without_its_directory_continues_at_the_position(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
    lose(runtime)
    runtime.brokers.produce("t", RECORD)

    with runtime.process() as running:
        assert running.run().status.records_in == 1
