"""A subselect in FROM or JOIN is a WITH query without a name."""

import pytest

from lsql_runner.bind.source_formats import source_topics
from lsql_runner.pipeline import plan_text
from lsql_runner.plan.queries import Plan
from lsql_runner.sql.parser import parse
from tests.golden.catalog import CATALOG


def plan(sql: str) -> Plan:
    return plan_text(sql, CATALOG).plan


@pytest.mark.parametrize(
    ("with_subselects", "with_queries"),
    [
        (
            "INSERT INTO t SELECT STREAM id FROM (SELECT STREAM id, ok FROM payments) WHERE ok",
            "WITH q AS (SELECT STREAM id, ok FROM payments); INSERT INTO t SELECT STREAM id FROM q WHERE ok",
        ),
        (
            (
                "INSERT INTO t SELECT STREAM p.id, q.n FROM payments p "
                "LEFT JOIN (SELECT TABLE COUNT(*) AS n FROM payments GROUP BY currency) AS q ON p.currency = q._key"
            ),
            (
                "WITH q AS (SELECT TABLE COUNT(*) AS n FROM payments GROUP BY currency); "
                "INSERT INTO t SELECT STREAM p.id, q.n FROM payments p LEFT JOIN q ON p.currency = q._key"
            ),
        ),
        (
            (
                "WITH w AS (SELECT STREAM id FROM (SELECT STREAM * FROM payments) AS inner_ WHERE inner_.ok); "
                "INSERT INTO t SELECT TABLE COUNT(*) AS n FROM (SELECT STREAM * FROM w) GROUP BY id"
            ),
            (
                "WITH v AS (SELECT STREAM * FROM payments); WITH w AS (SELECT STREAM id FROM v WHERE ok); "
                "WITH x AS (SELECT STREAM * FROM w); INSERT INTO t SELECT TABLE COUNT(*) AS n FROM x GROUP BY id"
            ),
        ),
        # In the legacy dialect a query without STREAM is a table where it is joined, and so are those that it reads.
        (
            (
                "INSERT INTO t SELECT STREAM p.id, q.amount FROM payments p "
                "JOIN (SELECT amount FROM (SELECT * FROM payments WHERE ok)) q ON p.id = q._key"
            ),
            (
                "INSERT INTO t WITH v AS (SELECT * FROM payments WHERE ok), q AS (SELECT amount FROM v) "
                "SELECT STREAM p.id, q.amount FROM payments p JOIN q ON p.id = q._key"
            ),
        ),
        (
            (
                "WITH v AS (SELECT * FROM payments); INSERT INTO t SELECT STREAM p.id, q.amount FROM payments p "
                "JOIN (SELECT amount FROM v) q ON p.id = q._key"
            ),
            (
                "WITH v AS (SELECT * FROM payments); WITH q AS (SELECT amount FROM v); "
                "INSERT INTO t SELECT STREAM p.id, q.amount FROM payments p JOIN q ON p.id = q._key"
            ),
        ),
    ],
    ids=["from", "join", "nested", "implicit table", "implicit table through WITH"],
)
def test_a_subselect_is_planned_as_a_with_query(with_subselects: str, with_queries: str) -> None:
    assert plan(with_subselects) == plan(with_queries)


def test_the_name_of_a_subselect_hides_no_topic() -> None:
    program = "INSERT INTO t SELECT STREAM payments.id FROM (SELECT STREAM id FROM payments) AS payments"

    assert list(source_topics(parse(program))) == ["payments"]
    assert plan(program).writes


def test_a_join_can_be_written_as_in_other_sql() -> None:
    assert plan(
        "INSERT INTO t SELECT STREAM a.id, b.id AS other FROM (SELECT STREAM id FROM payments) a "
        "JOIN (SELECT STREAM id FROM payments) b ON a.id = b.id WITHIN 1h"
    ).writes
