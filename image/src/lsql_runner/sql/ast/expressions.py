"""Names and expressions, before any name in them means anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from lsql_runner.spans import Span
from lsql_runner.sql.ast.places import place

# --- names -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ident:
    """One name. `quoted` tells `` `Timestamp` `` from a bare word, so that it prints as it was written."""

    name: str
    quoted: bool = False
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Index:
    """A zero-based step into an array: the `[0]` of `x[0]`."""

    position: int
    span: Span = place()


@dataclass(frozen=True, slots=True)
class NamePath:
    """A name with steps into it: `a.b.c`, `x[0].y`, `_key.id`, `payments.customerId`."""

    head: Ident
    steps: tuple[Ident | Index, ...] = ()
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, or everything inside a source, a facet or a struct: `t.*`, `_key.*`, `a.b.*`."""

    qualifier: NamePath | None = None
    span: Span = place()


# --- expressions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StringLiteral:
    value: str
    span: Span = place()


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """An unsigned number as written; a whole number is an int or long, any other a double."""

    text: str
    span: Span = place()


@dataclass(frozen=True, slots=True)
class BooleanLiteral:
    value: bool
    span: Span = place()


@dataclass(frozen=True, slots=True)
class NullLiteral:
    span: Span = place()


@dataclass(frozen=True, slots=True)
class DurationLiteral:
    """A length of time: `1d`, `90s`, `250ms`."""

    amount: int
    unit: str
    span: Span = place()

    @property
    def milliseconds(self) -> int:
        return self.amount * UNIT_MS[self.unit]


UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True, slots=True)
class Unary:
    op: OneOf["NOT", "-"]
    operand: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic or comparison. `op` is the symbol; `<>` is read as `!=`."""

    op: OneOf["+", "-", "*", "/", "%", "=", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Logical:
    """A flat chain of AND or of OR: long filters stay shallow."""

    op: OneOf["AND", "OR"]
    operands: tuple[Expression, ...]
    span: Span = place()


@dataclass(frozen=True, slots=True)
class IsNull:
    operand: Expression
    negated: bool = False
    span: Span = place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    span: Span = place()


@dataclass(frozen=True, slots=True)
class InList:
    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Like:
    operand: Expression
    pattern: Expression
    negated: bool = False
    span: Span = place()


@dataclass(frozen=True, slots=True)
class CaseExpression:
    """`CASE [operand] WHEN x THEN y ... [ELSE z] END`."""

    operand: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None
    span: Span = place()


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as written in CAST: `int`, `decimal(10,2)`."""

    name: str
    parameters: tuple[int, ...] = ()
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Cast:
    operand: Expression
    target: TypeName
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Call:
    """A function or aggregate by its name as written; `COUNT(*)` has the one argument `Star()`."""

    name: str
    args: tuple[Expression | Star, ...]
    span: Span = place()


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
