"""Names and expressions. Names are not resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from lsql_runner.spans import Span
from lsql_runner.sql.ast.span_field import span_field

# --- names -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ident:
    """A name. `quoted` is true for a name in back-ticks, which is printed in back-ticks again."""

    name: str
    quoted: bool = False
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Index:
    """An index of an array element, from 0: the `[0]` in `x[0]`."""

    position: int
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class NamePath:
    """A name, followed by field names and array indexes: `a.b.c`, `x[0].y`, `_key.id`, `payments.customerId`."""

    head: Ident
    steps: tuple[Ident | Index, ...] = ()
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, or all fields of a source, the key or a struct: `t.*`, `_key.*`, `a.b.*`."""

    qualifier: NamePath | None = None
    span: Span = span_field()


# --- expressions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A text. `quote` is the character around it, which has no meaning."""

    value: str
    span: Span = span_field()
    quote: str = field(default="'", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """An unsigned number as written. An integer is an int or long, any other number a double."""

    text: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class BooleanLiteral:
    value: bool
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class NullLiteral:
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class DurationLiteral:
    """A duration: `1d`, `90s`, `250ms`."""

    amount: int
    unit: str
    span: Span = span_field()

    @property
    def milliseconds(self) -> int:
        return self.amount * UNIT_MS[self.unit]


UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True, slots=True)
class Unary:
    op: OneOf["NOT", "-"]
    operand: Expression
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic or comparison. `op` is the symbol; `<>` becomes `!=`."""

    op: OneOf["+", "-", "*", "/", "%", "=", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Logical:
    """Operands joined by AND or by OR. One flat node, so that long filters do not nest deeply."""

    op: OneOf["AND", "OR"]
    operands: tuple[Expression, ...]
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class IsNull:
    operand: Expression
    negated: bool = False
    span: Span = span_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """`[a, b]`: an array of at least one expression."""

    items: tuple[Expression, ...]
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class InList:
    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Like:
    operand: Expression
    pattern: Expression
    negated: bool = False
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class CaseExpression:
    """`CASE [operand] WHEN x THEN y ... [ELSE z] END`."""

    operand: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as written in CAST or CREATE TABLE: `int`, `decimal(10,2)`, `array<int not null>`, `struct<a: int>`."""

    name: str
    parameters: tuple[int, ...] = ()
    members: tuple[TypeMember, ...] = ()
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class TypeMember:
    """A type within another one: of the elements of an array, the keys or values of a map, or a field of a struct."""

    type: TypeName
    nullable: bool
    field: Ident | None = None
    """The name of the field; None within an array or a map."""


@dataclass(frozen=True, slots=True)
class Cast:
    operand: Expression
    target: TypeName
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function or aggregate, with its name as written. The argument of `COUNT(*)` is `Star()`."""

    name: str
    args: tuple[Expression | Star, ...]
    span: Span = span_field()


Expression = (
    NamePath
    | StringLiteral
    | NumberLiteral
    | BooleanLiteral
    | NullLiteral
    | DurationLiteral
    | ArrayLiteral
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
