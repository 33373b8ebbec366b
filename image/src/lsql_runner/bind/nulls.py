"""Which expressions may be null, and what conditions tell about it."""

from __future__ import annotations

from functools import reduce

from lsql_runner.bind.bound import Fields, Part, UnnamedValue
from lsql_runner.bind.expr import (
    AggregateCall,
    CaseWhen,
    ColumnRef,
    Const,
    Convert,
    Expr,
    FunctionCall,
    HeaderValue,
    OperatorCall,
    StructValue,
)
from lsql_runner.bind.functions.table import AGGREGATES
from lsql_runner.types import DataType, Field, Struct

_PRESENCE = ("IS NULL", "IS NOT NULL")
_SAYS_NULL = ("IS NULL", "ISNULL")
_SAYS_NOT_NULL = ("IS NOT NULL", "ISNOTNULL", "EXISTS")


def null_source(expr: Expr) -> Expr | None:
    """The part because of which an expression may be null; None if there is none, or only undeclared fields."""
    match expr:
        case ColumnRef():
            return expr if expr.nullable and not expr.exempt else None
        case Const(value):
            return expr if value is None else None
        case HeaderValue():
            return expr
        case OperatorCall(op=op, args=args):
            return None if op in _PRESENCE else _first_source(args)
        case Convert(operand):
            return null_source(operand)
        case CaseWhen(branches, otherwise):
            source = _first_source((*(value for _, value in branches), otherwise))
            return expr if isinstance(source, Const) else source
        case AggregateCall(arg=arg) if expr.nullable and arg is not None:
            return null_source(arg)
        case FunctionCall(args=args, nulls=nulls):
            if nulls in ("sometimes", "always"):
                return expr
            if nulls == "custom" and any(null_source(arg) is None for arg in args):
                return None
            return None if nulls == "never" else _first_source(args)
    return None


def _first_source(exprs: tuple[Expr, ...]) -> Expr | None:
    return next((found for expr in exprs if (found := null_source(expr)) is not None), None)


def may_come_out_null(expr: Expr) -> bool:
    """Whether it may be null for some record, including records without a key or value."""
    match expr:
        case ColumnRef():
            return not expr.present
        case Const(value):
            return value is None
        case HeaderValue():
            return True
        case OperatorCall(op=op, args=args):
            return op not in _PRESENCE and any(may_come_out_null(arg) for arg in args)
        case Convert(operand):
            return may_come_out_null(operand)
        case CaseWhen(branches, otherwise):
            return any(may_come_out_null(value) for value in (*(value for _, value in branches), otherwise))
        case AggregateCall(function=function):
            return not AGGREGATES[function].never_null
        case FunctionCall(args=args, nulls=nulls):
            if nulls in ("sometimes", "always"):
                return True
            found = [may_come_out_null(arg) for arg in args]
            return nulls != "never" and (all(found) if nulls == "custom" else any(found))
    return False


def written_type(part: Part, kind: DataType) -> DataType:
    """The type of a part as it is written: tombstones make null what no record has null.

    Args:
        part: of the output.
        kind: the type that its expressions have.
    """
    match part:
        case UnnamedValue(expr):
            return _written(expr)
        case Fields(fields) if isinstance(kind, Struct):
            new = {name: Field(name, _written(expr), may_come_out_null(expr)) for name, expr in fields}
            return Struct(tuple(new.get(f.name, f) for f in kind.fields))
    return kind


def _written(expr: Expr) -> DataType:
    if isinstance(expr, StructValue):
        return Struct(tuple(Field(name, _written(value), may_come_out_null(value)) for name, value in expr.fields))
    return expr.type


def named(expr: Expr) -> str:
    """The name of a part that may be null, close to how the program writes it."""
    match expr:
        case ColumnRef(column, path):
            steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
            if column == "value":
                return steps.removeprefix(".") or "_value"
            return ("_key" if column == "key" else column.removeprefix("lateral_")) + steps
        case HeaderValue(name):
            return f"_header.{name}"
        case FunctionCall(function=function, lowering=_, args=args):
            return f"{function}({', '.join(named(arg) for arg in args)})"
        case Convert(operand):
            return named(operand)
        case Const(value):
            return "NULL" if value is None else str(value)
        case CaseWhen():
            return "CASE ... END"
    return "..."


def known_by(condition: Expr, holds: bool) -> frozenset[ColumnRef]:
    """The fields that are not null where a condition is true, or where it is not (false or null)."""
    match condition:
        case OperatorCall("IS NULL" | "IS NOT NULL" as op, (operand,)):
            return _known(op, operand, holds)
        case FunctionCall(function=function, lowering=_, args=(operand,)):
            return _known(function, operand, holds)
        case Convert(operand):
            return known_by(operand, holds)
        case OperatorCall("NOT", (operand,)) if holds or not may_come_out_null(operand):
            return known_by(operand, not holds)
        case OperatorCall("AND" | "OR" as op, args):
            each = [known_by(arg, holds) for arg in args]
            return frozenset().union(*each) if (op == "AND") == holds else reduce(frozenset.intersection, each)
    return frozenset()


def _known(says: str, operand: Expr, holds: bool) -> frozenset[ColumnRef]:
    tells = says in (_SAYS_NOT_NULL if holds else _SAYS_NULL)
    return frozenset({operand}) if tells and isinstance(operand, ColumnRef) else frozenset()
