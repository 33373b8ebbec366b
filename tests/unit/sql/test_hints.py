"""What the message of a syntax error tells the user to do."""

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.sql.parser import parse

ORDER = (
    "the order of the clauses is INSERT INTO, STORE, WITH, SELECT, FROM, EVENTTIME BY, JOIN ... ON ... WITHIN, "
    "LATERAL, WHERE, WINDOW BY, GRACE BY, GROUP BY, HAVING."
)


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("SELECT STREAM COUNT(*) AS n FROM t GROUP BY a WINDOW BY TUMBLE 1m", f"Move WINDOW BY: {ORDER}"),
        ("SELECT STREAM COUNT(*) AS n FROM t GROUP BY a WHERE b > 1", f"Move WHERE: {ORDER}"),
        ("SELECT STREAM * FROM t GRACE BY 1m WHERE b > 1", f"Move WHERE: {ORDER}"),
        ("SELECT STREAM a FROM t AS l INNER JOIN u AS r WITHIN 1h ON l.k = r.k", f"Move ON: {ORDER}"),
        ("SELECT STREAM a FROM t STORE VALUE AS AVRO", f"Move STORE: {ORDER}"),
        ("SELECT STREAM a WHERE b > 1 FROM t", f"Move WHERE: {ORDER}"),
        ("SELECT STREAM a FROM t WHERE b > 1 JOIN u ON t.k = u.k", f"Move JOIN: {ORDER}"),
        ("WITH w AS (SELECT STREAM a FROM t HAVING a > 1 WHERE a > 1) SELECT STREAM * FROM w", f"Move WHERE: {ORDER}"),
        (
            "SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 1 minute GROUP BY a",
            "Write 1m: the number and its unit without a space. The units are ms, s, m, h and d.",
        ),
        (
            "SELECT STREAM COUNT(*) AS n FROM t WINDOW BY HOP 30 SECONDS BY 10s GROUP BY a",
            "Write 30s: the number and its unit without a space. The units are ms, s, m, h and d.",
        ),
        (
            "SELECT STREAM COUNT(*) AS n FROM t WINDOW BY TUMBLE 5 m GROUP BY a",
            "Write 5m: the number and its unit without a space. The units are ms, s, m, h and d.",
        ),
        ("SELECT STREAM a FROM t WHERE a == 1", "Compare with one =."),
        ("SELECT STREAM a FROM t INSERT INTO p SELECT STREAM a FROM t", "Put a ; between two statements."),
        ("SELECT STREAM a FROM t SET a=b", "Put a ; between two statements."),
        ("SELECT STREAM a, FROM t", "Remove the comma before FROM."),
        ("SELECT STREAM a FROM t WHERE a IN (1, 2,)", "Remove the comma before )."),
        ("SELECT STREAM COUNT(*) AS n FROM t GROUP BY a, HAVING n > 1", "Remove the comma before HAVING."),
        ("SELECT FROM t", "Name the fields after SELECT, or write * for all."),
        ("SELECT STREAM a || b AS c FROM t", "Join texts with CONCAT(a, b)."),
        (
            "SELECT STREAM a FROM t WHERE a = \u2018x\u2019",
            "Write the straight quotes ' around texts and the back-tick ` around names.",
        ),
        ("SELECT STREAM a AS order FROM t", "ORDER is a keyword. As a name, it needs back-ticks: `order`."),
        ("SELECT STREAM a FROM order", "ORDER is a keyword. As a name, it needs back-ticks: `order`."),
        ("SELECT STREAM a # b FROM t", "Remove it."),
        ("SELECT STREAM a FROM t )", "Correct the marked place. Names with special characters need back-ticks."),
    ],
)
def test_the_hint_of_a_common_mistake(program: str, hint: str) -> None:
    with pytest.raises(LsqlError) as refusal:
        parse(f"INSERT INTO o {program}")

    assert refusal.value.way_out == hint


def test_a_missing_semicolon_after_a_with_query() -> None:
    with pytest.raises(LsqlError) as refusal:
        parse("WITH w AS (SELECT STREAM a FROM t) INSERT INTO o SELECT STREAM * FROM w")

    assert refusal.value.way_out == "Put a ; between two statements."
