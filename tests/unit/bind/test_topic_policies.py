"""Topic policies: patterns, and each kind of topic of a program with its place."""

from __future__ import annotations

import pytest

from lsql_runner.bind.settings import bind_settings
from lsql_runner.bind.topic_policies import TopicPolicies, TopicPolicy, check_policies, patterns
from lsql_runner.errors import DetailError, LsqlError
from lsql_runner.sql.parser import parse


def allows(topic: str, allow: str = "", deny: str = "") -> bool:
    return TopicPolicy("read", patterns(allow), patterns(deny)).broken_rule(topic) is None


def policies(
    *, read_allow: str = "", read_deny: str = "", write_allow: str = "", write_deny: str = ""
) -> TopicPolicies:
    return TopicPolicies(
        TopicPolicy("read", patterns(read_allow), patterns(read_deny)),
        TopicPolicy("write", patterns(write_allow), patterns(write_deny)),
    )


def check(sql: str, allowed: TopicPolicies, sinks: dict[str, str] | None = None) -> None:
    program = parse(sql)
    check_policies(program, bind_settings(program.settings), allowed, sinks or {})


def refused(sql: str, allowed: TopicPolicies, sinks: dict[str, str] | None = None) -> tuple[str, str, str, str]:
    """The use, the topic and the rule of the error, and the marked text of the program."""
    with pytest.raises(LsqlError) as caught:
        check(sql, allowed, sinks)
    error = caught.value
    assert error.code == "TOPIC_NOT_ALLOWED"
    assert error.span is not None
    marked = sql[error.span.start : error.span.end]
    return str(error.params["use"]), str(error.params["topic"]), str(error.params["rule"]), marked


@pytest.mark.parametrize(
    ("topic", "allow", "deny", "allowed"),
    [
        ("orders", "", "", True),
        ("orders", "orders", "", True),
        ("orders2", "orders", "", False),
        ("shop.orders", "shop.*", "", True),
        ("shopXorders", "shop.*", "", False),
        ("Orders", "orders", "", False),
        ("orders-1", "orders-?", "", True),
        ("orders-12", "orders-?", "", False),
        ("payments", "orders, pay*", "", True),
        ("orders", "", "*", False),
        ("shop.secret", "shop.*", "*.secret", False),
        ("shop.orders", "shop.*", "*.secret", True),
    ],
)
def test_a_topic_is_allowed_if_a_pattern_allows_it_and_none_denies_it(
    topic: str, allow: str, deny: str, allowed: bool
) -> None:
    assert allows(topic, allow, deny) is allowed


@pytest.mark.parametrize("text", ["[ab]*", "a/b", "a$"])
def test_a_pattern_with_characters_that_no_topic_has_is_refused(text: str) -> None:
    with pytest.raises(DetailError):
        patterns(text)


JOINED = """
WITH large AS (SELECT STREAM * FROM orders WHERE n > 1);
INSERT INTO out SELECT STREAM large.n FROM large INNER JOIN customers ON large._key = customers._key WITHIN 1h;
"""


def test_sources_are_read_and_names_of_with_queries_are_no_topics() -> None:
    check(JOINED, policies(read_allow="orders,customers", write_allow="out"))

    assert refused(JOINED, policies(read_allow="orders")) == (
        "read",
        "customers",
        "no pattern of LSQL_POLICY_READ_ALLOW matches it",
        "customers",
    )
    assert refused(JOINED, policies(read_deny="o*", read_allow="orders,customers")) == (
        "read",
        "orders",
        "LSQL_POLICY_READ_DENY contains o*",
        "orders",
    )


def test_targets_are_written_also_those_that_the_program_creates() -> None:
    sql = "SET autocreate=true; INSERT INTO created SELECT STREAM * FROM orders"

    assert refused(sql, policies(write_deny="created"))[:2] == ("write", "created")
    assert refused(sql, policies(write_allow="other"))[3] == "created"
    check(sql, policies(read_deny="created", write_deny="orders"))


def test_the_dead_letter_topic_is_written() -> None:
    sql = "SET error.policy=dlq; SET dead.letter.queue='letters'; INSERT INTO out SELECT STREAM * FROM orders"

    assert refused(sql, policies(write_allow="out")) == (
        "write",
        "letters",
        "no pattern of LSQL_POLICY_WRITE_ALLOW matches it",
        "'letters'",
    )


def test_a_table_of_a_sink_is_no_topic() -> None:
    sql = "INSERT INTO shop.orders SELECT STREAM * FROM orders"

    check(sql, policies(write_allow="none"), {"shop": "postgresql"})
    assert refused(sql, policies(write_allow="none"))[1] == "shop.orders"
