"""The topics that a query writes."""

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
