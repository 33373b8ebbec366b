"""What to do about a syntax error: advice for the mistakes that people make, for SQL_SYNTAX and CHARACTER_INVALID."""

from __future__ import annotations

from collections.abc import Callable

from lsql_runner.errors import Detail, DetailTable
from lsql_runner.sql.tokens import Token, TokenKind

_ORDER = (
    "INSERT INTO, STORE, WITH, SELECT, FROM, EVENTTIME BY, JOIN ... ON ... WITHIN, LATERAL, WHERE, WINDOW BY, "
    "GRACE BY, GROUP BY, HAVING"
)

HINTS = DetailTable(
    {
        "PLACE": "Correct the marked place. Names with special characters need back-ticks.",
        "ORDER": f"Move {{clause}}: the order of the clauses is {_ORDER}.",
        "UNIT": "Write {duration}: the number and its unit without a space. The units are ms, s, m, h and d.",
        "EQUALS": "Compare with one =.",
        "SEMICOLON": "Put a ; between two statements.",
        "COMMA": "Remove the comma before {word}.",
        "FIELDS": "Name the fields after SELECT, or write * for all.",
        "KEYWORD": "{word} is a keyword. As a name, it needs back-ticks: `{name}`.",
        "CONCAT": "Join texts with CONCAT(a, b).",
        "AND": "Write AND.",
        "NOT": "Write NOT, or != for unequal values.",
        "QUOTES": "Write the straight quotes ' around texts and the back-tick ` around names.",
        "REMOVE": "Remove it.",
        "BRACKETS": "Put the SELECT in brackets: (SELECT ... FROM ...).",
        "NO_BRACKETS": "Write {word} without brackets.",
        "NAME": "Write AS and a name after the brackets: (SELECT ... FROM ...) AS x.",
        "WITH_OUTSIDE": "Move WITH out of the brackets: before INSERT INTO, with a ; after it.",
        "INSERT_OUTSIDE": "Write only a SELECT in the brackets, and {word} INTO outside of them.",
        "WITH_IN_INSERT": "Remove the ;. If WITH follows INSERT INTO, SELECT follows WITH directly.",
        "WITH_UNREAD": "Write the SELECT that reads the WITH queries.",
        "WITH_AS": "Write WITH x AS (SELECT ...). The SELECT names the fields.",
        "RECURSIVE": "Remove RECURSIVE: a WITH query cannot read itself.",
        "INSERT_BEFORE": "Put ; and INSERT INTO <topic> before SELECT.",
        "SEMICOLON_FOR_COMMA": "Write ; in place of the comma before {word}.",
        "CLOSE": "Close the brackets with ).",
        "JOIN": "Write JOIN ... ON in place of the comma.",
        "CREATE_AS": "Write INSERT INTO <topic> SELECT ... ; CREATE TABLE only declares a source.",
        "VIEW": "Write WITH x AS (SELECT ...); in place of a view.",
    }
)

_CLAUSES = {
    **dict.fromkeys(("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER"), "JOIN"),
    **{word: word for word in ("LATERAL", "WHERE", "HAVING", "STORE", "WITHIN", "ON", "FROM")},
    **{word: f"{word} BY" for word in ("EVENTTIME", "WINDOW", "GRACE", "GROUP")},
}
"""The clauses by their first word."""

_STATEMENTS = ("INSERT", "UPSERT", "SET", "CREATE", "WITH", "USE")
_ENDS = ("SEMICOLON", "SEMICOLON_AFTER_WITH", "SYMBOL", "WORD")
"""The expected text after a clause: the next clause, or the end."""

_NAMES = ("ALIAS", "QUERY_NAME", "TOPIC", "SOURCE_TOPIC", "TARGET_TOPIC", "ELEMENT_NAME", "FIELD", "EXPRESSION")
_UNITS = {"MILLISECOND": "ms", "SECOND": "s", "SEC": "s", "MINUTE": "m", "MIN": "m", "HOUR": "h", "DAY": "d"}
_CURLY = "\u2018\u2019\u201c\u201d\u00b4"


def syntax_hint(
    before: str, token: Token, ahead: Callable[[], Token], expected: Detail, keywords: frozenset[str]
) -> Detail:
    """The advice for a token that is not expected.

    Args:
        before: the text of the token before it.
        token: that is not expected.
        ahead: reads the token after it.
        expected: the text that is expected instead, of EXPECTED.
        keywords: the words that are names only in back-ticks.
    """
    code, word = expected.code, token.upper
    if code == "DURATION" and token.kind is TokenKind.NUMBER and (unit := _unit(ahead())) is not None:
        return HINTS("UNIT", duration=f"{token.text}{unit}")
    if token.text == before == "=":
        return HINTS("EQUALS")
    if before == "," and code == "EXPRESSION" and (word in _CLAUSES or token.text in (")", ";")):
        return HINTS("COMMA", word=token.text)
    if before.upper() in ("SELECT", "STREAM", "TABLE") and word == "FROM":
        return HINTS("FIELDS")
    if code in ("SEMICOLON", "SEMICOLON_AFTER_WITH") and word in _STATEMENTS:
        return HINTS("SEMICOLON")
    if code in _ENDS and word in _CLAUSES:
        return HINTS("ORDER", clause=_CLAUSES[word])
    if hint := _query_hint(before, token, expected):
        return hint
    if code in _NAMES and word in keywords:
        return HINTS("KEYWORD", word=word, name=token.text)
    return HINTS("PLACE")


def _query_hint(before: str, token: Token, expected: Detail) -> Detail | None:
    """The advice for WITH queries, subselects, and statements that other SQL writes in another way."""
    word = token.upper
    match expected.code, expected.params.get("word") or expected.params.get("symbol"):
        case "WORD", "SELECT":
            return _select_hint(before, token)
        case "WORD", "TABLE" if word in ("VIEW", "MATERIALIZED"):
            return HINTS("VIEW")
        case ("SYMBOL", "(") | ("SOURCE_TOPIC", None) if word == "SELECT":
            return HINTS("BRACKETS")
        case "SYMBOL", ")" if word in _STATEMENTS or token.text == ";" or token.kind is TokenKind.END:
            return HINTS("CLOSE")
        case "SEMICOLON", _ if word == "SELECT":
            return HINTS("INSERT_BEFORE")
        case "JOINED_SOURCE", _:
            return HINTS("JOIN")
        case "SUBSELECT_ALIAS", _:
            return HINTS("NAME")
        case "COLUMNS", _ if word in ("AS", "WITH", "SELECT"):
            return HINTS("CREATE_AS")
        case "QUERY_AS", _ if before.upper() == "RECURSIVE":
            return HINTS("RECURSIVE")
        case "QUERY_AS", _:
            return HINTS("WITH_AS")
        case "QUERY_NAME", _ if before == "," and word in _STATEMENTS:
            return HINTS("SEMICOLON_FOR_COMMA", word=word)
        case "QUERY_NAME", _ if before == "," and (word == "SELECT" or token.text == ";"):
            return HINTS("COMMA", word=token.text)
    return None


def _select_hint(before: str, token: Token) -> Detail | None:
    """The advice where SELECT is expected: in brackets, or after INSERT INTO and its WITH queries."""
    word = token.upper
    if before == "(":
        if word == "WITH":
            return HINTS("WITH_OUTSIDE")
        if word in ("INSERT", "UPSERT"):
            return HINTS("INSERT_OUTSIDE", word=word)
        return HINTS("NO_BRACKETS", word=token.text) if token.kind in (TokenKind.WORD, TokenKind.QUOTED_NAME) else None
    if before == ")" and token.text == ";":
        return HINTS("WITH_IN_INSERT")
    if before == ")" and token.kind is TokenKind.END:
        return HINTS("WITH_UNREAD")
    if token.text == "(":
        return HINTS("NO_BRACKETS", word="SELECT")
    return HINTS("REMOVE") if word == "AS" else None


def character_hint(text: str, at: int) -> Detail:
    """The advice for a character that no token starts with."""
    if text.startswith("||", at):
        return HINTS("CONCAT")
    if text.startswith("&&", at):
        return HINTS("AND")
    if text[at] == "!":
        return HINTS("NOT")
    return HINTS("QUOTES") if text[at] in _CURLY else HINTS("REMOVE")


def _unit(token: Token) -> str | None:
    return _UNITS.get(token.upper.removesuffix("S")) or (token.text if token.text in _UNITS.values() else None)
