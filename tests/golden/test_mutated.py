"""Programs near valid ones are planned, or refused with a code, a message and a way out: nothing else may happen."""

from pathlib import Path
from random import Random

import pytest

from lsql_runner.errors import LsqlError, render
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.explain import explain
from lsql_runner.plan.topology import topology
from tests.golden.catalog import CATALOG
from tests.golden.mutated import mutated, tokens_of

GOLDEN = Path(__file__).parent
EXAMPLES = GOLDEN.parents[1] / "sql-examples"
PROGRAMS = [
    tokens
    for folder in (GOLDEN / "accepted", GOLDEN / "refused", EXAMPLES)
    for path in sorted(folder.rglob("*.sql"))
    if (tokens := tokens_of(path.read_text()))
]
EACH = 500
WITHOUT_PLACE = {"SQL_EMPTY", "SQL_TOO_LARGE"}


def _outcome(text: str) -> LsqlError | None:
    """The refusal of a program; None if it is planned."""
    try:
        plan = plan_text(text, CATALOG).plan
    except LsqlError as refusal:
        return refusal
    assert explain(plan), text
    assert topology(plan), text
    return None


@pytest.mark.parametrize("seed", range(8))
def test_a_mutated_program_is_planned_or_refused_with_a_place_and_a_way_out(seed: int) -> None:
    codes = set()
    for number in range(EACH):
        text = mutated(Random(seed * EACH + number), PROGRAMS)
        refusal = _outcome(text)
        codes.add("planned" if refusal is None else refusal.code)
        if refusal is not None:
            assert refusal.code != "INTERNAL", text
            assert refusal.span is not None or refusal.code in WITHOUT_PLACE, (refusal.code, text)
            assert "To fix it: " in render(refusal, text), text
    assert {"planned", "SQL_SYNTAX", "FIELD_UNKNOWN", "TOPIC_UNKNOWN"} <= codes
