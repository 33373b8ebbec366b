"""Parses a program into statements. One grammar accepts both dialects of LSQL, legacy and modern."""

from __future__ import annotations

import re

from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.create import read_create_table, read_format
from lsql_runner.sql.cursor import Cursor, shorten
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.kcql import read_kcql
from lsql_runner.sql.select import read_select, read_topic
from lsql_runner.sql.tokens import TokenKind
from lsql_runner.sql.unsupported import unsupported

MAX_BYTES = 512 * 1024
"""Maximum size of a program in bytes of UTF-8. For comparison: an environment variable has at most 128 KiB."""

_SET_KEY = re.compile(r"[\w.\-]+(?:`[^`]+`[\w.\-]*)*")
"""A part of the key, as the name of a topic, may be in back-ticks."""

_BARE_VALUE = re.compile(r"[^\s;]+")


def parse(text: str) -> ast.Program:
    """Parse a program.

    Raises:
        LsqlError: with the position, if the text is not a program: SQL_*, CLAUSE_*, STATEMENT_UNSUPPORTED,
            MULTIPLE_STATEMENTS, INSERT_MISSING, WINDOW_DUPLICATE, WINDOW_LENGTH_ZERO, WINDOW_ADVANCE_TOO_LONG,
            WINDOW_ADVANCE_TOO_SHORT; as `next_token`.
    """
    _check_text(text)
    cursor = Cursor(text)
    statements: list[ast.Statement] = []
    while True:
        while cursor.take_symbol(";"):
            pass
        if cursor.at_end():
            break
        statements.append(_read_statement(cursor))
        if not cursor.at_end() and not cursor.at_symbol(";"):
            cursor.refuse(EXPECTED("SEMICOLON"))
    if not statements:
        raise LsqlError("SQL_EMPTY")
    program = ast.Program(tuple(statements), text)
    if not program.inserts:
        raise LsqlError("INSERT_MISSING", statements[-1].span)
    return program


def _check_text(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise LsqlError("SQL_TOO_LARGE", size_bytes=size, limit_bytes=MAX_BYTES)
    broken = re.search("[\ud800-\udfff]", text)
    if broken:
        raise LsqlError("SQL_NOT_UTF8", Span(broken.start(), broken.end()), byte=f"0x{ord(broken.group()) & 0xFF:02x}")
    zero = text.find("\0")
    if zero >= 0:
        raise LsqlError("SQL_ZERO_BYTE", Span(zero, zero + 1))


def _read_statement(cursor: Cursor) -> ast.Statement:
    token = cursor.peek()
    match token.upper:
        case "SET":
            return _read_set(cursor)
        case "WITH":
            tables = _read_tables(cursor)
            if cursor.at_word("INSERT", "UPSERT"):
                cursor.refuse(EXPECTED("SEMICOLON_AFTER_WITH"))
            return ast.WithStatement(tables, token.span.to(cursor.last))
        case "CREATE":
            return read_create_table(cursor)
        case "INSERT" | "UPSERT":
            return _read_insert(cursor)
        case "SELECT":
            raise LsqlError("INSERT_MISSING", token.span)
        case (
            "UPDATE" | "DELETE" | "DROP" | "USE" | "TRUNCATE" | "ALTER" | "SHOW" | "DESCRIBE" | "EXPLAIN"
        ) as statement:
            raise unsupported(statement, token.span)
    cursor.refuse(EXPECTED("STATEMENT"))


# --- SET ---


def _read_set(cursor: Cursor) -> ast.SetStatement:
    start = cursor.expect_word("SET").span
    key, key_span = _read_set_key(cursor)
    cursor.expect_symbol("=")
    value, value_span = _read_set_value(cursor)
    return ast.SetStatement(key=key, value=value, key_span=key_span, value_span=value_span, span=start.to(value_span))


def _read_set_key(cursor: Cursor) -> tuple[str, Span]:
    at = cursor.raw_start()
    if match := _SET_KEY.match(cursor.text, at):
        cursor.seek(match.end())
        return match.group().replace("`", ""), Span(at, match.end())
    token = cursor.peek()
    if token.kind in (TokenKind.QUOTED_NAME, TokenKind.STRING):
        cursor.next()
        return token.value, token.span
    cursor.refuse(EXPECTED("SETTING"))


def _read_set_value(cursor: Cursor) -> tuple[str, Span]:
    at = cursor.raw_start()
    if at < len(cursor.text) and cursor.text[at] in "'\"`":
        token = cursor.next()
        return token.value, token.span
    if match := _BARE_VALUE.match(cursor.text, at):
        cursor.seek(match.end())
        return match.group(), Span(at, match.end())
    cursor.refuse(EXPECTED("VALUE"))


# --- WITH ---


def _read_tables(cursor: Cursor) -> tuple[ast.CommonTable, ...]:
    cursor.expect_word("WITH")
    tables = [_read_table(cursor)]
    while cursor.take_symbol(","):
        tables.append(_read_table(cursor))
    return tuple(tables)


def _read_table(cursor: Cursor) -> ast.CommonTable:
    name = cursor.ident(EXPECTED("QUERY_NAME"))
    if not cursor.take_word("AS"):
        cursor.refuse(EXPECTED("QUERY_AS"))
    cursor.expect_symbol("(")
    select = read_select(cursor)
    if cursor.at_symbol(";"):
        raise LsqlError("MULTIPLE_STATEMENTS", cursor.peek().span, query=shorten(name.name))
    cursor.expect_symbol(")")
    return ast.CommonTable(name, select, name.span.to(cursor.last))


# --- INSERT ---


def _read_insert(cursor: Cursor) -> ast.Insert:
    word = cursor.next()
    start, upsert = word.span, word.span if word.upper == "UPSERT" else None
    if upsert is not None and cursor.at_word("PK"):
        raise unsupported("UPSERT PK", start.to(cursor.peek().span))
    cursor.expect_word("INTO")
    target = read_topic(cursor, EXPECTED("TARGET_TOPIC"))
    _refuse_values(cursor, start)
    clauses: list[tuple[str, Span]] = []
    key_format = value_format = None
    if store := cursor.take_word("STORE"):
        clauses.append(("STORE", store.span))
        if cursor.take_word("KEY", "AS"):
            key_format = read_format(cursor)
        if cursor.take_word("VALUE", "AS"):
            value_format = read_format(cursor)
        if key_format is None and value_format is None:
            cursor.refuse(EXPECTED("STORE_FORMAT"))
    tables: tuple[ast.CommonTable, ...] = ()
    if cursor.at_word("WITH"):
        clauses.append(("WITH", cursor.peek().span))
        tables = _read_tables(cursor)
    select = read_select(cursor)
    kcql = read_kcql(cursor, upsert)
    return ast.Insert(
        target=target,
        select=select,
        key_format=key_format,
        value_format=value_format,
        tables=tables,
        kcql=kcql,
        clauses=tuple(clauses),
        span=start.to(cursor.last),
    )


def _refuse_values(cursor: Cursor, start: Span) -> None:
    """Refuse VALUES, and a list of columns. `(SELECT ...)` is a syntax error with its own hint."""
    if cursor.at_word("VALUES"):
        raise unsupported("VALUES", start.to(cursor.peek().span))
    if not cursor.at_symbol("(") or cursor.at_word("SELECT", "WITH", distance=1):
        return
    distance = 1
    while not cursor.at_symbol(")", distance=distance) and cursor.peek(distance).kind is not TokenKind.END:
        distance += 1
    has_values = cursor.at_word("VALUES", distance=distance + 1)
    raise unsupported("VALUES" if has_values else "columns of INSERT", start.to(cursor.peek().span))
