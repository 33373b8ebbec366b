"""Statements, and the program that they make."""

from __future__ import annotations

from dataclasses import dataclass, field

from lsql_runner.spans import Span
from lsql_runner.sql.ast.clauses import CommonTable, FormatName, Select
from lsql_runner.sql.ast.expressions import Ident, NamePath, TypeName
from lsql_runner.sql.ast.places import place


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatement:
    key: str
    value: str
    key_span: Span = place()
    value_span: Span = place()
    span: Span = place()


@dataclass(frozen=True, slots=True)
class WithStatement:
    """The modern form: WITH as a statement of its own."""

    tables: tuple[CommonTable, ...]
    span: Span = place()


@dataclass(frozen=True, slots=True)
class StoreAs:
    """`STOREAS <kind>`, with options where it has some: `STOREAS SortedSet(score=ts)`."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    span: Span = place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kcql:
    """What the connector language (KCQL) adds to an INSERT: its target is a sink then, and not a topic."""

    upsert: bool = False
    """UPSERT INTO: a row replaces the one of the same key."""
    key: tuple[NamePath, ...] = ()
    """`PK a, b`: what tells rows apart."""
    value_format: FormatName | None = None
    """`WITHFORMAT f`."""
    store_as: StoreAs | None = None
    batch: int | None = None
    """`BATCH n`: most rows that one request carries."""
    autocreate: bool = False
    clauses: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)

    def place_of(self, clause: str) -> Span:
        """Where the clause called `clause` (as `PK`) begins; the first of all if it is not there."""
        return next((place for name, place in self.clauses if name == clause), self.clauses[0][1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    target: Ident
    select: Select
    key_format: FormatName | None = None
    value_format: FormatName | None = None
    tables: tuple[CommonTable, ...] = ()
    """The legacy form: WITH inside the INSERT."""
    kcql: Kcql | None = None
    """Where it is a statement of the connector language."""
    clauses: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of CREATE TABLE: `f int`, `_key.k string`, `arr int[]`, which is an array of one dimension."""

    path: NamePath
    type: TypeName
    dimensions: int = 0
    span: Span = place()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """`CREATE TABLE t(f int) FORMAT(STRING, JSON)`: what a topic holds."""

    topic: Ident
    columns: tuple[Column, ...]
    key_format: FormatName
    value_format: FormatName
    span: Span = place()


Statement = SetStatement | CreateTable | WithStatement | Insert


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program, in the order it was written, with its text for error messages."""

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
    def shared_tables(self) -> tuple[CommonTable, ...]:
        return tuple(t for s in self.statements if isinstance(s, WithStatement) for t in s.tables)
