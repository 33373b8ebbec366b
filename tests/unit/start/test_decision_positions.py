"""The decision about a start from positions that do not belong to the present topics."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.start.actions import RewindCheckpoint
from lsql_runner.state.offset_log import SavedCheckpoint
from tests.unit.start.situations import FILTER, HAD_STATE, P0, P1, Case, decision_of

RECREATED = replace(HAD_STATE, had_topic_id="a" * 32, topic_id="b" * 32)


def test_a_topic_that_was_created_again_refuses_the_start() -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(RECREATED)

    assert caught.value.code == "OFFSETS_OUT_OF_RANGE"
    reason = caught.value.params["reason"]
    assert isinstance(reason, Detail)
    assert (reason.code, reason.params) == ("RECREATED", {"topic": "t"})


def test_a_topic_that_was_created_again_is_read_from_its_first_record_if_records_may_be_lost() -> None:
    decision = decision_of(replace(RECREATED, env={"LSQL_ON_DATA_LOSS": "continue"}))

    begin = {P0: 0, P1: 0}
    assert RewindCheckpoint(1, "stateful-0", begin) in decision.actions
    assert decision.positions == {"stateful-0": begin}
    assert decision.warnings == ("The topic t was deleted and created again: it is read from its first record.",)


@pytest.mark.parametrize(("had", "has"), [("a" * 32, "a" * 32), ("", "b" * 32), ("a" * 32, "")])
def test_a_topic_with_the_same_id_or_an_unknown_one_is_continued(had: str, has: str) -> None:
    decision = decision_of(replace(HAD_STATE, had_topic_id=had, topic_id=has))

    assert decision.positions == {"stateful-0": {P0: 5, P1: 3}}
    assert not any(isinstance(action, RewindCheckpoint) for action in decision.actions)


LOST_VOLUME = Case(FILTER, committed={P0: 5, P1: 3}, topic_id="b" * 32, group_topic_id="a" * 32)


@pytest.mark.parametrize(
    "had_topic",
    [
        pytest.param({}, id="the volume is lost"),
        pytest.param({"old": FILTER, "had_topic_id": ""}, id="the id beside the checkpoints is not known"),
    ],
)
def test_a_position_of_the_group_in_an_earlier_topic_refuses_the_start(had_topic: dict[str, str]) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(replace(LOST_VOLUME, **had_topic))  # type: ignore[arg-type]

    assert (caught.value.code, caught.value.params["reason"].code) == ("OFFSETS_OUT_OF_RANGE", "RECREATED")  # type: ignore[union-attr]


def test_a_position_of_the_group_in_an_earlier_topic_is_its_first_record_if_records_may_be_lost() -> None:
    decision = decision_of(replace(LOST_VOLUME, env={"LSQL_ON_DATA_LOSS": "continue"}))

    assert decision.start_offsets == {"stateless": {P0: 0, P1: 0}}
    assert decision.warnings == ("The topic t was deleted and created again: it is read from its first record.",)


def test_a_position_of_the_group_in_an_earlier_topic_is_not_used_beside_a_checkpoint_in_the_present_one() -> None:
    known = replace(HAD_STATE, had_topic_id="b" * 32, topic_id="b" * 32, group_topic_id="a" * 32)

    decision = decision_of(replace(known, committed={P0: 9, P1: 9}))

    assert decision.positions == {"stateful-0": {P0: 5, P1: 3}}
    assert decision.warnings == ()


@pytest.mark.parametrize(("of_group", "has"), [("b" * 32, "b" * 32), ("", "b" * 32), ("a" * 32, "")])
def test_a_position_of_the_group_in_the_same_topic_is_continued(of_group: str, has: str) -> None:
    decision = decision_of(replace(LOST_VOLUME, group_topic_id=of_group, topic_id=has))

    assert decision.start_offsets == {"stateless": {P0: 5, P1: 3}}


SHORTER = replace(HAD_STATE, ends={P0: 4, P1: 8})


@pytest.mark.parametrize(
    ("case", "position"),
    [
        pytest.param(SHORTER, 6, id="a checkpoint"),
        pytest.param(
            replace(SHORTER, checkpoints={(1, "stateful-0"): SavedCheckpoint(planned={P0: 4}, ended={P0: 5})}),
            5,
            id="a batch that was planned to the end of the shorter topic",
        ),
        pytest.param(Case(FILTER, committed={P0: 5}, ends={P0: 4, P1: 8}), 5, id="the group"),
    ],
)
def test_a_position_after_the_end_of_its_partition_refuses_the_start(case: Case, position: int) -> None:
    with pytest.raises(LsqlError) as caught:
        decision_of(case)

    assert caught.value.code == "OFFSETS_OUT_OF_RANGE"
    assert str(caught.value.params["reason"]) == (
        f"partition 0 of the topic t ends at 4, before the saved position {position}"
    )


def test_a_position_after_the_end_of_its_partition_is_moved_there_with_another_run_if_records_may_be_lost() -> None:
    decision = decision_of(replace(SHORTER, env={"LSQL_ON_DATA_LOSS": "continue"}))

    assert RewindCheckpoint(1, "stateful-0", {P0: 4, P1: 8}) in decision.actions
    assert decision.positions == {"stateful-0": {P0: 4, P1: 3}}
    assert decision.warnings == (
        "Partition 0 of the topic t ends at 4, before the saved position 6: it is read on from its end.",
    )


def test_a_position_at_the_end_of_its_partition_is_continued() -> None:
    decision = decision_of(replace(HAD_STATE, ends={P0: 6, P1: 3}))

    assert decision.positions == {"stateful-0": {P0: 5, P1: 3}}
    assert not any(isinstance(action, RewindCheckpoint) for action in decision.actions)
