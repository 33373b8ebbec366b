"""The decision about a start that converts state for a query with other aggregates."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from devkit.fake_runtime import APP_ID, FakeRuntime
from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State
from lsql_runner.plan.verdict import Verdict
from lsql_runner.start.actions import ChangeMeaning, ConvertStates, DropCheckpoint, DropOtherGenerations, PinProgram
from lsql_runner.start.changed_program import verdict_on
from lsql_runner.state.saved_state import Blue
from tests.unit.start.situations import BEGUN, COUNT, HAD_STATE, READ, decision_of
from tests.unit.start.test_preparation import COUNT as AVRO_COUNT
from tests.unit.start.test_preparation import runtime_with, snapshot

MOST = AVRO_COUNT.replace("COUNT(*) AS n", "COUNT(*) AS n, MAX(a) AS most")
OTHER = "INSERT INTO dead SELECT STREAM COUNT(*) AS n FROM t GROUP BY a"

BOTH = COUNT.replace("COUNT(*) AS n", "COUNT(*) AS n, MAX(a) AS most")


def test_it_is_in_a_new_generation_with_copies_of_the_other_checkpoints() -> None:
    case = replace(
        HAD_STATE,
        sql=f"{BOTH}; {OTHER}",
        old=f"{COUNT}; {OTHER}",
        checkpoints={(1, "stateful-0"): READ, (1, "stateful-1"): READ},
    )

    decision = decision_of(case)

    assert (decision.generation, decision.first_batches) == (2, frozenset({"stateful-0"}))
    assert decision.positions == decision_of(replace(case, sql=case.old or "")).positions
    convert, *others = decision.actions
    assert isinstance(convert, ConvertStates)
    assert (convert.generation, convert.to) == (1, 2)
    assert [(each.old.name, each.new.name, each.aggregates) for each in convert.queries] == [
        ("stateful-0", "stateful-0", (0, None))
    ]
    assert ChangeMeaning(2, "stateful-0") in others
    assert ChangeMeaning(2, "stateful-1") not in others
    assert next(each for each in others if isinstance(each, PinProgram)).pinned.generation == 2
    assert DropOtherGenerations(2) in decision.later


def test_files_of_a_start_that_was_killed_are_not_its_state() -> None:
    left = {(1, "stateful-0"): READ, (2, "stateful-0"): BEGUN, (2, "stateful-7"): READ}

    decision = decision_of(replace(HAD_STATE, sql=BOTH, checkpoints=left, generations=frozenset({1, 2})))

    assert decision.generation == 2
    assert decision.positions["stateful-0"] == READ.ended
    assert not any(isinstance(action, DropCheckpoint) for action in decision.later)


def test_the_start_warns_of_values_without_earlier_records() -> None:
    [added] = decision_of(replace(HAD_STATE, sql=BOTH)).warnings
    [removed] = decision_of(replace(HAD_STATE, sql=COUNT, old=BOTH)).warnings

    assert added == (
        "INSERT INTO o has new aggregates (MAX(a)). Its state was converted. Its new aggregates do not contain "
        "earlier records."
    )
    assert removed == ("INSERT INTO o does not have all aggregates any more (MAX(a)). Its state was converted.")


@pytest.mark.parametrize(
    ("sql", "old", "converts"), [(BOTH, COUNT, False), (COUNT, BOTH, True)], ids=["an aggregate more", "one less"]
)
@pytest.mark.parametrize("on_change", ["rebuild", "blue_green"])
def test_new_aggregates_get_the_records_of_before_if_state_is_built_again(
    sql: str, old: str, converts: bool, on_change: str
) -> None:
    decision = decision_of(replace(HAD_STATE, sql=sql, old=old, on_change=on_change))

    assert any(isinstance(action, ConvertStates) for action in decision.actions) == converts
    assert bool(decision.rebuilds) != converts


@pytest.mark.parametrize(("sql", "old", "refused"), [(BOTH, COUNT, True), (COUNT, BOTH, False)])
def test_new_aggregates_are_another_meaning(sql: str, old: str, refused: bool) -> None:
    case = replace(HAD_STATE, sql=sql, old=old, env={"LSQL_STATE_ON_MEANING_CHANGE": "refuse"})

    with pytest.raises(LsqlError, match="MAX") if refused else nullcontext():
        decision_of(case)


def test_another_meaning_beside_other_aggregates_is_reported_and_refused() -> None:
    case = replace(HAD_STATE, sql=COUNT.replace("FROM t", "FROM t WHERE COALESCE(a, 0) > 1"), old=BOTH)

    [warning] = decision_of(case).warnings
    with pytest.raises(LsqlError) as caught:
        decision_of(replace(case, env={"LSQL_STATE_ON_MEANING_CHANGE": "refuse"}))

    assert "does not have all aggregates any more (MAX(a)); INSERT INTO o has a different filter" in warning
    assert (caught.value.code, "filter" in str(caught.value)) == ("STATE_MEANING_CHANGED", True)


def test_state_that_is_lost_is_not_converted() -> None:
    decision = decision_of(replace(HAD_STATE, sql=COUNT, old=BOTH, checkpoints={}, on_loss="reset"))

    assert decision.generation == 1
    assert not any(isinstance(action, ConvertStates) for action in decision.actions)


def test_a_copy_that_a_killed_start_has_left_is_deleted_also_after_a_return() -> None:
    left = {(1, "stateful-0"): READ, (2, "stateful-0"): READ}

    decision = decision_of(replace(HAD_STATE, checkpoints=left, generations=frozenset({1, 2})))

    assert decision.generation == 1
    assert DropOtherGenerations(1) in decision.later


def test_a_green_state_is_not_converted() -> None:
    case = replace(
        HAD_STATE,
        sql=COUNT,
        old=BOTH,
        kept=COUNT.replace("COUNT(*)", "SUM(a)"),
        blues={"stateful-0": Blue(query="stateful-9", sql=COUNT.replace("COUNT(*)", "SUM(a)"))},
    )

    with pytest.raises(LsqlError) as caught:
        decision_of(case)

    assert caught.value.code == "STATE_INCOMPATIBLE"


@pytest.fixture
def runtime(tmp_path: Path) -> FakeRuntime:
    """With state of a count, whose program has another aggregate now."""
    runtime = runtime_with(tmp_path)
    with runtime.process() as running:
        running.run()
    runtime.sql = MOST
    return runtime


def test_a_copy_of_the_state_is_converted_before_the_program_runs(runtime: FakeRuntime) -> None:
    with runtime.process() as running:
        running.turn()
        saved = running.state_dir.saved()

    [(converted, source, target)] = runtime.engine.converted
    folder = runtime.folder / APP_ID
    assert [str(each) for each in (source, target)] == [f"{folder}/{number}/stateful-0" for number in (1, 2)]
    assert (converted.old.name, converted.new.name, converted.aggregates) == ("stateful-0", "stateful-0", (0, None))
    assert saved.pinned is not None
    assert (saved.pinned.generation, saved.pinned.sql) == (2, MOST)
    assert saved.checkpoints[2, "stateful-0"] == saved.checkpoints[1, "stateful-0"]
    assert str(runtime.engine.jobs[-1].checkpoints) == str(folder / "2")


def test_a_conversion_that_fails_changes_nothing(runtime: FakeRuntime) -> None:
    error = LsqlError("STATE_CONVERSION_FAILED", query="stateful-0", reason="the volume has errors")
    runtime.engine.conversion_error = error
    before = snapshot(runtime)

    with runtime.process() as running:
        running.turn()
        assert (running.state, running.reason) == (State.FAILED, error.code)
    after = snapshot(runtime)
    runtime.engine.conversion_error = None
    with runtime.process() as running:
        running.turn()
        assert running.state is State.RUNNING

    assert after == before
    assert len(runtime.engine.converted) == 2


def test_files_that_a_killed_conversion_has_left_are_replaced(runtime: FakeRuntime) -> None:
    left = runtime.folder / APP_ID / "2/stateful-0/commits/9"
    left.parent.mkdir(parents=True)
    left.write_text("v2")

    with runtime.process() as running:
        running.turn()

    assert not left.exists()


def test_a_state_whose_program_cannot_be_planned_any_more_is_not_converted(runtime: FakeRuntime) -> None:
    program = runtime.folder / APP_ID / "program.json"
    program.write_text(program.read_text().replace("FROM t GROUP", "FROM missing GROUP"))

    with runtime.process() as running:
        running.turn()
        assert (running.state, running.reason) == (State.FAILED, "STATE_INCOMPATIBLE")
    assert runtime.engine.converted == []


def test_a_state_that_cannot_be_converted_is_built_again_if_the_settings_allow_it(runtime: FakeRuntime) -> None:
    runtime.sql = AVRO_COUNT.replace("COUNT(*) AS n", "COUNT(*) AS n, MIN(a) AS least")
    with runtime.process(LSQL_STATE_ON_CHANGE="reset") as running:
        running.run()
    runtime.sql = AVRO_COUNT
    runtime.engine.conversion_error = LsqlError("STATE_CONVERSION_FAILED", query="stateful-0", reason="r")

    with runtime.process(LSQL_STATE_ON_CHANGE="rebuild") as running:
        running.turn()
        assert running.state is State.RUNNING
        saved = running.state_dir.saved()

    assert saved.pinned is not None
    assert [query.name for query in saved.pinned.kept.queries] == ["stateful-0"]


def test_the_verdict_knows_that_a_state_cannot_be_converted(runtime: FakeRuntime) -> None:
    program = runtime.folder / APP_ID / "program.json"
    program.write_text(program.read_text().replace("FROM t GROUP", "FROM missing GROUP"))

    with runtime.process() as running:
        found = verdict_on(MOST, runtime.settings(), runtime.brokers, runtime.registry, running.state_dir)

    assert [each.verdict for each in found.inserts] == [Verdict.NEW_GENERATION]


def test_a_processor_that_does_not_fit_its_state_answers_reads_of_it(runtime: FakeRuntime) -> None:
    runtime.sql = AVRO_COUNT.replace("BY g", "BY a")
    rows = StoredRows(rows="[]", cursor=None, batch=0, positions={}, watermark_ms=None, planned_ms=0)
    runtime.engine.saved_rows = rows

    with runtime.process() as running:
        running.turn()
        assert (running.state, running.reason) == (State.FAILED, "STATE_INCOMPATIBLE")
        assert [store.name for store in running.loop.description.stores] == ["aggregate-0"]
        assert running.loop.saved.read(StoreRead(store="aggregate-0")) == rows

    [(plan, checkpoints, read)] = runtime.engine.saved_reads
    assert [query.name for query in plan.queries] == ["stateful-0"]
    assert (str(checkpoints), read.store) == (str(runtime.folder / APP_ID / "1"), "aggregate-0")
