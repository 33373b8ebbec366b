"""Parses CREATE TABLE and names of formats."""

from __future__ import annotations

from lsql_runner.sql import ast
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.expressions import read_path
from lsql_runner.sql.select import read_topic
from lsql_runner.sql.tokens import TokenKind
from lsql_runner.sql.type_names import read_nullable, read_type_name
from lsql_runner.sql.unsupported import unsupported


def read_create_table(cursor: Cursor) -> ast.CreateTable:
    """`CREATE TABLE t(_key.k string, f int not null, arr int[]) FORMAT(STRING, JSON)`."""
    start = cursor.expect_word("CREATE").span
    if cursor.at_word("STREAM"):
        raise unsupported("CREATE STREAM", start.to(cursor.peek().span))
    if _at_function(cursor):
        raise unsupported("CREATE FUNCTION", start.to(cursor.peek().span))
    cursor.expect_word("TABLE")
    topic = read_topic(cursor, EXPECTED("TOPIC"))
    if not cursor.take_symbol("("):
        cursor.refuse(EXPECTED("COLUMNS"))
    columns = [_read_column(cursor)]
    while cursor.take_symbol(","):
        columns.append(_read_column(cursor))
    cursor.expect_symbol(")")
    cursor.expect_word("FORMAT")
    cursor.expect_symbol("(")
    key = read_format(cursor)
    cursor.expect_symbol(",")
    value = read_format(cursor)
    cursor.expect_symbol(")")
    if cursor.at_word("PROPERTIES"):
        raise unsupported("properties of table", cursor.peek().span)
    return ast.CreateTable(
        topic=topic, columns=tuple(columns), key_format=key, value_format=value, span=start.to(cursor.last)
    )


def _at_function(cursor: Cursor) -> bool:
    """Whether FUNCTION follows, after words that other SQL has before it."""
    distance = 0
    while cursor.at_word("OR", "REPLACE", "TEMPORARY", "TEMP", "AGGREGATE", distance=distance):
        distance += 1
    return cursor.at_word("FUNCTION", distance=distance)


def _read_column(cursor: Cursor) -> ast.Column:
    path = read_path(cursor)
    kind = read_type_name(cursor)
    dimensions = 0
    while cursor.take_symbol("["):
        cursor.expect_symbol("]")
        dimensions += 1
    nullable = read_nullable(cursor)
    span = path.span.to(cursor.last)
    return ast.Column(path=path, type=kind, dimensions=dimensions, nullable=nullable, span=span)


def read_format(cursor: Cursor) -> ast.FormatName:
    """`JSON`, `TW[STRING]`."""
    name = cursor.expect(TokenKind.WORD, EXPECTED("FORMAT"))
    inner = None
    if cursor.take_symbol("["):
        inner = cursor.expect(TokenKind.WORD, EXPECTED("INNER_FORMAT")).upper
        cursor.expect_symbol("]")
    return ast.FormatName(name.upper, inner, name.span.to(cursor.last))
