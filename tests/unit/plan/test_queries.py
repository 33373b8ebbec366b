"""The topics that a query writes."""

import pytest

from lsql_runner.pipeline import plan_text
from tests.golden.catalog import CATALOG

COPY = "INSERT INTO {} SELECT STREAM * FROM payments"


def targets(program: str) -> list[tuple[str, ...]]:
    return [query.target_topics for query in plan_text(program, CATALOG).plan.queries]


def test_the_targets_of_all_inserts_of_a_query_are_its_targets() -> None:
    program = "; ".join(COPY.format(name) for name in ("a", "b", "a"))

    assert targets(program) == [("a", "b")]


def test_the_dead_letter_topic_is_a_target() -> None:
    policy = "SET error.policy=dlq; SET dead.letter.queue=dead; "

    assert targets(policy + COPY.format("a")) == [("a", "dead")]


def test_queries_have_their_own_targets() -> None:
    grouped = "INSERT INTO sums SELECT STREAM currency, COUNT(*) AS n FROM payments GROUP BY currency"

    assert sorted(targets(f"{COPY.format('a')}; {grouped}")) == [("a",), ("sums",)]


COUNT = "INSERT INTO counts SELECT STREAM currency, COUNT(*) AS n FROM payments"
TABLE = COUNT.replace("STREAM", "TABLE")
PAIRS = "INSERT INTO joined SELECT STREAM p.id AS id FROM payments AS p {} JOIN readings AS r ON p._key = r._key"
LOOKUP = (
    "WITH rates AS (SELECT TABLE * FROM readings); "
    "INSERT INTO joined SELECT STREAM p.id AS id, r.celsius AS celsius FROM payments AS p JOIN rates AS r ON {}"
)
TABLES = "INSERT INTO joined SELECT TABLE p.id AS id, r.celsius AS celsius FROM payments AS p {} readings AS r ON {}"


@pytest.mark.parametrize(
    ("program", "real_time", "reason"),
    [
        pytest.param(f"{COUNT} GROUP BY currency", True, None, id="groups of records"),
        pytest.param(f"{COUNT} WINDOW BY TUMBLE 1m GROUP BY currency", True, None, id="a window"),
        pytest.param(f"{COUNT} WINDOW BY HOP 1m, 10s GROUP BY currency", True, None, id="windows of a record"),
        pytest.param(
            f"SET emit='final'; {COUNT} WINDOW BY TUMBLE 1m GROUP BY currency", True, None, id="results in the end"
        ),
        pytest.param(
            f"SET emit='final'; {COUNT} WINDOW BY SESSION 1m GROUP BY currency",
            False,
            "final results of sessions, or of windows that end every few seconds",
            id="results of each second",
        ),
        pytest.param(
            "WITH n AS (SELECT STREAM currency, COUNT(*) AS n FROM payments GROUP BY currency HAVING COUNT(*) > 2); "
            "INSERT INTO few SELECT STREAM * FROM n WHERE n < 9",
            False,
            "SELECT STREAM of rows that are deleted",
            id="rows that are not deleted",
        ),
        pytest.param(
            f"SET emit='final'; {COUNT} WINDOW BY TUMBLE 1m GROUP BY currency HAVING COUNT(*) > 2",
            False,
            "final results with HAVING, a join or other groups",
            id="results before the end that are stored",
        ),
        pytest.param(f"{COUNT} WINDOW BY SESSION 1m GROUP BY currency", True, None, id="sessions merge"),
        pytest.param(f"{COUNT} GROUP BY currency HAVING COUNT(*) > 2", True, None, id="results are removed"),
        pytest.param(f"{TABLE} GROUP BY currency", True, None, id="rows change"),
        pytest.param(
            f"SET processing.guarantee='at_least_once'; {COUNT} WINDOW BY SESSION 1m GROUP BY currency",
            False,
            "processing.guarantee",
            id="nobody knows which results to delete",
        ),
        pytest.param(
            f"SET error.policy.write='continue'; {COUNT} GROUP BY currency HAVING COUNT(*) > 2",
            False,
            "error.policy.write",
            id="failed results are not deleted",
        ),
        pytest.param(
            f"SET late.records='dlq'; SET dead.letter.queue='letters'; {COUNT} WINDOW BY SESSION 1m GROUP BY currency",
            False,
            "late.records",
            id="late records have no identity",
        ),
        pytest.param(
            "WITH n AS (SELECT TABLE currency, COUNT(*) AS n FROM payments GROUP BY currency); "
            "INSERT INTO groups SELECT TABLE n, COUNT(*) AS c FROM n GROUP BY n",
            False,
            "groups of groups",
            id="groups in between are not seen",
        ),
        pytest.param(TABLES.format("JOIN", "p._key = r._key"), True, None, id="rows by their keys"),
        pytest.param(TABLES.format("LEFT JOIN", "p._key = r._key"), True, None, id="an outer join of tables"),
        pytest.param(
            TABLES.format("JOIN", "p._key = r.sensor"),
            False,
            "a join of tables by other values than the keys",
            id="rows that move to another key",
        ),
        pytest.param(
            "CREATE TABLE counts (n long) FORMAT (TW[STRING], JSON); "
            "INSERT INTO joined SELECT TABLE p.id AS id, c.n AS n "
            "FROM payments AS p LEFT JOIN counts AS c ON p._key = c._key",
            False,
            "an outer join of tables with windowed keys",
            id="several rows for a key",
        ),
        pytest.param(f"SET processing.mode='batch'; {COUNT} GROUP BY currency", False, None, id="only batches"),
        pytest.param(f"SET processing.pace='5s'; {COUNT} GROUP BY currency", False, None, id="a result in 5 s"),
        pytest.param(
            f"SET error.policy.write='continue'; {COUNT} GROUP BY currency",
            True,
            None,
            id="results may be skipped",
        ),
        pytest.param(
            f"SET error.policy.write='dlq'; SET dead.letter.queue='letters'; {COUNT} GROUP BY currency",
            True,
            None,
            id="results or dead letters",
        ),
        pytest.param(
            "INSERT INTO counts SELECT STREAM currency, COUNT(*) AS n, now() AS at FROM payments GROUP BY currency",
            False,
            "NOW()",
            id="the clock",
        ),
        pytest.param(
            "INSERT INTO counts SELECT STREAM currency, COUNT(*) AS n, RANDINT() AS r FROM payments GROUP BY currency",
            False,
            "RANDINT()",
            id="a random value",
        ),
        pytest.param(LOOKUP.format("p._key = r._key"), True, None, id="a table by its key"),
        pytest.param(
            LOOKUP.format("p.currency = r.sensor"),
            False,
            "a join by another value than the key of the table",
            id="several rows of a table",
        ),
        pytest.param(
            LOOKUP.format("p._key = r._key").replace("readings", "payments").replace("r.celsius", "r.ok"),
            False,
            "LATERAL of joined rows, or a topic joined with itself",
            id="own rows",
        ),
        pytest.param(
            "WITH r AS (SELECT TABLE * FROM readings); WITH j AS (SELECT STREAM o.codes AS codes, r.celsius AS celsius "
            "FROM orders AS o JOIN r ON CAST(o.id AS string) = r._key); "
            "INSERT INTO joined SELECT STREAM code, celsius FROM j LATERAL codes AS code",
            False,
            "LATERAL of joined rows, or a topic joined with itself",
            id="elements of two versions of a row",
        ),
        pytest.param(f"{PAIRS.format('INNER')} WITHIN 1m", True, None, id="pairs of records"),
        pytest.param(
            PAIRS.format("INNER") + " AND p._ts > CAST(NOW() AS long) - 60000 WITHIN 1m",
            False,
            "NOW()",
            id="the clock in ON",
        ),
        pytest.param(f"{PAIRS.format('LEFT')} WITHIN 1m", True, None, id="records without a pair"),
        pytest.param(
            f"{PAIRS.format('INNER')} WITHIN 1m WINDOW BY TUMBLE 1m GROUP BY p.currency".replace(
                "p.id AS id", "COUNT(*) AS n"
            ),
            False,
            "a join with another join or groups",
            id="groups of pairs",
        ),
        pytest.param(COPY.format("a"), False, None, id="no state"),
    ],
)
def test_a_query_with_a_result_for_each_record_runs_in_real_time(
    program: str, real_time: bool, reason: str | None
) -> None:
    """After a kill, results are left out that the target has, so the same records must have the same result."""
    [query] = plan_text(program, CATALOG).plan.queries

    assert (query.real_time, query.only_in_batches) == (real_time, reason)
