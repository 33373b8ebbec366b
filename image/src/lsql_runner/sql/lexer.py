"""Reads the next token from any offset of the text.

The text is not split into tokens beforehand, because the unquoted value of a SET is not a token: it ends at the next
white space or `;`, and may contain `//`, which starts a comment elsewhere.
"""

from __future__ import annotations

import re

from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql.hints import character_hint
from lsql_runner.sql.tokens import Token, TokenKind

_BLANK = re.compile(r"(?:\A\ufeff)?(?:\s+|--[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"[^\W\d]\w*")
_SYMBOL = re.compile(r"<=|>=|<>|!=|[-+*/%=<>(),.;\[\]{}:]")
_QUOTED = {
    "'": re.compile(r"'(?:[^']|'')*'"),
    '"': re.compile(r'"(?:[^"]|"")*"'),
    "`": re.compile(r"`(?:[^`]|``)*`"),
}


def skip_blank(text: str, at: int) -> int:
    """The offset of the first character at or after `at` that is neither white space nor comment."""
    match = _BLANK.match(text, at)
    end = match.end() if match else at
    if text.startswith("/*", end):
        raise LsqlError("COMMENT_UNCLOSED", Span(end, end + 2))
    return end


def next_token(text: str, at: int) -> Token:
    """The token that starts at or after `at`.

    Raises:
        LsqlError: QUOTE_UNCLOSED, COMMENT_UNCLOSED, NAME_EMPTY, CHARACTER_INVALID, NUMBER_INVALID (a number with a
            suffix that is not a unit of time).
    """
    start = skip_blank(text, at)
    if start >= len(text):
        return Token(TokenKind.END, "", "", Span(len(text), len(text)))
    if text[start] in _QUOTED:
        return _read_quoted(text, start)
    if match := _NUMBER.match(text, start):
        return _number(text, start, match.group())
    if match := _WORD.match(text, start):
        return Token(TokenKind.WORD, match.group(), match.group(), Span(start, match.end()))
    if match := _SYMBOL.match(text, start):
        return Token(TokenKind.SYMBOL, match.group(), match.group(), Span(start, match.end()))
    raise LsqlError(
        "CHARACTER_INVALID",
        Span(start, start + 1),
        character=repr(text[start]),
        way_out=character_hint(text, start),
    )


def _read_quoted(text: str, start: int) -> Token:
    quote = text[start]
    match = _QUOTED[quote].match(text, start)
    if not match:
        raise LsqlError("QUOTE_UNCLOSED", Span(start, start + 1), quote=quote)
    body = match.group()[1:-1].replace(quote * 2, quote)
    span = Span(start, match.end())
    if quote != "`":
        return Token(TokenKind.STRING, match.group(), body, span)
    if not body:
        raise LsqlError("NAME_EMPTY", span)
    return Token(TokenKind.QUOTED_NAME, match.group(), body, span)


def _number(text: str, start: int, digits: str) -> Token:
    end = start + len(digits)
    tail = _UNIT.match(text, end)
    if not tail:
        return Token(TokenKind.NUMBER, digits, digits, Span(start, end))
    span = Span(start, tail.end())
    if tail.group().lower() not in ("ms", "s", "m", "h", "d") or not digits.isdigit():
        raise LsqlError("NUMBER_INVALID", span, found=text[start : tail.end()])
    return Token(TokenKind.DURATION, text[start : tail.end()], text[start : tail.end()].lower(), span)
