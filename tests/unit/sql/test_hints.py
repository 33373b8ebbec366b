"""What the message of a syntax error tells the user to do."""

import pytest

from lsql_runner.errors import LsqlError
from lsql_runner.sql.parser import parse

ORDER = (
    "the order of the clauses is INSERT INTO, STORE, WITH, SELECT, FROM, EVENTTIME BY, JOIN ... ON ... WITHIN, "
    "LATERAL, WHERE, WINDOW BY, GRACE BY, GROUP BY, HAVING."
)
NAME = "Write AS and a name after the brackets: (SELECT ... FROM ...) AS x."
CREATE_AS = "Write INSERT INTO <topic> SELECT ... ; CREATE TABLE only declares a source."


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
        ("SELECT STREAM a FROM (t)", "Write t without brackets."),
        ("SELECT STREAM a FROM SELECT STREAM a FROM t", "Put the SELECT in brackets: (SELECT ... FROM ...)."),
        ("SELECT STREAM a FROM (SELECT STREAM a FROM t", "Close the brackets with )."),
        ("SELECT STREAM a FROM (SELECT STREAM a FROM t; SELECT STREAM a FROM u)", "Close the brackets with )."),
        ("SELECT STREAM a FROM t JOIN (SELECT STREAM a FROM u) ON t.a = u.a", NAME),
        ("SELECT STREAM a FROM (SELECT STREAM a FROM u) JOIN t ON t.a = u.a", NAME),
        (
            "SELECT STREAM a FROM (WITH w AS (SELECT STREAM a FROM t) SELECT STREAM a FROM w)",
            "Move WITH out of the brackets: before INSERT INTO, with a ; after it.",
        ),
        (
            "SELECT STREAM a FROM (INSERT INTO p SELECT STREAM a FROM t)",
            "Write only a SELECT in the brackets, and INSERT INTO outside of them.",
        ),
        ("SELECT STREAM a FROM t, u WHERE t.k = u.k", "Write JOIN ... ON in place of the comma."),
        ("SELECT STREAM a FROM t SELECT STREAM a FROM u", "Put ; and INSERT INTO <topic> before SELECT."),
        ("SELECT STREAM a FROM t WHERE b > 1 && c > 1", "Write AND."),
        ("SELECT STREAM a FROM t WHERE !b", "Write NOT, or != for unequal values."),
        ("SELECT STREAM a # b FROM t", "Remove it."),
        ("SELECT STREAM a FROM t )", "Correct the marked place. Names with special characters need back-ticks."),
    ],
)
def test_the_hint_of_a_common_mistake(program: str, hint: str) -> None:
    with pytest.raises(LsqlError) as refusal:
        parse(f"INSERT INTO o {program}")

    assert refusal.value.way_out == hint


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("WITH w AS (SELECT STREAM a FROM t) INSERT INTO o SELECT STREAM * FROM w", "Put a ; between two statements."),
        ("WITH w AS (SELECT STREAM a FROM t) SELECT STREAM * FROM w", "Put ; and INSERT INTO <topic> before SELECT."),
        (
            "WITH w AS (SELECT STREAM a FROM t), INSERT INTO o SELECT STREAM * FROM w",
            "Write ; in place of the comma before INSERT.",
        ),
        (
            "WITH w AS (SELECT STREAM a FROM t), WITH v AS (SELECT STREAM a FROM w); SET a=b",
            "Write ; in place of the comma before WITH.",
        ),
        ("WITH w AS (SELECT STREAM a FROM t), ; SET a=b", "Remove the comma before ;."),
        ("WITH w AS SELECT STREAM a FROM t; SET a=b", "Put the SELECT in brackets: (SELECT ... FROM ...)."),
        ("WITH w (SELECT STREAM a FROM t); SET a=b", "Write WITH x AS (SELECT ...). The SELECT names the fields."),
        ("WITH w(a) AS (SELECT STREAM a FROM t)", "Write WITH x AS (SELECT ...). The SELECT names the fields."),
        ("WITH RECURSIVE w AS (SELECT STREAM a FROM t)", "Remove RECURSIVE: a WITH query cannot read itself."),
        (
            "WITH w AS (WITH v AS (SELECT STREAM a FROM t) SELECT STREAM a FROM v)",
            "Move WITH out of the brackets: before INSERT INTO, with a ; after it.",
        ),
        (
            "WITH w AS (INSERT INTO o SELECT STREAM a FROM t)",
            "Write only a SELECT in the brackets, and INSERT INTO outside of them.",
        ),
        ("WITH w AS (SELECT STREAM a FROM t INSERT INTO o SELECT STREAM * FROM w", "Close the brackets with )."),
        (
            "INSERT INTO o WITH w AS (SELECT STREAM a FROM t); SELECT STREAM * FROM w",
            "Remove the ;. If WITH follows INSERT INTO, SELECT follows WITH directly.",
        ),
        (
            "INSERT INTO o WITH w AS (SELECT STREAM a FROM t), SELECT STREAM * FROM w",
            "Remove the comma before SELECT.",
        ),
        ("INSERT INTO o WITH w AS (SELECT STREAM a FROM t)", "Write the SELECT that reads the WITH queries."),
        ("INSERT INTO o (SELECT STREAM a FROM t)", "Write SELECT without brackets."),
        ("INSERT INTO o AS SELECT STREAM a FROM t", "Remove it."),
        ("CREATE TABLE o AS SELECT STREAM a FROM t", CREATE_AS),
        ("CREATE TABLE o WITH (partitions=1) AS SELECT a FROM t", CREATE_AS),
        ("CREATE VIEW w AS SELECT a FROM t", "Write WITH x AS (SELECT ...); in place of a view."),
        ("CREATE MATERIALIZED VIEW w AS SELECT a FROM t", "Write WITH x AS (SELECT ...); in place of a view."),
    ],
)
def test_the_hint_of_a_mistake_in_a_statement(program: str, hint: str) -> None:
    with pytest.raises(LsqlError) as refusal:
        parse(program)

    assert (refusal.value.code, refusal.value.way_out) == ("SQL_SYNTAX", hint)
