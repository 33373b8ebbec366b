"""Parses the KCQL clauses after a SELECT: PK, WITHFORMAT, STOREAS, BATCH, AUTOCREATE, in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.expressions import read_path
from lsql_runner.sql.tokens import TokenKind
from lsql_runner.sql.unsupported import KCQL_CLAUSES, unsupported

MAX_BATCH = 100_000


def read_kcql(cursor: Cursor, upsert: Span | None) -> ast.Kcql | None:
    """Read the KCQL clauses; None for an INSERT without any.

    Args:
        cursor: after the SELECT.
        upsert: the position of the keyword UPSERT; None for an INSERT.

    Raises:
        LsqlError: SQL_SYNTAX, CLAUSE_DUPLICATE, CLAUSE_UNSUPPORTED.
    """
    kcql = ast.Kcql(upsert=upsert is not None)
    clauses: list[tuple[str, Span]] = [] if upsert is None else [("UPSERT", upsert)]
    while (read := _CLAUSES.get(cursor.peek().upper)) is not None:
        word = cursor.next()
        earlier = next((span for name, span in clauses if name == word.upper), None)
        if earlier is not None:
            raise LsqlError("CLAUSE_DUPLICATE", word.span, [("the first", earlier)], clause=word.upper)
        clauses.append((word.upper, word.span))
        kcql = read(cursor, kcql)
    word = cursor.peek()
    if word.upper in KCQL_CLAUSES or word.upper == "LIMIT":
        raise unsupported(word.upper, word.span)
    return replace(kcql, clauses=tuple(clauses)) if clauses else None


def _read_pk(cursor: Cursor, kcql: ast.Kcql) -> ast.Kcql:
    paths = [read_path(cursor)]
    while cursor.take_symbol(","):
        paths.append(read_path(cursor))
    return replace(kcql, key=tuple(paths))


def _read_format(cursor: Cursor, kcql: ast.Kcql) -> ast.Kcql:
    name = cursor.expect(TokenKind.WORD, EXPECTED("FORMAT"))
    return replace(kcql, value_format=ast.FormatName(name.upper, None, name.span))


def _read_store_as(cursor: Cursor, kcql: ast.Kcql) -> ast.Kcql:
    name = cursor.expect(TokenKind.WORD, EXPECTED("STORE"))
    options: list[tuple[str, str]] = []
    if cursor.take_symbol("("):
        while True:
            key = cursor.ident(EXPECTED("OPTION")).name
            options.append((key, _read_option(cursor) if cursor.take_symbol("=") else ""))
            if not cursor.take_symbol(","):
                break
        cursor.expect_symbol(")")
    return replace(kcql, store_as=ast.StoreAs(name.text, tuple(options), name.span.to(cursor.last)))


def _read_option(cursor: Cursor) -> str:
    token = cursor.peek()
    if token.kind not in (TokenKind.WORD, TokenKind.QUOTED_NAME, TokenKind.STRING, TokenKind.NUMBER):
        cursor.refuse(EXPECTED("VALUE"))
    return cursor.next().value


def _read_batch(cursor: Cursor, kcql: ast.Kcql) -> ast.Kcql:
    cursor.take_symbol("=")
    number = cursor.peek()
    # Python refuses to convert very long texts, so the length is checked first.
    is_short = number.text.isdigit() and len(number.text) <= len(str(MAX_BATCH))
    if number.kind is not TokenKind.NUMBER or not is_short or not 1 <= int(number.text) <= MAX_BATCH:
        cursor.refuse(EXPECTED("INTEGER_RANGE", least=1, most=MAX_BATCH))
    return replace(kcql, batch=int(cursor.next().text))


def _read_autocreate(cursor: Cursor, kcql: ast.Kcql) -> ast.Kcql:
    return replace(kcql, autocreate=True)


_CLAUSES: dict[str, Callable[[Cursor, ast.Kcql], ast.Kcql]] = {
    "PK": _read_pk,
    "WITHFORMAT": _read_format,
    "STOREAS": _read_store_as,
    "BATCH": _read_batch,
    "AUTOCREATE": _read_autocreate,
}

KCQL_WORDS = frozenset({*_CLAUSES, *KCQL_CLAUSES})
"""The first words of all KCQL clauses, supported or not."""
