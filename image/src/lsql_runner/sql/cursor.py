"""The parser's place in the text: look, take, expect, and how deep it has gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql.ast import Ident
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.lexer import Token, TokenKind, next_token, skip_blank

MAX_DEPTH = 100
"""Levels of nesting that a program may have. The stages after the parser walk expressions by
recursion, a few Python frames a level; this keeps the deepest accepted program far from Python's limit."""

RESERVED = frozenset(
    """SELECT FROM WHERE GROUP HAVING INSERT INTO WITH SET JOIN INNER LEFT RIGHT FULL OUTER ON AND OR NOT AS
    CASE WHEN THEN ELSE END IS IN LIKE BETWEEN NULL TRUE FALSE LATERAL UNION DISTINCT ORDER LIMIT CAST""".split()
)
"""Words that name nothing unless quoted. All others (STREAM, KEY, WINDOW, Timestamp ...) are read by their place."""


_FOUND = DetailTable({"END": "the end of the program", "TOKEN": "`{text}`"})


class Cursor:
    """A reader over one program's text. Tokens are made when asked for, so `seek` may go anywhere."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ahead: list[Token] = []
        self._at = 0
        self._depth = 0
        self.last = Span(0, 0)

    # --- looking ---

    def peek(self, distance: int = 0) -> Token:
        while len(self._ahead) <= distance:
            start = self._ahead[-1].span.end if self._ahead else self._at
            self._ahead.append(next_token(self.text, start))
        return self._ahead[distance]

    def at_word(self, *words: str, distance: int = 0) -> bool:
        return self.peek(distance).upper in words

    def at_symbol(self, *symbols: str, distance: int = 0) -> bool:
        token = self.peek(distance)
        return token.kind is TokenKind.SYMBOL and token.text in symbols

    def at_end(self) -> bool:
        return self.peek().kind is TokenKind.END

    # --- taking ---

    def next(self) -> Token:
        token = self.peek()
        self._ahead.pop(0)
        self._at = token.span.end
        self.last = token.span
        return token

    def take_word(self, *words: str) -> Token | None:
        """Take the next words if they are exactly `words`; the first of them, else None."""
        if all(self.at_word(word, distance=i) for i, word in enumerate(words)):
            first = self.next()
            for _ in words[1:]:
                self.next()
            return first
        return None

    def take_symbol(self, symbol: str) -> Token | None:
        return self.next() if self.at_symbol(symbol) else None

    def expect_word(self, word: str) -> Token:
        return self.take_word(word) or self.refuse(EXPECTED("WORD", word=word))

    def expect_symbol(self, symbol: str) -> Token:
        return self.take_symbol(symbol) or self.refuse(EXPECTED("SYMBOL", symbol=symbol))

    def expect(self, kind: TokenKind, expected: Detail) -> Token:
        return self.next() if self.peek().kind is kind else self.refuse(expected)

    def ident(self, expected: Detail) -> Ident:
        """A bare or back-ticked name; a reserved word must be quoted to be one."""
        token = self.peek()
        if token.kind is TokenKind.QUOTED_NAME:
            self.next()
            return Ident(token.value, True, token.span)
        if token.kind is TokenKind.WORD and token.upper not in RESERVED:
            self.next()
            return Ident(token.value, False, token.span)
        self.refuse(expected)

    # --- raw text ---

    def raw_start(self) -> int:
        """The offset of the next thing that is not blank, without making a token of it."""
        return self._ahead[0].span.start if self._ahead else skip_blank(self.text, self._at)

    def seek(self, offset: int) -> None:
        """Go on reading at `offset`; what was looked at ahead is forgotten."""
        self._ahead.clear()
        self.last = Span(self._at, offset)
        self._at = offset

    # --- limits and errors ---

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count one level of nesting.

        Raises:
            LsqlError: SQL_TOO_DEEP past MAX_DEPTH levels.
        """
        if self._depth >= MAX_DEPTH:
            raise LsqlError("SQL_TOO_DEEP", self.peek().span, limit=MAX_DEPTH)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def refuse(self, expected: Detail) -> NoReturn:
        token = self.peek()
        found = _FOUND("END") if token.kind is TokenKind.END else _FOUND("TOKEN", text=shorten(token.text))
        raise LsqlError("SQL_SYNTAX", token.span, found=found, expected=expected)


def shorten(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
