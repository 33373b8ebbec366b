"""Statements and programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lsql_runner.spans import Span
from lsql_runner.sql.ast.clauses import CommonTable, FormatName, Select
from lsql_runner.sql.ast.expressions import Ident, NamePath, TypeName
from lsql_runner.sql.ast.span_field import span_field


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatement:
    key: str
    value: str
    key_span: Span = span_field()
    value_span: Span = span_field()
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class WithStatement:
    """The modern form of WITH: a separate statement."""

    tables: tuple[CommonTable, ...]
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class StoreAs:
    """`STOREAS <data structure>`, with or without options: `STOREAS SortedSet(score=ts)`."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    span: Span = span_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kcql:
    """The clauses of KCQL, the language of connectors, in an INSERT. With them the target is a sink, not a topic."""

    upsert: bool = False
    """UPSERT INTO: a row replaces the row with the same key."""
    key: tuple[NamePath, ...] = ()
    """`PK a, b`: the columns that identify a row."""
    value_format: FormatName | None = None
    """`WITHFORMAT f`."""
    store_as: StoreAs | None = None
    batch: int | None = None
    """`BATCH n`: the maximum number of rows in a request."""
    autocreate: bool = False
    clauses: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)

    def span_of(self, clause: str) -> Span:
        """The position of a clause, such as `PK`; the first clause's position without such a clause."""
        return next((span for name, span in self.clauses if name == clause), self.clauses[0][1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    target: Ident
    select: Select
    key_format: FormatName | None = None
    value_format: FormatName | None = None
    tables: tuple[CommonTable, ...] = ()
    """The legacy form of WITH: inside the INSERT."""
    kcql: Kcql | None = None
    """None for an INSERT without KCQL clauses."""
    clauses: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)
    span: Span = span_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of CREATE TABLE: `f int not null`, `_key.k string`, `arr int[]` (an array of one dimension)."""

    path: NamePath
    type: TypeName
    dimensions: int = 0
    nullable: bool = True
    span: Span = span_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """`CREATE TABLE t(f int) FORMAT(STRING, JSON)`: the columns and formats of a topic."""

    topic: Ident
    columns: tuple[Column, ...]
    key_format: FormatName
    value_format: FormatName
    span: Span = span_field()


Statement = SetStatement | CreateTable | WithStatement | Insert


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its statements in order, and its text for error messages."""

    statements: tuple[Statement, ...]
    text: str = field(default="", compare=False, repr=False)

    @property
    def settings(self) -> tuple[SetStatement, ...]:
        return tuple(s for s in self.statements if isinstance(s, SetStatement))

    @property
    def declarations(self) -> tuple[CreateTable, ...]:
        return tuple(s for s in self.statements if isinstance(s, CreateTable))

    @property
    def inserts(self) -> tuple[Insert, ...]:
        return tuple(s for s in self.statements if isinstance(s, Insert))

    @property
    def selects(self) -> Iterator[Select]:
        """Every SELECT, also those of WITH and subselects."""
        tables = (*self.shared_tables, *(table for insert in self.inserts for table in insert.tables))
        for select in (*(insert.select for insert in self.inserts), *(table.select for table in tables)):
            yield from select.with_subselects()

    @property
    def shared_tables(self) -> tuple[CommonTable, ...]:
        return tuple(t for s in self.statements if isinstance(s, WithStatement) for t in s.tables)
