"""Numbers that keep the digits of their JSON record: expressions over columns with the type NUMBER.

A NUMBER is computed with as a DOUBLE: a Convert makes one of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce

from lsql_runner.bind.expr import CaseWhen, ColumnRef, Convert, Expr, FunctionCall, StructValue, rewrite
from lsql_runner.plan.columns import ColumnTypes, type_at
from lsql_runner.plan.number_types import has_numbers, with_numbers
from lsql_runner.types import DataType, Struct

_RETURN_AN_ARGUMENT = ("COALESCE", "AS_NULLABLE", "AS_NON_NULLABLE")
"""Functions whose result is one of their arguments."""


def passed_numbers(expr: Expr, kind: DataType) -> Iterator[tuple[ColumnRef, DataType]]:
    """The columns whose numbers an expression passes on without computing with them, each with its type.

    Args:
        expr: the expression.
        kind: its type, with NUMBER where a number is to keep its digits.
    """
    if not has_numbers(kind):
        return
    match expr:
        case ColumnRef():
            yield expr, kind
        case StructValue(fields) if isinstance(kind, Struct):
            types = {member.name: member.type for member in kind.fields}
            for name, value in fields:
                yield from passed_numbers(value, types[name])
        case CaseWhen(branches, otherwise):
            for value in (*(value for _, value in branches), otherwise):
                yield from passed_numbers(value, kind)
        case FunctionCall(function=function, args=args) if function in _RETURN_AN_ARGUMENT:
            for arg in args:
                yield from passed_numbers(arg, kind)


def passing_on(expr: Expr, columns: ColumnTypes) -> Expr:
    """The expression over columns that may have NUMBER, with the NUMBERs that it passes on in its type."""
    match expr:
        case ColumnRef():
            return _reference(expr, columns)
        case StructValue(fields):
            return StructValue(tuple((name, passing_on(value, columns)) for name, value in fields))
        case CaseWhen(branches, otherwise):
            (*values, last), kind = _alike(expr.type, [*(value for _, value in branches), otherwise], columns)
            whens = [computing(when, columns) for when, _ in branches]
            return CaseWhen(tuple(zip(whens, values, strict=True)), last, kind)
        case FunctionCall(function=function, args=args) if function in _RETURN_AN_ARGUMENT:
            new, kind = _alike(expr.type, args, columns)
            return replace(expr, args=tuple(new), type=kind)
    return computing(expr, columns)


def _alike(kind: DataType, values: Iterable[Expr], columns: ColumnTypes) -> tuple[list[Expr], DataType]:
    """The values that an expression of type `kind` may return, with the NUMBERs that any of them has, and that type."""
    new = [passing_on(value, columns) for value in values]
    common = reduce(with_numbers, (value.type for value in new), kind)
    return [_keep_numbers(value, common) for value in new], common


def _keep_numbers(expr: Expr, numbers: DataType) -> Expr:
    kind = with_numbers(expr.type, numbers)
    return expr if kind == expr.type else Convert(expr, kind)


def computing(expr: Expr, columns: ColumnTypes) -> Expr:
    """The expression over columns that may have NUMBER, with the same type and result as over DOUBLE."""

    def visit(part: Expr) -> Expr | None:
        if not isinstance(part, ColumnRef):
            return None
        reference = _reference(part, columns)
        return reference if reference == part else Convert(reference, part.type)

    return rewrite(expr, visit)


def _reference(ref: ColumnRef, columns: ColumnTypes) -> ColumnRef:
    kind = type_at(columns[ref.name], ref.path)
    assert kind is not None
    return replace(ref, type=kind)
