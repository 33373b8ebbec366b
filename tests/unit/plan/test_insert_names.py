"""Names of INSERTs: a start finds the records that an INSERT has written before a kill by its name, and no others."""

from __future__ import annotations

import pytest

from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.fingerprint import Fingerprint, fingerprint
from lsql_runner.plan.queries import Plan, with_continuous_queries
from tests.unit.plan.test_fingerprint import planned

LOW = "INSERT INTO out SELECT STREAM a, 'low' AS part FROM t WHERE a < 6;"
HIGH = "INSERT INTO out SELECT STREAM a, 'high' AS part FROM t WHERE a > 3;"
RENAMED = "INSERT INTO out SELECT STREAM a, 'low' AS share FROM t WHERE a < 6;"
OF_U = "INSERT INTO out SELECT STREAM d AS a, 'low' AS part FROM u;"
OTHER = "INSERT INTO others SELECT STREAM * FROM t;"
COUNT = "INSERT INTO counts SELECT STREAM COUNT(*) AS n FROM t GROUP BY g;"
DLQ = "SET error.policy='dlq'; SET dead.letter.queue='dead';"


def names(plan: Plan) -> list[str]:
    return [write.insert for query in plan.queries for write in (*query.writes, *query.dead_letters_of)]  # type: ignore[union-attr]


def after(*programs: str, pinned: Fingerprint | None = None) -> list[str]:
    """The names in the last of several programs that run one after the other."""
    plan = Plan(())
    for program in programs:
        plan = planned(program) if pinned is None else continue_from(planned(program), pinned).plan
        pinned = fingerprint(plan)
    return names(plan)


@pytest.mark.parametrize("pair", [LOW + HIGH, LOW + RENAMED, LOW + OF_U], ids=["filter", "name of a field", "source"])
def test_inserts_with_the_same_target_have_different_names(pair: str) -> None:
    assert len(set(after(pair))) == 2


def test_equal_inserts_have_different_names() -> None:
    assert len(set(after(LOW + LOW + LOW))) == 3


def test_reordered_inserts_keep_their_names() -> None:
    low, high = after(LOW + HIGH)

    assert after(LOW + HIGH, HIGH + LOW) == [high, low]


def test_the_other_insert_keeps_its_name_when_one_is_removed() -> None:
    assert after(LOW + HIGH, HIGH) == after(LOW + HIGH)[1:]


def test_an_insert_in_front_of_another_does_not_take_its_name() -> None:
    [low] = after(LOW)
    high, moved = after(LOW, HIGH + LOW)

    assert moved == low != high


def test_an_edited_insert_keeps_its_name() -> None:
    assert after(LOW + OTHER, RENAMED + OTHER) == after(LOW + OTHER)


def test_edited_and_reordered_inserts_keep_their_names_if_the_rest_is_equal() -> None:
    low, high = after(LOW + HIGH)

    assert after(LOW + HIGH, HIGH + RENAMED) == [high, low]
    assert after(LOW + OF_U, OF_U.replace("'low'", "'u'") + RENAMED) == list(reversed(after(LOW + OF_U)))


def test_an_insert_that_was_edited_keeps_its_name_from_its_first_version() -> None:
    assert after(LOW, RENAMED, HIGH, HIGH) == after(LOW)


def test_a_new_insert_has_no_name_of_one_that_was_removed() -> None:
    low, _ = after(LOW + HIGH)

    assert low not in after(LOW + HIGH, HIGH, HIGH + RENAMED)


def test_an_insert_that_is_added_again_has_its_name_again() -> None:
    assert after(LOW + HIGH, HIGH, LOW + HIGH) == after(LOW + HIGH)


def test_a_new_insert_with_the_first_content_of_an_edited_one_has_another_name() -> None:
    [low] = after(LOW)
    both = after(LOW, RENAMED, RENAMED + LOW)

    assert both[0] == low != both[1]


def test_an_insert_with_state_keeps_its_name_when_its_select_list_is_edited() -> None:
    edited = COUNT.replace("COUNT(*) AS n", "COUNT(*) AS m")

    assert after(COUNT, edited) == after(COUNT)


def test_dead_letters_keep_their_names_when_the_inserts_are_reordered() -> None:
    count = COUNT.replace("COUNT(*) AS n", "SUM(a) AS n")
    before = dict(zip([COUNT, count], after(DLQ + COUNT + count)[2:], strict=True))

    assert after(DLQ + COUNT + count, DLQ + count + COUNT)[2:] == [before[count], before[COUNT]]
    assert len(set(before.values())) == 2


def test_the_mode_has_no_effect() -> None:
    continuous = with_continuous_queries(planned(LOW + HIGH), real_time=True)

    assert names(continuous) == names(planned(LOW + HIGH))


def earlier_release(program: str) -> Fingerprint:
    """As it was saved by a release that numbered the INSERTs of a target."""
    document = fingerprint(planned(program)).as_json()
    for query in document["queries"]:
        del query["inserts"]
    return Fingerprint.from_json(document)


def test_inserts_of_an_earlier_release_keep_their_numbers() -> None:
    assert after(LOW + OTHER + HIGH + COUNT, pinned=earlier_release(LOW + OTHER + HIGH + COUNT)) == [
        "out#0",
        "others#0",
        "out#1",
        "counts#0",
    ]


def test_dead_letters_of_an_earlier_release_keep_the_name_of_the_target() -> None:
    assert after(DLQ + COUNT, pinned=earlier_release(DLQ + COUNT)) == ["counts#0", "counts"]


def test_the_fingerprint_is_read_as_it_was_written() -> None:
    saved = fingerprint(planned(DLQ + LOW + HIGH + COUNT))

    assert Fingerprint.from_json(saved.as_json()) == saved
