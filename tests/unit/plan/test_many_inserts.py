"""The work of each stage grows with the number of INSERTs, not with its square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from devkit.edits import CATALOG
from lsql_runner.bind.program import bind_program
from lsql_runner.bind.settings import bind_settings
from lsql_runner.plan.continuation import continue_from
from lsql_runner.plan.explain import explain
from lsql_runner.plan.fingerprint import fingerprint
from lsql_runner.plan.planner import plan_program
from lsql_runner.plan.topology import topology
from lsql_runner.sql.parser import parse

FEW, MANY = 50, 200
PROGRAMS = {
    "stateless": "INSERT INTO o{n} SELECT STREAM a, d FROM t WHERE a > {n};",
    "WITH": "WITH w{n} AS (SELECT STREAM a FROM t WHERE a > {n}); INSERT INTO o{n} SELECT STREAM a FROM w{n};",
    "stateful": "INSERT INTO o{n} SELECT STREAM COUNT(*) AS n FROM t GROUP BY g;",
    "dead letters": "INSERT INTO o{n} SELECT STREAM SUM(a) AS n FROM t WHERE a > {n} GROUP BY g;",
    "topic settings": "SET topic.o{n}.partitions=3; INSERT INTO o{n} SELECT STREAM a FROM t;",
}
SETTINGS = {"dead letters": "SET error.policy='dlq'; SET dead.letter.queue='dead';"}


def calls(action: Callable[[], Any]) -> tuple[int, Any]:
    """How many functions an action calls, and its result."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        result = action()
    finally:
        sys.setprofile(None)
    return count, result


def calls_by_stage(kind: str, inserts: int) -> dict[str, int]:
    text = SETTINGS.get(kind, "") + "".join(PROGRAMS[kind].format(n=n) for n in range(inserts))
    by_stage = {}
    by_stage["parse"], program = calls(lambda: parse("SET autocreate=true;" + text))
    by_stage["bind"], bound = calls(lambda: bind_program(program, bind_settings(program.settings), CATALOG))
    by_stage["plan"], plan = calls(lambda: plan_program(bound))
    by_stage["explain"], _ = calls(lambda: explain(plan))
    by_stage["topology"], _ = calls(lambda: topology(plan))
    by_stage["fingerprint"], pinned = calls(lambda: fingerprint(plan))
    by_stage["continue"], _ = calls(lambda: continue_from(plan, pinned))
    return by_stage


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_work_grows_with_the_number_of_inserts(kind: str) -> None:
    few, many = calls_by_stage(kind, FEW), calls_by_stage(kind, MANY)

    growth = {stage: many[stage] / few[stage] for stage in few}
    assert {stage: factor for stage, factor in growth.items() if factor > 1.25 * MANY / FEW} == {}
