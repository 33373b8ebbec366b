"""Each call of a random function has a number of its own, in the order of the program."""

from __future__ import annotations

from lsql_runner.bind.expr import RandomBits, walk
from lsql_runner.plan.queries import Plan
from lsql_runner.plan.tree import node_exprs, nodes
from tests.unit.plan.test_fingerprint import planned


def numbers(plan: Plan) -> list[list[tuple[int, int]]]:
    """By INSERT: number of the call, number of the LONG."""
    return [
        [
            (part.call, part.number)
            for node in nodes(write.input)
            for expr in node_exprs(node)
            for part in walk(expr)
            if isinstance(part, RandomBits)
        ]
        for write in plan.writes
    ]


def test_calls_are_numbered_in_the_order_of_the_program() -> None:
    plan = planned(
        "INSERT INTO o SELECT STREAM RANDINT() AS a, UUID() AS b FROM t WHERE RANDINT() > 0;"
        "INSERT INTO p SELECT STREAM RANDINT() AS a FROM t"
    )

    assert numbers(plan) == [[(0, 0), (1, 0), (1, 1), (2, 0)], [(3, 0)]]


def test_a_call_in_a_with_query_has_the_same_number_in_all_inserts() -> None:
    plan = planned(
        "WITH v AS (SELECT STREAM RANDINT() AS a FROM t);"
        "INSERT INTO o SELECT STREAM * FROM v; INSERT INTO p SELECT STREAM * FROM v"
    )

    assert numbers(plan) == [[(0, 0)], [(0, 0)]]


def test_calls_that_change_state_are_numbered() -> None:
    plan = planned(
        "SET processing.guarantee='at_least_once';"
        "INSERT INTO o SELECT STREAM SUM(RANDINT()) AS a FROM t WHERE RANDINT() > 0 GROUP BY UUID() "
        "HAVING RANDINT() > 0"
    )

    assert sorted(numbers(plan)[0]) == [(0, 0), (1, 0), (2, 0), (2, 1), (3, 0)]


def test_white_space_does_not_change_the_numbers() -> None:
    text = "INSERT INTO o SELECT STREAM RANDINT() AS a, UUID() AS b FROM t"

    assert planned(text) == planned(text.replace(" ", "\n  "))
