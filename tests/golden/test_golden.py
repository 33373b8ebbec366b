"""Plans and errors of the programs in `accepted` and `refused`, compared with golden files."""

import json
from pathlib import Path

import pytest

from devkit.goldens import Goldens, find_cases, find_orphans
from lsql_runner.errors import LsqlError, render
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.explain import explain
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.plan.topology import topology
from lsql_runner.plan.verdict import Verdict, verdicts
from lsql_runner.sql.parser import parse
from lsql_runner.sql.printer import print_program
from tests.golden.catalog import CATALOG

HERE = Path(__file__).parent
ACCEPTED = find_cases(HERE / "accepted")
REFUSED = find_cases(HERE / "refused")


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda path: path.stem)
def test_an_accepted_program_has_its_golden_plan(case: Path, goldens: Goldens) -> None:
    text = case.read_text()
    plan = plan_text(text, CATALOG).plan
    goldens.check(
        case,
        {
            ".printed.txt": print_program(parse(text)),
            ".plan.txt": explain(plan),
            ".topology.json": json.dumps(topology(plan), indent=1) + "\n",
        },
    )


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda path: path.stem)
def test_an_accepted_program_prints_as_a_program_with_the_same_plan(case: Path) -> None:
    text = case.read_text()
    printed = print_program(parse(text))
    assert plan_text(printed, CATALOG).plan == plan_text(text, CATALOG).plan
    assert print_program(parse(printed)) == printed


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda path: path.stem)
def test_an_accepted_program_continues_its_state(case: Path) -> None:
    plan = plan_text(case.read_text(), CATALOG).plan
    continuation = continue_from(plan, fingerprint(plan))
    assert (continuation.plan, continuation.changes, continuation.new_meanings) == (plan, (), {})
    assert {each.verdict for each in verdicts(plan, fingerprint(plan))} <= {Verdict.KEEPS}


@pytest.mark.parametrize("case", REFUSED, ids=lambda path: path.stem)
def test_a_refused_program_has_its_golden_message(case: Path, goldens: Goldens) -> None:
    text = case.read_text()
    with pytest.raises(LsqlError) as refusal:
        plan_text(text, CATALOG)
    goldens.check(case, {".error.txt": render(refusal.value, text) + "\n"})


def test_every_golden_file_has_a_program() -> None:
    assert [*find_orphans(HERE / "accepted"), *find_orphans(HERE / "refused")] == []
