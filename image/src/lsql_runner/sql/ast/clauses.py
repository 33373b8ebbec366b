"""SELECT and its clauses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.spans import Span
from lsql_runner.sql.ast.expressions import DurationLiteral, Expression, Ident, NamePath, Star
from lsql_runner.sql.ast.span_field import span_field


@dataclass(frozen=True, slots=True)
class Projection:
    """One item of a SELECT list. `text` is the expression as written; without an alias it is the name of the field."""

    expr: Expression | Star
    alias: NamePath | None = None
    text: str = field(default="", compare=False)
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class SourceName:
    """A topic or a WITH name in FROM or JOIN."""

    name: Ident
    alias: Ident | None = None
    span: Span = span_field()

    @property
    def names(self) -> tuple[Ident, ...]:
        """The names with which its fields can be qualified, the alias first."""
        return (self.name,) if self.alias is None else (self.alias, self.name)


@dataclass(frozen=True, slots=True)
class Subselect:
    """`(SELECT ...) AS x` in FROM or JOIN: a WITH query that only this clause reads."""

    select: Select
    alias: Ident | None = None
    span: Span = span_field()

    @property
    def names(self) -> tuple[Ident, ...]:
        """The name with which its fields can be qualified, if it has an alias."""
        return () if self.alias is None else (self.alias,)


Source = SourceName | Subselect
"""The sources of a SELECT: FROM and JOIN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinClause:
    kind: OneOf["INNER", "LEFT", "RIGHT", "FULL"]
    source: Source
    on: Expression | None
    within: DurationLiteral | None
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Lateral:
    """`LATERAL <array> AS <alias>`: one row for each element."""

    array: Expression
    alias: Ident
    span: Span = span_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowClause:
    """`WINDOW BY TUMBLE 1m` (modern) or `GROUP BY TUMBLE(1,m)` (legacy)."""

    kind: OneOf["TUMBLE", "HOP", "SLIDING", "SESSION"]
    size: DurationLiteral
    advance: DurationLiteral | None
    legacy: bool
    span: Span = span_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """A SELECT. `mode` is None if it has neither STREAM nor TABLE (legacy)."""

    mode: OneOf["STREAM", "TABLE"] | None
    projections: tuple[Projection, ...]
    source: Source
    event_time: Expression | None = None
    joins: tuple[JoinClause, ...] = ()
    laterals: tuple[Lateral, ...] = ()
    where: Expression | None = None
    window: WindowClause | None = None
    grace: DurationLiteral | None = None
    group_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    clauses: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)
    """The keyword of each clause with its position, for errors about the clause."""
    span: Span = span_field()

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources of FROM and of all JOINs."""
        return (self.source, *(join.source for join in self.joins))

    def with_subselects(self) -> Iterator[Select]:
        """The SELECT and the subselects in it, at any depth."""
        yield self
        for source in self.sources:
            if isinstance(source, Subselect):
                yield from source.select.with_subselects()

    @property
    def join_window(self) -> WindowClause | None:
        """The SLIDING window of a SELECT with joins (legacy): the largest time difference of joined records."""
        return self.window if self.window is not None and self.window.kind == "SLIDING" and self.joins else None

    def span_of(self, clause: str) -> Span:
        """The position of a clause, such as `HAVING` or `JOIN`; the SELECT's position without such a clause."""
        return next((span for name, span in self.clauses if name == clause), self.span)


@dataclass(frozen=True, slots=True)
class FormatName:
    """A format as written: `JSON`, `TW[STRING]`."""

    name: str
    inner: str | None = None
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class CommonTable:
    """`WITH name AS (SELECT ...)`."""

    name: Ident
    select: Select
    span: Span = span_field()
