"""What a program says, before any name in it means anything.

Frozen nodes with the place they were written at. `span` takes no part in equality: two texts that
say the same are equal, which is what the print-and-read-again tests rely on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.spans import Span

NOWHERE = Span(0, 0)


def _place() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)


# --- names -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ident:
    """One name. `quoted` tells `` `Timestamp` `` from a bare word, so that it prints as it was written."""

    name: str
    quoted: bool = False
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Index:
    """A zero-based step into an array: the `[0]` of `x[0]`."""

    position: int
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class NamePath:
    """A name with steps into it: `a.b.c`, `x[0].y`, `_key.id`, `payments.customerId`."""

    head: Ident
    steps: tuple[Ident | Index, ...] = ()
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, or everything inside a source, a facet or a struct: `t.*`, `_key.*`, `a.b.*`."""

    qualifier: NamePath | None = None
    span: Span = _place()


# --- expressions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StringLiteral:
    value: str
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """An unsigned number as written; a whole number is an int or long, any other a double."""

    text: str
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class BooleanLiteral:
    value: bool
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class NullLiteral:
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class DurationLiteral:
    """A length of time: `1d`, `90s`, `250ms`."""

    amount: int
    unit: str
    span: Span = _place()

    @property
    def milliseconds(self) -> int:
        return self.amount * UNIT_MS[self.unit]


UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True, slots=True)
class Unary:
    op: OneOf["NOT", "-"]
    operand: Expression
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic or comparison. `op` is the symbol; `<>` is read as `!=`."""

    op: OneOf["+", "-", "*", "/", "%", "=", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Logical:
    """A flat chain of AND or of OR: long filters stay shallow."""

    op: OneOf["AND", "OR"]
    operands: tuple[Expression, ...]
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class IsNull:
    operand: Expression
    negated: bool = False
    span: Span = _place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class InList:
    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Like:
    operand: Expression
    pattern: Expression
    negated: bool = False
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class CaseExpression:
    """`CASE [operand] WHEN x THEN y ... [ELSE z] END`."""

    operand: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as written in CAST: `int`, `decimal(10,2)`."""

    name: str
    parameters: tuple[int, ...] = ()
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Cast:
    operand: Expression
    target: TypeName
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Call:
    """A function or aggregate by its name as written; `COUNT(*)` has the one argument `Star()`."""

    name: str
    args: tuple[Expression | Star, ...]
    span: Span = _place()


Expression = (
    NamePath
    | StringLiteral
    | NumberLiteral
    | BooleanLiteral
    | NullLiteral
    | DurationLiteral
    | Unary
    | Binary
    | Logical
    | IsNull
    | Between
    | InList
    | Like
    | CaseExpression
    | Cast
    | Call
)

# --- clauses ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Projection:
    """One item of a SELECT. `text` is the expression as written: its name when there is no alias."""

    expr: Expression | Star
    alias: NamePath | None = None
    text: str = field(default="", compare=False)
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class SourceName:
    """A topic or a WITH name in FROM or JOIN."""

    name: Ident
    alias: Ident | None = None
    span: Span = _place()


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinClause:
    kind: OneOf["INNER", "LEFT", "RIGHT", "FULL"]
    source: SourceName
    on: Expression | None
    within: DurationLiteral | None
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Lateral:
    """`LATERAL <array> AS <alias>`: one row for each element."""

    array: Expression
    alias: Ident
    span: Span = _place()


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowClause:
    """`WINDOW BY TUMBLE 1m` (modern) or `GROUP BY TUMBLE(1,m)` (legacy)."""

    kind: OneOf["TUMBLE", "HOP", "SLIDING", "SESSION"]
    size: DurationLiteral
    advance: DurationLiteral | None
    legacy: bool
    span: Span = _place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """One SELECT. `mode` is None where neither STREAM nor TABLE is written (legacy)."""

    mode: OneOf["STREAM", "TABLE"] | None
    projections: tuple[Projection, ...]
    source: SourceName
    event_time: Expression | None = None
    joins: tuple[JoinClause, ...] = ()
    laterals: tuple[Lateral, ...] = ()
    where: Expression | None = None
    window: WindowClause | None = None
    grace: DurationLiteral | None = None
    group_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    clauses: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)
    """Every clause keyword with its place, for errors about a clause as such."""
    span: Span = _place()

    @property
    def join_window(self) -> WindowClause | None:
        """The SLIDING window of a SELECT with joins: how far apart the times of two streams may be (legacy)."""
        return self.window if self.window is not None and self.window.kind == "SLIDING" and self.joins else None

    def place_of(self, clause: str) -> Span:
        """Where the clause called `clause` (as `HAVING`, `JOIN`) begins; the SELECT itself if it is not there."""
        return next((place for name, place in self.clauses if name == clause), self.span)


@dataclass(frozen=True, slots=True)
class FormatName:
    """A wire format as written: `JSON`, `TW[STRING]`."""

    name: str
    inner: str | None = None
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class CommonTable:
    """`WITH name AS (SELECT ...)`."""

    name: Ident
    select: Select
    span: Span = _place()


# --- statements ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatement:
    key: str
    value: str
    key_span: Span = _place()
    value_span: Span = _place()
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class WithStatement:
    """The modern form: WITH as a statement of its own."""

    tables: tuple[CommonTable, ...]
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class StoreAs:
    """`STOREAS <kind>`, with options where it has some: `STOREAS SortedSet(score=ts)`."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    span: Span = _place()


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
    span: Span = _place()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of CREATE TABLE: `f int`, `_key.k string`, `arr int[]`, which is an array of one dimension."""

    path: NamePath
    type: TypeName
    dimensions: int = 0
    span: Span = _place()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """`CREATE TABLE t(f int) FORMAT(STRING, JSON)`: what a topic holds."""

    topic: Ident
    columns: tuple[Column, ...]
    key_format: FormatName
    value_format: FormatName
    span: Span = _place()


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
