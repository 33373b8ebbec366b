"""Parses names of types: in CAST, and in the columns of CREATE TABLE."""

from __future__ import annotations

from lsql_runner.sql import ast
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.tokens import TokenKind


def read_type_name(cursor: Cursor) -> ast.TypeName:
    """`int`, `decimal(10,2)`, `array<int not null>`, `map<string, long>`, `struct<a: int, b: string>`."""
    name = cursor.expect(TokenKind.WORD, EXPECTED("TYPE"))
    parameters: list[int] = []
    members: list[ast.TypeMember] = []
    if cursor.take_symbol("("):
        parameters.append(read_whole_number(cursor))
        while cursor.take_symbol(","):
            parameters.append(read_whole_number(cursor))
        cursor.expect_symbol(")")
    elif cursor.take_symbol("<"):
        with cursor.nested():
            members.append(_read_member(cursor))
            while cursor.take_symbol(","):
                members.append(_read_member(cursor))
        cursor.expect_symbol(">")
    return ast.TypeName(name.text.lower(), tuple(parameters), tuple(members), name.span.to(cursor.last))


def read_nullable(cursor: Cursor) -> bool:
    """Whether the type before the cursor can be NULL: False after NOT NULL."""
    return cursor.take_word("NOT", "NULL") is None


def read_whole_number(cursor: Cursor) -> int:
    """A number of at most nine digits."""
    token = cursor.peek()
    if token.kind is TokenKind.NUMBER and token.text.isdecimal() and len(token.text) < 10:
        cursor.next()
        return int(token.text)
    cursor.refuse(EXPECTED("INTEGER"))


def _read_member(cursor: Cursor) -> ast.TypeMember:
    field = None
    if cursor.at_symbol(":", distance=1):
        field = cursor.any_name(EXPECTED("FIELD"))
        cursor.expect_symbol(":")
    kind = read_type_name(cursor)
    return ast.TypeMember(kind, read_nullable(cursor), field)
