"""The decision about a start in which a changed INSERT is built beside the earlier one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lsql_runner.start.actions import DropCheckpoint, PinProgram
from lsql_runner.start.blue_green import can_switch
from lsql_runner.start.decision import StartDecision
from lsql_runner.state.offset_log import SavedCheckpoint
from lsql_runner.state.saved_state import Blue, Pinned, Rebuild, SavedState
from tests.unit.start.situations import COUNT, HAD_STATE, P0, P1, READ, STATE, SUM, U0, Case, decision_of, pinned

FIRST = replace(HAD_STATE, sql=SUM, on_change="blue_green")
"""The first start with a changed program."""
BEHIND = SavedCheckpoint(planned={P0: 3, P1: 2}, ended={P0: 3, P1: 2})
ON = replace(READ, planned={P0: 9, P1: 3}, ended={P0: 9, P1: 3}, watermark_ms=7)
LATER = Case(
    SUM,
    old=SUM,
    kept=COUNT,
    checkpoints={(1, "stateful-0"): BEHIND, (1, "stateful-9"): ON},
    generations=frozenset({1}),
    committed={P0: 9, P1: 3},
    rebuilds={"stateful-0": Rebuild(ends={P0: 5, P1: 3}, watermark_ms=0)},
    blues={"stateful-0": Blue(query="stateful-9", sql=COUNT)},
)
"""A later start with it: `stateful-9` has gone on."""


def pinned_by(decision: StartDecision) -> Pinned:
    pin = decision.actions[-1]
    assert isinstance(pin, PinProgram)
    return pin.pinned


def names(decision: StartDecision) -> list[str]:
    return [query.name for query in decision.plan.queries]


def test_the_earlier_query_goes_on_beside_the_changed_one() -> None:
    decision = decision_of(FIRST)

    assert names(decision) == ["stateful-1", "stateful-0"]
    assert decision.blues == {"stateful-1": "stateful-0"}
    assert decision.positions == {"stateful-1": {P0: 1, P1: 1}, "stateful-0": {P0: 5, P1: 3}}
    assert decision.rebuilds == {"stateful-1": Rebuild(ends={P0: 5, P1: 3}, watermark_ms=0)}
    assert pinned_by(decision).blues == {"stateful-1": Blue(query="stateful-0", sql=COUNT)}
    assert [query.name for query in pinned_by(decision).kept.queries] == ["stateful-0"]


def test_its_state_is_kept_although_no_earlier_state_is() -> None:
    decision = decision_of(replace(FIRST, env={"LSQL_STATE_KEEP_GENERATIONS": "0"}))

    assert [query.name for query in pinned_by(decision).kept.queries] == ["stateful-0"]
    assert decision.later == ()


def test_a_changed_query_without_records_to_read_follows_too() -> None:
    decision = decision_of(replace(FIRST, begins={P0: 5, P1: 3}))

    assert decision.rebuilds == {"stateful-1": Rebuild(ends={P0: 5, P1: 3}, watermark_ms=0)}


def test_a_restart_follows_the_earlier_query_from_where_it_is() -> None:
    decision = decision_of(LATER)

    assert names(decision) == ["stateful-0", "stateful-9"]
    assert decision.rebuilds == {"stateful-0": Rebuild(ends={P0: 9, P1: 3}, watermark_ms=7)}
    assert pinned_by(decision).rebuilds == decision.rebuilds


def test_after_the_switch_the_changed_query_writes_from_where_the_earlier_one_has_ended() -> None:
    decision = decision_of(replace(LATER, runs="green"))

    assert (names(decision), decision.blues) == (["stateful-0"], {})
    assert decision.rebuilds == {"stateful-0": Rebuild(ends={P0: 9, P1: 3}, watermark_ms=7)}
    assert (pinned_by(decision).blues, pinned_by(decision).kept.query("stateful-9") is not None) == ({}, True)


def test_after_the_changed_query_has_failed_only_the_earlier_one_runs() -> None:
    decision = decision_of(replace(LATER, runs="blue"))

    assert (names(decision), decision.blues) == (["stateful-9"], {})
    assert pinned_by(decision).blues.keys() == {"stateful-0"}
    assert decision.later == ()


def test_a_second_change_keeps_the_earlier_query_and_drops_the_first_change() -> None:
    decision = decision_of(replace(LATER, sql=SUM.replace("SUM", "MAX"), on_change="blue_green"))

    assert decision.blues == {"stateful-1": "stateful-9"}
    assert decision.rebuilds == {"stateful-1": Rebuild(ends={P0: 9, P1: 3}, watermark_ms=7)}
    assert decision.later == (DropCheckpoint(1, "stateful-0"),)


def test_a_return_to_the_earlier_program_ends_the_change() -> None:
    decision = decision_of(replace(LATER, sql=COUNT, on_change="blue_green"))

    assert (names(decision), decision.blues, decision.rebuilds) == (["stateful-9"], {}, {})
    assert decision.positions == {"stateful-9": {P0: 9, P1: 3}}
    assert decision.later == (DropCheckpoint(1, "stateful-0"),)


def test_a_query_that_is_still_built_itself_goes_on_as_the_earlier_one() -> None:
    rebuilds = {"stateful-0": Rebuild(ends={P0: 9, P1: 3}, watermark_ms=0)}

    decision = decision_of(replace(FIRST, rebuilds=rebuilds))

    assert decision.blues == {"stateful-1": "stateful-0"}
    assert [query.name for query in pinned_by(decision).kept.queries] == ["stateful-0"]


def test_a_table_that_only_the_changed_query_reads_is_read_on_over_a_restart() -> None:
    lookup = COUNT.replace("FROM t", "FROM t JOIN (SELECT TABLE * FROM u) AS v").replace("BY g", "BY v.g")
    lookup = lookup.replace("COUNT(*)", "SUM(t.a)")
    green = replace(BEHIND, planned={**BEHIND.ended, U0: 30}, ended={**BEHIND.ended, U0: 30})
    rebuilds = {"stateful-0": Rebuild(ends={P0: 5, P1: 3, U0: 9}, watermark_ms=0)}
    checkpoints = {**LATER.checkpoints, (1, "stateful-0"): green}

    decision = decision_of(replace(LATER, sql=lookup, old=lookup, checkpoints=checkpoints, rebuilds=rebuilds))

    assert decision.rebuilds["stateful-0"].ends == {P0: 9, P1: 3, U0: 30}


def test_a_restart_is_not_taken_for_a_restored_volume() -> None:
    assert decision_of(LATER).warnings == ()


@pytest.mark.parametrize(("blue", "expected"), [(ON, True), (replace(ON, has_begun=True), False)])
def test_a_switch_needs_ended_batches_of_the_earlier_query(blue: SavedCheckpoint, expected: bool) -> None:
    checkpoints = {(1, "stateful-0"): BEHIND, (1, "stateful-9"): blue}

    assert can_switch(SavedState(STATE, pinned(LATER), checkpoints)) is expected
