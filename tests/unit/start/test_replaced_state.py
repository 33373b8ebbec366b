"""The decision about a start whose program cannot continue some state: which state begins, where, and which is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.start.actions import BeginCheckpoints, PinProgram, describe
from lsql_runner.state.offset_log import SavedCheckpoint
from lsql_runner.state.saved_state import Pinned, Rebuild
from tests.unit.start.situations import COUNT, HAD_STATE, P0, P1, READ, SUM, U0, Case, decision_of

MINUTE = 60_000
READ_TO = {P0: 5, P1: 3}
WATERMARK = 10 * MINUTE + 1
CLOSED = replace(READ, watermark_ms=WATERMARK)
REBUILD = replace(HAD_STATE, on_change="rebuild", checkpoints={(1, "stateful-0"): CLOSED})
EARLIEST = {"LSQL_STATE_REBUILD_FROM": "earliest"}
WINDOWS = COUNT.replace("GROUP BY", "WINDOW BY TUMBLE 1m GROUP BY")
HOPS = COUNT.replace("GROUP BY", "WINDOW BY HOP 10m,1m GROUP BY")
SESSIONS = COUNT.replace("GROUP BY", "WINDOW BY SESSION 1m GROUP BY")
FIELD_TIME = WINDOWS.replace("FROM t", "FROM t EVENTTIME BY COALESCE(a, 0)")
TABLE = "(SELECT TABLE * FROM u) AS v"
LOOKUP = COUNT.replace("FROM t", f"FROM t JOIN {TABLE}").replace("BY g", "BY v.g").replace("COUNT(*)", "SUM(t.a)")
OF_TABLE = COUNT.replace("STREAM", "TABLE")
SINCE = {10 * MINUTE: {P0: 4, P1: 3, U0: 7}, MINUTE: {P0: 2, P1: 3, U0: 7}}


def pinned_by(case: Case) -> Pinned:
    pin = decision_of(case).actions[-1]
    assert isinstance(pin, PinProgram)
    return pin.pinned


@pytest.mark.parametrize(
    ("sql", "env", "starts"),
    [
        pytest.param(SUM, {}, {P0: 1, P1: 1}, id="groups"),
        pytest.param(WINDOWS, {}, {P0: 4, P1: 3}, id="windows"),
        pytest.param(HOPS, {}, {P0: 2, P1: 3}, id="hopping windows"),
        pytest.param(WINDOWS, EARLIEST, {P0: 1, P1: 1}, id="windows from the first record"),
        pytest.param(SESSIONS, {}, {P0: 1, P1: 1}, id="sessions may have begun at any time"),
        pytest.param(FIELD_TIME, {}, {P0: 1, P1: 1}, id="the timestamps of records do not tell the event time"),
    ],
)
def test_records_of_open_windows_are_read_again_if_these_are_known(
    sql: str, env: Mapping[str, str], starts: Mapping[Partition, int]
) -> None:
    old = WINDOWS.replace("COUNT(*)", "MIN(a)")
    decision = decision_of(replace(REBUILD, old=old, sql=sql, env=env, since=SINCE))

    assert decision.start_offsets == {"stateful-1": starts}
    assert decision.rebuilds == {"stateful-1": Rebuild(ends=READ_TO, watermark_ms=WATERMARK)}


def test_without_a_watermark_all_records_are_read_again() -> None:
    decision = decision_of(replace(REBUILD, sql=WINDOWS, checkpoints={(1, "stateful-0"): READ}))

    assert decision.start_offsets == {"stateful-1": {P0: 1, P1: 1}}


@pytest.mark.parametrize("on_change", ["reset", "rebuild"])
@pytest.mark.parametrize(
    ("old", "new", "starts"),
    [
        pytest.param(SUM, LOOKUP, {P0: 5, P1: 3, U0: 0}, id="a topic that was not read begins as in a first start"),
        pytest.param(LOOKUP.replace("SUM", "MIN"), LOOKUP, {P0: 5, P1: 3, U0: 0}, id="the table of a lookup"),
        pytest.param(OF_TABLE.replace("COUNT(*)", "SUM(a)"), OF_TABLE, {P0: 1, P1: 1}, id="groups of a table"),
    ],
)
def test_tables_are_read_again_in_any_case(old: str, new: str, starts: Mapping[Partition, int], on_change: str) -> None:
    read = replace(READ, ended={**READ.ended, **({U0: 6} if "JOIN" in old else {})})
    decision = decision_of(
        replace(
            REBUILD,
            old=old,
            sql=new,
            on_change=on_change,
            checkpoints={(1, "stateful-0"): read},
            begins={**REBUILD.begins},
        )
    )

    expected = starts if on_change == "reset" or new == OF_TABLE else {P0: 1, P1: 1, U0: 0}
    assert decision.start_offsets == {"stateful-1": expected}


def test_a_start_from_now_reads_nothing_again() -> None:
    decision = decision_of(replace(REBUILD, sql=SUM, on_change="reset"))

    assert (decision.start_offsets, decision.rebuilds) == ({"stateful-1": READ_TO}, {})


AGAIN = Rebuild(ends=READ_TO, watermark_ms=WATERMARK)


@pytest.mark.parametrize(
    ("checkpoint", "goes_on"),
    [
        pytest.param(SavedCheckpoint(), True, id="no batch has ended"),
        pytest.param(SavedCheckpoint(ended={P0: 5, P1: 2}), True, id="a partition is not read"),
        pytest.param(
            SavedCheckpoint(ended=READ_TO), True, id="the watermark has not removed what the other has removed"
        ),
        pytest.param(SavedCheckpoint(ended=READ_TO, watermark_ms=WATERMARK), False, id="all is read"),
        pytest.param(SavedCheckpoint(ended={P0: 6, P1: 3}), False, id="more is read"),
    ],
)
def test_a_restart_goes_on_with_a_rebuild(checkpoint: SavedCheckpoint, goes_on: bool) -> None:
    decision = decision_of(
        replace(HAD_STATE, checkpoints={(1, "stateful-0"): checkpoint}, rebuilds={"stateful-0": AGAIN})
    )

    assert decision.rebuilds == ({"stateful-0": AGAIN} if goes_on else {})


def test_other_state_is_continued() -> None:
    two = f"{COUNT}; INSERT INTO copy SELECT STREAM MAX(a) AS m FROM t GROUP BY g"
    case = replace(
        REBUILD,
        old=two,
        sql=two.replace("COUNT(*)", "SUM(a)"),
        topics=("o", "copy"),
        checkpoints={(1, "stateful-0"): READ, (1, "stateful-1"): replace(READ, ended={P0: 9, P1: 9})},
    )

    decision = decision_of(case)

    assert [describe(each) for each in decision.actions if isinstance(each, BeginCheckpoints)] == [
        "begin empty checkpoints in generation 1: stateful-2"
    ]
    assert decision.positions["stateful-1"] == {P0: 9, P1: 9}
    assert decision.rebuilds.keys() == {"stateful-2"}


RETURN = replace(
    HAD_STATE,
    old=SUM,
    kept=COUNT,
    checkpoints={(1, "stateful-0"): READ, (1, "stateful-9"): replace(READ, ended={P0: 2, P1: 2})},
)


def test_an_insert_that_is_changed_back_continues_its_earlier_state() -> None:
    decision = decision_of(RETURN)

    assert decision.positions == {"stateful-9": {P0: 2, P1: 2}}
    assert [query.name for query in pinned_by(RETURN).kept.queries] == ["stateful-0"]
    [warning] = decision.warnings
    assert warning.startswith("INSERT INTO o returns to the state and the position")


def test_an_earlier_state_that_was_deleted_is_not_continued() -> None:
    case = replace(RETURN, checkpoints={(1, "stateful-0"): READ}, on_change="reset")

    assert decision_of(case).positions == {"stateful-1": READ_TO}


@pytest.mark.parametrize(
    ("number", "kept", "deleted"),
    [(0, [], ["stateful-0", "stateful-9"]), (1, ["stateful-0"], ["stateful-9"]), (2, ["stateful-0", "stateful-9"], [])],
)
def test_the_newest_earlier_states_of_an_insert_are_kept(number: int, kept: list[str], deleted: list[str]) -> None:
    maximum = COUNT.replace("COUNT(*)", "MAX(a)")
    case = replace(RETURN, sql=maximum, on_change="reset", env={"LSQL_STATE_KEEP_GENERATIONS": str(number)})

    assert [query.name for query in pinned_by(case).kept.queries] == kept
    assert [describe(each) for each in decision_of(case).later] == [
        f"delete the checkpoint of query {name} in generation 1" for name in deleted
    ]
    assert pinned_by(case).starts.keys() == {"stateful-1", *kept}


def test_a_change_while_state_is_built_again_writes_from_where_the_first_one_would_have() -> None:
    """The targets have the results up to there, and half a state is not kept."""
    maximum = COUNT.replace("COUNT(*)", "MAX(a)")
    case = replace(
        RETURN,
        sql=maximum,
        on_change="rebuild",
        checkpoints={
            **RETURN.checkpoints,
            (1, "stateful-0"): SavedCheckpoint(planned={P0: 2, P1: 2}, ended={P0: 2, P1: 2}),
        },
        rebuilds={"stateful-0": Rebuild(ends={P0: 4, P1: 3}, watermark_ms=WATERMARK)},
    )

    decision = decision_of(case)

    assert decision.rebuilds == {"stateful-1": Rebuild(ends={P0: 4, P1: 3}, watermark_ms=WATERMARK)}
    assert [query.name for query in pinned_by(case).kept.queries] == ["stateful-9"]


HALF = SavedCheckpoint(planned={P0: 2, P1: 2}, ended={P0: 2, P1: 2})
REBUILDING = replace(
    HAD_STATE,
    checkpoints={(1, "stateful-0"): SavedCheckpoint(ended={P0: 2, P1: 2})},
    rebuilds={"stateful-0": Rebuild(ends=READ_TO, watermark_ms=WATERMARK)},
    env={"LSQL_ON_DATA_LOSS": "continue"},
)


def test_a_rebuild_does_not_wait_for_records_that_are_lost() -> None:
    shorter = decision_of(replace(REBUILDING, ends={P0: 4, P1: 3}))
    recreated = decision_of(
        replace(REBUILDING, had_topic_id="a", topic_id="b", ends={P0: 1, P1: 1}, committed={P0: 2}, group_topic_id="a")
    )

    assert shorter.rebuilds["stateful-0"].ends == {P0: 4, P1: 3}
    assert recreated.rebuilds["stateful-0"].ends == {P0: 0, P1: 0}


def test_an_earlier_state_of_a_topic_that_was_created_again_is_not_kept() -> None:
    case = replace(
        RETURN, sql=SUM, had_topic_id="a", topic_id="b", group_topic_id="a", env={"LSQL_ON_DATA_LOSS": "continue"}
    )

    assert pinned_by(case).kept.queries == ()


def test_records_of_topics_that_the_new_query_does_not_read_are_not_waited_for() -> None:
    read = replace(READ, ended={**READ.ended, U0: 6})
    decision = decision_of(replace(REBUILD, old=LOOKUP, sql=SUM, checkpoints={(1, "stateful-0"): read}))

    assert decision.rebuilds["stateful-1"].ends == READ_TO


def test_a_table_that_was_not_read_before_is_read_to_its_end_first() -> None:
    decision = decision_of(replace(REBUILD, old=SUM, sql=LOOKUP))

    assert decision.rebuilds["stateful-1"].ends == {**READ_TO, U0: 9}
    assert decision.start_offsets["stateful-1"] == {P0: 1, P1: 1, U0: 0}


def test_with_a_longer_grace_windows_are_open_that_were_closed() -> None:
    old, new = (WINDOWS.replace("1m GROUP", f"1m GRACE BY {grace} GROUP") for grace in ("1m", "3m"))
    case = replace(REBUILD, old=old.replace("COUNT(*)", "MIN(a)"), sql=new, since={8 * MINUTE: {P0: 2, P1: 2}})

    assert decision_of(case).start_offsets == {"stateful-1": {P0: 2, P1: 2}}


def test_each_insert_of_a_target_replaces_its_own_state() -> None:
    kept, changed = COUNT, "INSERT INTO o SELECT STREAM MAX(a) AS m FROM t GROUP BY g"
    case = replace(
        REBUILD,
        old=f"{kept}; {changed}",
        sql=f"{kept}; {changed.replace('MAX', 'MIN')}",
        checkpoints={(1, "stateful-0"): SavedCheckpoint(ended={P0: 2, P1: 2}), (1, "stateful-1"): CLOSED},
    )

    assert decision_of(case).rebuilds["stateful-2"].ends == READ_TO


def test_a_state_whose_next_records_are_deleted_does_not_return() -> None:
    case = replace(RETURN, begins={P0: 3, P1: 0})

    with pytest.raises(LsqlError) as refused:
        decision_of(case)

    assert refused.value.code == "OFFSETS_OUT_OF_RANGE"
    assert decision_of(replace(case, env={"LSQL_ON_DATA_LOSS": "continue"})).positions["stateful-9"][P0] == 2


def test_final_windows_that_were_closed_stay_closed_without_a_record_to_read_again() -> None:
    final = f"SET emit=final; {WINDOWS}"
    old = final.replace("COUNT(*)", "MIN(a)")
    decision = decision_of(replace(REBUILD, old=old, sql=final, since={10 * MINUTE: READ_TO}))

    assert decision.start_offsets == {"stateful-1": READ_TO}
    assert decision.rebuilds == {"stateful-1": AGAIN}
    assert decision.warnings[1].endswith("at the last position of its targets.")
