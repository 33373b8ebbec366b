"""Typed expressions: every name resolved, every conversion explicit. The engine compiles them to columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace

from lsql_runner.bind.functions.lowering import Lowering
from lsql_runner.bind.functions.spec import Nulls
from lsql_runner.types import BYTES, DataType, Field, Struct

ScalarValue = str | int | float | bool | None


def source_column(column: str, source: int) -> str:
    """The name that a column of the n-th source has above a join, beside those of other sources."""
    return f"{column}_{source}"


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the input, and a path into it: names into structs and maps, numbers into arrays."""

    column: str
    path: tuple[str | int, ...]
    type: DataType
    source: int | None = None
    """Above a join, which source of the FROM has the column, from 0; None for a column of the relation itself."""
    _: KW_ONLY
    nullable: bool = field(default=True, compare=False)
    """Whether it may be null in a record that has a key and a value."""
    exempt: bool = field(default=False, compare=False)
    """It is not declared: being null is no error."""
    present: bool = field(default=False, compare=False)
    """It is never null, not even in a tombstone."""

    @property
    def name(self) -> str:
        """The name of the column in the relation."""
        return self.column if self.source is None else source_column(self.column, self.source)


@dataclass(frozen=True, slots=True)
class Const:
    value: ScalarValue
    type: DataType

    @property
    def nullable(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """An operator by its symbol: arithmetic, comparison, AND, OR, NOT, IS NULL, IN, LIKE, NEG."""

    op: str
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A scalar function of the table."""

    function: str
    lowering: Lowering
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool
    nulls: Nulls = "propagate"


@dataclass(frozen=True, slots=True)
class Convert:
    """A conversion. Between long and timestamp the long counts milliseconds since 1970 UTC."""

    operand: Expr
    type: DataType

    @property
    def nullable(self) -> bool:
        return self.operand.nullable


@dataclass(frozen=True, slots=True)
class CaseWhen:
    """CASE: the value of the first branch whose condition holds."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr
    type: DataType

    @property
    def nullable(self) -> bool:
        return self.otherwise.nullable or any(value.nullable for _, value in self.branches)


@dataclass(frozen=True, slots=True)
class StructValue:
    """A struct of expressions."""

    fields: tuple[tuple[str, Expr], ...]

    @property
    def type(self) -> Struct:
        return Struct(tuple(Field(name, expr.type, expr.nullable) for name, expr in self.fields))

    @property
    def nullable(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class HeaderValue:
    """The bytes of the last header called `name`; null if there is none."""

    name: str

    @property
    def type(self) -> DataType:
        return BYTES

    @property
    def nullable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """An aggregate over the records of a group; only in the projections of a grouped SELECT."""

    function: str
    arg: Expr | None
    """None for COUNT(*)."""
    type: DataType
    nullable: bool
    limit: int | None = None
    """How many values are kept, for those that keep some."""


Expr = ColumnRef | Const | OperatorCall | FunctionCall | Convert | CaseWhen | StructValue | HeaderValue | AggregateCall


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case OperatorCall(args=args) | FunctionCall(args=args):
            return args
        case Convert(operand):
            return (operand,)
        case CaseWhen(branches, otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case StructValue(fields):
            return tuple(value for _, value in fields)
        case AggregateCall(arg=arg) if arg is not None:
            return (arg,)
    return ()


def rewrite(expr: Expr, visit: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with parts replaced: `visit` returns a replacement, or None to look inside instead."""
    replaced = visit(expr)
    if replaced is not None:
        return replaced
    match expr:
        case OperatorCall(args=args) | FunctionCall(args=args):
            return replace(expr, args=tuple(rewrite(arg, visit) for arg in args))
        case Convert(operand):
            return replace(expr, operand=rewrite(operand, visit))
        case CaseWhen(branches, otherwise):
            new = tuple((rewrite(when, visit), rewrite(then, visit)) for when, then in branches)
            return replace(expr, branches=new, otherwise=rewrite(otherwise, visit))
        case StructValue(fields):
            return StructValue(tuple((name, rewrite(value, visit)) for name, value in fields))
        case AggregateCall(arg=arg) if arg is not None:
            return replace(expr, arg=rewrite(arg, visit))
    return expr


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it."""
    yield expr
    for child in children(expr):
        yield from walk(child)
