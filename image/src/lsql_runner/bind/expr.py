"""Typed expressions: all names are resolved and all conversions explicit. The engine compiles them to columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace

from lsql_runner.bind.functions.lowering import Lowering
from lsql_runner.bind.functions.spec import Nulls
from lsql_runner.spans import Span
from lsql_runner.types import LONG, DataType, Field, Struct

ScalarValue = str | int | float | bool | None


def source_column(column: str, source: int) -> str:
    """The name of a column of source n in the result of a join."""
    return f"{column}_{source}"


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the input, or a field inside it. A path has names in structs and maps, and indexes in arrays."""

    column: str
    path: tuple[str | int, ...]
    type: DataType
    source: int | None = None
    """In a SELECT with joins, the source of the FROM that has the column, counted from 0; else None."""
    _: KW_ONLY
    nullable: bool = field(default=True, compare=False)
    """Whether it can be NULL in a record that has a key and a value."""
    undeclared: bool = field(default=False, compare=False)
    """Whether it is a field of a part in `Shape.undeclared`. Operators accept it although it can be NULL."""
    present: bool = field(default=False, compare=False)
    """Whether it is never NULL, not even in a tombstone."""

    @property
    def name(self) -> str:
        """The name of the column in the input."""
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
    """An operator: arithmetic, comparison, AND, OR, NOT, IS NULL, IN, LIKE, or NEG for a minus sign."""

    op: str
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class RandomBits:
    """64 bits that look random; the last arguments of a call of RANDINT() or UUID().

    Of a record they are the same each time that the record is processed, in an INSERT without state or below the first
    operator with state.
    """

    number: int
    """0 for the first of a call."""
    span: Span = field(compare=False)
    """The call in the program."""
    _: KW_ONLY
    call: int = 0
    """The number of the call in the program, which `plan.random_values` assigns."""

    @property
    def type(self) -> DataType:
        return LONG

    @property
    def nullable(self) -> bool:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A call of a scalar function."""

    function: str
    lowering: Lowering
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool
    nulls: Nulls = "propagate"

    @property
    def written_args(self) -> tuple[Expr, ...]:
        """The arguments in the program, and the defaults of those that it leaves out."""
        return tuple(arg for arg in self.args if not isinstance(arg, RandomBits) and not _is_headers(arg))


def _is_headers(arg: Expr) -> bool:
    return isinstance(arg, ColumnRef) and arg.column == "headers"


@dataclass(frozen=True, slots=True)
class Convert:
    """A type conversion. A long as a timestamp is milliseconds since 1970 UTC."""

    operand: Expr
    type: DataType

    @property
    def nullable(self) -> bool:
        return self.operand.nullable


@dataclass(frozen=True, slots=True)
class CaseWhen:
    """CASE: the value of the first branch whose condition is true."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr
    type: DataType

    @property
    def nullable(self) -> bool:
        return self.otherwise.nullable or any(value.nullable for _, value in self.branches)


@dataclass(frozen=True, slots=True)
class StructValue:
    """A struct whose fields are expressions."""

    fields: tuple[tuple[str, Expr], ...]

    @property
    def type(self) -> Struct:
        return Struct(tuple(Field(name, expr.type, expr.nullable) for name, expr in self.fields))

    @property
    def nullable(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class HeaderValue:
    """The last header called `name`; NULL if the record has no such header."""

    name: str
    type: DataType
    """STRING, INT, LONG, FLOAT or DOUBLE: the header has the bytes of Kafka's serializer of this type."""

    @property
    def nullable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateCall:
    """An aggregate over the records of a group; only in the SELECT list and HAVING of a grouped SELECT."""

    function: str
    arg: Expr | None
    """None for COUNT(*)."""
    type: DataType
    nullable: bool
    limit: int | None = None
    """The maximum number of values in the result, for aggregates that return an array."""


Expr = (
    ColumnRef
    | Const
    | RandomBits
    | OperatorCall
    | FunctionCall
    | Convert
    | CaseWhen
    | StructValue
    | HeaderValue
    | AggregateCall
)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of an expression."""
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
    """The expression with some subexpressions replaced.

    Args:
        visit: returns the replacement of a subexpression, or None to continue with its operands.
    """
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
    """The expression and all its subexpressions."""
    yield expr
    for child in children(expr):
        yield from walk(child)
