"""The verdict on each INSERT of a changed program, and that it is what a start decides."""

from __future__ import annotations

import pytest

from devkit.edits import CONVERTED, KEPT, NEW_MEANINGS, REPLACED
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.state_changes import conversion_changes
from lsql_runner.plan.verdict import Verdict, verdicts
from tests.unit.plan.test_fingerprint import fingerprinted, planned

COUNT = "INSERT INTO counts SELECT STREAM COUNT(*) AS n FROM t GROUP BY g;"
COPY = "INSERT INTO copy SELECT STREAM * FROM t;"
PRICES = "INSERT INTO prices SELECT STREAM a FROM t;"


def of(old: str, new: str) -> dict[str, tuple[str, list[str]]]:
    """By target: the verdict and the codes of the changes."""
    found = verdicts(planned(new), fingerprinted(old))
    return {each.target: (each.verdict, [change.code for change in each.changes]) for each in found}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(COUNT, COUNT, {"counts": ("keeps", [])}, id="the same"),
        pytest.param(
            COUNT, COUNT.replace("AS n", "AS m"), {"counts": ("keeps from here on", ["RESULTS"])}, id="another name"
        ),
        pytest.param(
            COUNT,
            COUNT.replace("FROM t", "FROM t WHERE a > 1"),
            {"counts": ("keeps from here on", ["FILTER"])},
            id="a filter",
        ),
        pytest.param(
            COUNT,
            COUNT.replace("AS n", "AS n, MAX(a) AS most"),
            {"counts": ("keeps from here on", ["AGGREGATES_ADDED"])},
            id="one more aggregate",
        ),
        pytest.param(
            COUNT, COUNT.replace("BY g", "BY a"), {"counts": ("new generation", ["KEYS"])}, id="another key of groups"
        ),
        pytest.param(
            COUNT + PRICES,
            COUNT.replace("counts", "others") + COPY,
            {"others": ("keeps", []), "copy": ("adds", []), "prices": ("removes", [])},
            id="another target, and another INSERT without state",
        ),
        pytest.param(COPY, COUNT + COPY, {"counts": ("adds", []), "copy": ("keeps", [])}, id="an added INSERT"),
        pytest.param(COUNT, COPY, {"copy": ("adds", []), "counts": ("removes", [])}, id="a removed INSERT"),
        pytest.param(
            COPY,
            COPY.replace("FROM t", "FROM t WHERE a > 1"),
            {"copy": ("keeps from here on", ["RESULTS"])},
            id="no state",
        ),
        pytest.param(
            COPY,
            "INSERT INTO shop.prices SELECT STREAM a FROM t;",
            {"shop.prices": ("adds", []), "copy": ("removes", [])},
            id="a sink",
        ),
    ],
)
def test_each_insert_has_a_verdict(old: str, new: str, expected: dict[str, tuple[str, list[str]]]) -> None:
    assert of(old, new) == expected


EDITS = [(old, new) for edits in (KEPT, NEW_MEANINGS, CONVERTED, REPLACED) for old, new, *_ in edits.values()]
_REFUSED = {Verdict.NEW_GENERATION, Verdict.REMOVES}


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_the_verdict_is_what_a_start_decides(old: str, new: str) -> None:
    found = verdicts(planned(new), fingerprinted(old))
    start = continue_from(planned(new), fingerprinted(old))

    assert bool(start.changes) == any(each.stateful and each.verdict in _REFUSED for each in found)
    if not start.changes:
        meanings = {change for each in found for change in each.changes if change.code != "RESULTS"}
        converted = {change for each in start.conversions.values() for change in conversion_changes(each)}
        assert meanings == converted | {change for changes in start.new_meanings.values() for change in changes}
