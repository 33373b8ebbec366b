"""What the text of a program says before it is planned."""

import pytest

from lsql_runner.start.request import read_request

ENVIRONMENT = {"SQL_APP_ID": "a", "SQL_BOOTSTRAP_SERVERS": "b:9092"}


@pytest.mark.parametrize(
    ("sql", "is_continuous"),
    [
        ("INSERT INTO t SELECT STREAM a FROM s WHERE a > 1", True),
        ("WITH w AS (SELECT STREAM a FROM s); INSERT INTO t SELECT STREAM a FROM w", True),
        ("SET processing.mode='batch'; INSERT INTO t SELECT STREAM a FROM s", False),
        ("INSERT INTO t SELECT STREAM COUNT(*) AS n FROM s WINDOW BY TUMBLE 1m", False),
        ("INSERT INTO t SELECT STREAM a, COUNT(*) AS n FROM s GROUP BY a", False),
        ("INSERT INTO t SELECT STREAM a FROM (SELECT STREAM a, COUNT(*) AS n FROM s GROUP BY a)", False),
        ("WITH w AS (SELECT TABLE a, COUNT(*) AS n FROM s GROUP BY a); INSERT INTO t SELECT TABLE a FROM w", False),
        ("INSERT INTO t SELECT STREAM s.a AS a FROM s JOIN r ON s._key = r._key WITHIN 1m", False),
        ("UPSERT INTO t SELECT a FROM s PK a", False),
    ],
)
def test_a_program_without_state_and_sinks_is_continuous(sql: str, is_continuous: bool) -> None:
    assert read_request({**ENVIRONMENT, "SQL": sql}).is_continuous is is_continuous


def test_with_workers_all_queries_have_batches() -> None:
    workers = {"LSQL_WORKERS_PORT": "7078", "LSQL_WORKERS_SECRET": "s" * 40, "LSQL_WORKERS_HOST": "127.0.0.1"}
    sql = "INSERT INTO t SELECT STREAM a FROM s"
    assert not read_request({**ENVIRONMENT, **workers, "SQL": sql}).is_continuous
