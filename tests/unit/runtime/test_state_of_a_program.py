"""Lost state, and state of another program: refused, reset, or rebuilt."""

from __future__ import annotations

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.errors import LsqlError
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


def refusal(runtime: FakeRuntime, **env: str) -> LsqlError:
    with pytest.raises(LsqlError) as caught, runtime.process(**env):
        pass
    return caught.value


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


def test_state_of_another_program_is_deleted_with_reset(counted: FakeRuntime) -> None:
    counted.sql = counted.sql.replace("COUNT(*)", "SUM(a)")
    counted.brokers.produce("t", RECORD)

    with counted.process(LSQL_STATE_ON_CHANGE="reset") as running:
        status = running.run().status

    assert (status.records_in, status.generation) == (1, 2)
    assert any("The program changed" in warning for warning in status.warnings)
    assert running.state_dir.saved().generations == {2}
    with counted.process() as again:  # the state is that program's now
        assert again.status.generation == 0
        again.turn()
        assert again.status.generation == 2


def test_a_changed_stateless_program_continues_with_the_pinned_schema(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
    runtime.sql = "INSERT INTO o SELECT STREAM color, a AS number FROM t"
    runtime.brokers.produce("t", (b"k", b'{"g": "x", "a": 3, "color": "red"}'))

    with runtime.process() as running:
        assert running.run().status.records_in == 1

    uses = {use.topic: use for use in running.status.topics}
    assert (uses["t"].value_type, uses["t"].schema_origin) == (
        "struct<g: string, a: long, color: string>",
        "pinned",
    )


def test_a_stateless_program_without_its_directory_continues_at_the_position(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.run()
    lose(runtime)
    runtime.brokers.produce("t", RECORD)

    with runtime.process() as running:
        assert running.run().status.records_in == 1
