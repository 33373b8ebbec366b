"""The parser's position in the text: reads tokens ahead, consumes them, limits the nesting, raises syntax errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql.ast import Ident
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.hints import syntax_hint
from lsql_runner.sql.lexer import next_token, skip_blank
from lsql_runner.sql.tokens import Token, TokenKind

MAX_DEPTH = 100
"""The maximum number of nested levels in a program. Later stages traverse expressions recursively, with a few Python
frames per level; with this limit they stay far from Python's recursion limit."""

RESERVED = frozenset(
    """SELECT FROM WHERE GROUP HAVING INSERT INTO WITH SET JOIN INNER LEFT RIGHT FULL OUTER ON AND OR NOT AS
    CASE WHEN THEN ELSE END IS IN LIKE BETWEEN NULL TRUE FALSE LATERAL UNION DISTINCT ORDER LIMIT CAST""".split()
)
"""Words that are names only in back-ticks. Other keywords (STREAM, KEY, WINDOW, Timestamp ...) are also valid names."""


_FOUND = DetailTable({"END": "the end of the program", "TOKEN": "`{text}`"})


class Cursor:
    """Reads the tokens of a program on demand; `seek` continues at any offset. `last` is the last consumed span."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ahead: list[Token] = []
        self._at = 0
        self._depth = 0
        self.last = Span(0, 0)

    # --- look ahead ---

    def peek(self, distance: int = 0) -> Token:
        """The next token, or one `distance` tokens after it; consumes none."""
        while len(self._ahead) <= distance:
            start = self._ahead[-1].span.end if self._ahead else self._at
            self._ahead.append(next_token(self.text, start))
        return self._ahead[distance]

    def at_word(self, *words: str, distance: int = 0) -> bool:
        return self.peek(distance).upper in words

    def at_symbol(self, *symbols: str, distance: int = 0) -> bool:
        token = self.peek(distance)
        return token.kind is TokenKind.SYMBOL and token.text in symbols

    def at_name(self) -> bool:
        """Whether `ident` would return a name."""
        token = self.peek()
        return token.kind is TokenKind.QUOTED_NAME or (token.kind is TokenKind.WORD and token.upper not in RESERVED)

    def at_end(self) -> bool:
        return self.peek().kind is TokenKind.END

    # --- consume ---

    def next(self) -> Token:
        """Consume the next token."""
        token = self.peek()
        self._ahead.pop(0)
        self._at = token.span.end
        self.last = token.span
        return token

    def take_word(self, *words: str) -> Token | None:
        """Consume the next tokens if they are exactly `words`. Returns the first of them, or None."""
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
        """Consume a name. A reserved word is a name only in back-ticks."""
        token = self.peek()
        if token.kind is TokenKind.QUOTED_NAME:
            self.next()
            return Ident(token.value, True, token.span)
        if token.kind is TokenKind.WORD and token.upper not in RESERVED:
            self.next()
            return Ident(token.value, False, token.span)
        self.refuse(expected)

    def any_name(self, expected: Detail) -> Ident:
        """Consume a name where a reserved word is one too."""
        token = self.peek()
        if token.kind is not TokenKind.WORD:
            return self.ident(expected)
        self.next()
        return Ident(token.value, False, token.span)

    # --- raw text ---

    def raw_start(self) -> int:
        """The offset of the next character that is neither white space nor in a comment; reads no token there."""
        return self._ahead[0].span.start if self._ahead else skip_blank(self.text, self._at)

    def seek(self, offset: int) -> None:
        """Continue at `offset`, and discard the tokens that were read ahead."""
        self._ahead.clear()
        self.last = Span(self._at, offset)
        self._at = offset

    # --- limits and errors ---

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count one level of nesting within the block.

        Raises:
            LsqlError: SQL_TOO_DEEP beyond MAX_DEPTH levels.
        """
        if self._depth >= MAX_DEPTH:
            raise LsqlError("SQL_TOO_DEEP", self.peek().span, limit=MAX_DEPTH)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def refuse(self, expected: Detail) -> NoReturn:
        """Raise SQL_SYNTAX at the next token. `expected` describes valid tokens, for the message."""
        token = self.peek()
        found = _FOUND("END") if token.kind is TokenKind.END else _FOUND("TOKEN", text=shorten(token.text))
        before = self.text[self.last.start : self.last.end]
        way_out = syntax_hint(before, token, lambda: self.peek(1), expected, RESERVED)
        raise LsqlError("SQL_SYNTAX", token.span, found=found, expected=expected, way_out=way_out)


def shorten(text: str, limit: int = 40) -> str:
    """The text, cut to `limit` characters."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
