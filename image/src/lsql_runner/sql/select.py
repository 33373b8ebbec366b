"""Parses SELECT and its clauses, in both dialects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal as OneOf
from typing import TypeVar, cast

from lsql_runner.errors import Detail, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.cursor import RESERVED, Cursor
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.expressions import make_duration, read_duration, read_expression, read_path
from lsql_runner.sql.kcql import KCQL_WORDS
from lsql_runner.sql.tokens import TokenKind
from lsql_runner.sql.unsupported import unsupported

T = TypeVar("T")

MAX_WINDOWS = 100_000
"""The maximum number of HOP windows of a record. The engine keeps all windows of a record in memory."""

_WINDOWS = ("TUMBLE", "HOP", "SLIDING", "SESSION")
_JOINS = ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER")
"""The first words of a JOIN."""

_AFTER_SOURCE = KCQL_WORDS | frozenset("EVENTTIME WINDOW GRACE WITHIN STORE UPSERT CREATE USE EMIT".split())
"""Words that may follow a source and are not reserved. As an alias, they need AS."""

_TOPIC = re.compile(r"[\w.]+(?:-(?!-)[\w.]*)*")
"""The name of a topic may contain dashes and dots without back-ticks; `--` starts a comment, as elsewhere."""


def read_topic(cursor: Cursor, expected: Detail) -> ast.Ident:
    """The name of a topic, with or without back-ticks. `expected` describes it in error messages."""
    at = cursor.raw_start()
    if at < len(cursor.text) and cursor.text[at] == "`":
        return cursor.ident(expected)
    match = _TOPIC.match(cursor.text, at)
    if not match or match.group().upper() in RESERVED:
        cursor.refuse(expected)
    cursor.seek(match.end())
    return ast.Ident(match.group(), False, Span(at, match.end()))


def read_select(cursor: Cursor) -> ast.Select:
    """A SELECT, up to the first token that does not belong to it."""
    return _SelectReader(cursor).read()


class _SelectReader:
    """Reads the clauses in order and records their positions."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._clauses: list[tuple[str, Span]] = []

    def read(self) -> ast.Select:
        cursor = self._cursor
        start = cursor.expect_word("SELECT").span
        mode = self._read_mode()
        if cursor.at_word("DISTINCT"):
            raise unsupported("SELECT DISTINCT", cursor.peek().span)
        projections = self._read_projections()
        cursor.expect_word("FROM")
        source = self._read_source()
        if isinstance(source, ast.Subselect) and source.alias is None and cursor.at_word(*_JOINS):
            cursor.refuse(EXPECTED("SUBSELECT_ALIAS"))
        if cursor.at_symbol(","):
            cursor.refuse(EXPECTED("JOINED_SOURCE"))
        event_time = self._clause(read_expression, "EVENTTIME", "BY")
        joins = self._read_joins()
        laterals = self._read_laterals()
        where = self._clause(read_expression, "WHERE")
        window = self._clause(_read_modern_window, "WINDOW", "BY")
        grace = self._clause(read_duration, "GRACE", "BY")
        group_by, legacy_window = self._read_group_by(window)
        having = self._clause(read_expression, "HAVING")
        self._refuse_other_clauses()
        return ast.Select(
            mode=mode,
            projections=projections,
            source=source,
            event_time=event_time,
            joins=joins,
            laterals=laterals,
            where=where,
            window=window or legacy_window,
            grace=grace,
            group_by=group_by,
            having=having,
            clauses=tuple(self._clauses),
            span=start.to(cursor.last),
        )

    def _clause(self, read: Callable[[Cursor], T], *words: str) -> T | None:
        """What `read` parses after the keywords `words`; None if the cursor is not at them."""
        token = self._cursor.take_word(*words)
        if token is None:
            return None
        self._clauses.append((" ".join(words), token.span.to(self._cursor.last)))
        return read(self._cursor)

    def _read_mode(self) -> OneOf["STREAM", "TABLE"] | None:
        cursor = self._cursor
        if not cursor.at_word("STREAM", "TABLE"):
            return None
        after = cursor.peek(1)
        # `STREAM[0]` is an element of a field, `STREAM [0]` an array.
        is_array = after.text == "[" and after.span.start > cursor.peek().span.end
        names_a_field = after.upper in ("FROM", "AS") or (
            after.kind is TokenKind.SYMBOL and after.text not in ("*", "-", "(") and not is_array
        )
        if names_a_field:
            return None
        token = cursor.next()
        self._clauses.append((token.upper, token.span))
        return cast("OneOf['STREAM', 'TABLE']", token.upper)

    def _read_projections(self) -> tuple[ast.Projection, ...]:
        items = [_read_projection(self._cursor)]
        while self._cursor.take_symbol(","):
            items.append(_read_projection(self._cursor))
        return tuple(items)

    def _read_source(self) -> ast.Source:
        cursor = self._cursor
        # The name of a topic may begin like a number that is none.
        if cursor.text.startswith("(", cursor.raw_start()):
            bracket = cursor.next()
            with cursor.nested():
                select = read_select(cursor)
            cursor.expect_symbol(")")
            return ast.Subselect(select, self._read_source_alias(), bracket.span.to(cursor.last))
        name = read_topic(cursor, EXPECTED("SOURCE_TOPIC"))
        return ast.SourceName(name, self._read_source_alias(), name.span.to(cursor.last))

    def _read_source_alias(self) -> ast.Ident | None:
        cursor = self._cursor
        has_alias = cursor.at_name() and cursor.peek().upper not in _AFTER_SOURCE
        return cursor.ident(EXPECTED("ALIAS")) if cursor.take_word("AS") or has_alias else None

    def _read_joins(self) -> tuple[ast.JoinClause, ...]:
        joins: list[ast.JoinClause] = []
        while (kind := self._read_join_kind()) is not None:
            start = self._clauses[-1][1]
            source = self._read_source()
            if isinstance(source, ast.Subselect) and source.alias is None:
                self._cursor.refuse(EXPECTED("SUBSELECT_ALIAS"))
            on = read_expression(self._cursor) if self._cursor.take_word("ON") else None
            within = self._clause(read_duration, "WITHIN")
            joins.append(
                ast.JoinClause(kind=kind, source=source, on=on, within=within, span=start.to(self._cursor.last))
            )
        return tuple(joins)

    def _read_join_kind(self) -> OneOf["INNER", "LEFT", "RIGHT", "FULL"] | None:
        cursor = self._cursor
        token = cursor.peek()
        side = token.upper
        if side not in _JOINS:
            return None
        cursor.next()
        if side != "JOIN":
            if side != "OUTER":
                cursor.take_word("OUTER")
            cursor.expect_word("JOIN")
        self._clauses.append(("JOIN", token.span.to(cursor.last)))
        kind = {"JOIN": "INNER", "OUTER": "FULL"}.get(side, side)
        return cast("OneOf['INNER', 'LEFT', 'RIGHT', 'FULL']", kind)

    def _read_laterals(self) -> tuple[ast.Lateral, ...]:
        laterals: list[ast.Lateral] = []
        while word := self._cursor.take_word("LATERAL"):
            self._clauses.append(("LATERAL", word.span))
            array = read_expression(self._cursor)
            self._cursor.expect_word("AS")
            alias = self._cursor.ident(EXPECTED("ELEMENT_NAME"))
            laterals.append(ast.Lateral(array, alias, word.span.to(alias.span)))
        return tuple(laterals)

    def _read_group_by(
        self, window: ast.WindowClause | None
    ) -> tuple[tuple[ast.Expression, ...], ast.WindowClause | None]:
        cursor = self._cursor
        start = cursor.take_word("GROUP", "BY")
        if start is None:
            return (), None
        self._clauses.append(("GROUP BY", start.span.to(cursor.last)))
        fields: list[ast.Expression] = []
        legacy: ast.WindowClause | None = None
        while True:
            if cursor.at_word(*_WINDOWS) and cursor.at_symbol("(", distance=1):
                clause = _read_legacy_window(cursor)
                earlier = legacy or window
                if earlier is not None:
                    raise LsqlError("WINDOW_DUPLICATE", clause.span, [("the first window", earlier.span)])
                legacy = clause
            else:
                fields.append(read_expression(cursor))
            if not cursor.take_symbol(","):
                return tuple(fields), legacy

    def _refuse_other_clauses(self) -> None:
        token = self._cursor.peek()
        if token.upper in ("UNION", "ORDER", "LIMIT", "EMIT"):
            raise unsupported(token.upper, token.span)


def _read_projection(cursor: Cursor) -> ast.Projection:
    start = cursor.peek().span
    expr: ast.Expression | ast.Star
    if star := cursor.take_symbol("*"):
        expr = ast.Star(None, star.span)
    else:
        expr = read_expression(cursor)
        if isinstance(expr, ast.NamePath) and cursor.take_symbol("."):
            cursor.expect_symbol("*")
            expr = ast.Star(expr, start.to(cursor.last))
    text = cursor.text[start.start : cursor.last.end]
    alias = None
    if cursor.take_word("AS") or (not isinstance(expr, ast.Star) and _at_projection_alias(cursor)):
        alias = read_path(cursor)
    return ast.Projection(expr, alias, text, start.to(cursor.last))


def _at_projection_alias(cursor: Cursor) -> bool:
    """Whether the cursor is at the alias of a projection without AS: a name before the end of the projection.

    Without the second condition, a misspelt FROM would be an alias.
    """
    return cursor.at_name() and (cursor.at_symbol(",", ".", distance=1) or cursor.at_word("FROM", distance=1))


def _read_modern_window(cursor: Cursor) -> ast.WindowClause:
    start = cursor.peek()
    if start.upper not in _WINDOWS:
        cursor.refuse(EXPECTED("WINDOW"))
    cursor.next()
    size = read_duration(cursor)
    advance = None
    if start.upper == "HOP":
        if cursor.take_word("BY") is None:
            cursor.expect_symbol(",")
        advance = read_duration(cursor)
    return _make_window(start.upper, size, advance, False, start.span.to(cursor.last))


def _read_legacy_window(cursor: Cursor) -> ast.WindowClause:
    start = cursor.next()
    cursor.expect_symbol("(")
    size = _read_legacy_duration(cursor)
    advance = None
    if start.upper == "HOP":
        cursor.expect_symbol(",")
        advance = _read_legacy_duration(cursor)
    cursor.expect_symbol(")")
    return _make_window(start.upper, size, advance, True, start.span.to(cursor.last))


def _read_legacy_duration(cursor: Cursor) -> ast.DurationLiteral:
    """`5,m`."""
    amount = cursor.expect(TokenKind.NUMBER, EXPECTED("LEGACY_DURATION"))
    cursor.expect_symbol(",")
    unit = cursor.peek()
    if unit.text.lower() not in ast.UNIT_MS or not amount.text.isdigit():
        cursor.refuse(EXPECTED("TIME_UNIT", known=", ".join(ast.UNIT_MS)))
    cursor.next()
    duration = make_duration(amount.text, unit.text.lower(), amount)
    return ast.DurationLiteral(duration.amount, duration.unit, amount.span.to(unit.span))


def _make_window(
    kind: str, size: ast.DurationLiteral, advance: ast.DurationLiteral | None, legacy: bool, span: Span
) -> ast.WindowClause:
    """A window with valid durations.

    Raises:
        LsqlError: WINDOW_LENGTH_ZERO, WINDOW_ADVANCE_TOO_LONG, WINDOW_ADVANCE_TOO_SHORT.
    """
    for length in (size, advance):
        if length is not None and length.amount == 0:
            raise LsqlError("WINDOW_LENGTH_ZERO", length.span)
    if advance is not None and advance.milliseconds > size.milliseconds:
        raise LsqlError("WINDOW_ADVANCE_TOO_LONG", advance.span)
    if advance is not None and size.milliseconds > advance.milliseconds * MAX_WINDOWS:
        raise LsqlError("WINDOW_ADVANCE_TOO_SHORT", advance.span, limit=MAX_WINDOWS)
    return ast.WindowClause(
        kind=cast("OneOf['TUMBLE', 'HOP', 'SLIDING', 'SESSION']", kind),
        size=size,
        advance=advance,
        legacy=legacy,
        span=span,
    )
