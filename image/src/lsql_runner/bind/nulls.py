"""Whether expressions can be NULL, and which fields a condition excludes from being NULL."""

from __future__ import annotations

from functools import reduce

from lsql_runner.bind.bound import Fields, Part, Shape, Unchanged, UnnamedValue
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
    walk,
)
from lsql_runner.bind.functions.table import AGGREGATES
from lsql_runner.types import Array, DataType, Field, Map, Struct

_PRESENCE = ("IS NULL", "IS NOT NULL")
_TESTS_NULL = ("IS NULL", "ISNULL")
_TESTS_NOT_NULL = ("IS NOT NULL", "ISNOTNULL", "EXISTS")


def null_source(expr: Expr) -> Expr | None:
    """The subexpression that can make an expression NULL; None if only undeclared fields or nothing can."""
    match expr:
        case ColumnRef():
            return expr if expr.nullable and not expr.undeclared else None
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
    return next((source for expr in exprs if (source := null_source(expr)) is not None), None)


def is_undeclared(expr: Expr) -> bool:
    """Whether operators accept an expression, or a part of it, although it can be NULL.

    This is so if only fields of JSON that LSQL_TOPICS does not declare make it NULL.
    """
    if isinstance(expr.type, Struct | Array | Map):
        return any(isinstance(inner, ColumnRef) and inner.undeclared for inner in walk(expr))
    return expr.nullable and null_source(expr) is None


def undeclared_paths(source: Shape, key: Part, value: Part) -> frozenset[tuple[str, ...]]:
    """`Shape.undeclared` of a result.

    Args:
        source: the records of its source.
        key: the key of the result.
        value: the value of the result.
    """
    paths: set[tuple[str, ...]] = set()
    for column, part in (("key", key), ("value", value)):
        match part:
            case Unchanged():
                paths |= {path for path in source.undeclared if path[0] == column}
            case UnnamedValue(expr):
                paths |= _paths_in(expr, (column,))
            case Fields(fields, extends):
                paths |= _paths_in(StructValue(fields), (column,))
                if extends:
                    kind = (source.key if column == "key" else source.value).type
                    paths |= _kept_paths(source, (column,), kind, fields)
    return frozenset(paths)


def _kept_paths(
    source: Shape, path: tuple[str, ...], kind: DataType, fields: tuple[tuple[str, Expr], ...]
) -> set[tuple[str, ...]]:
    """The undeclared paths below a struct of the source, of type `kind`, after `fields` are set."""
    if not isinstance(kind, Struct):
        return set()
    below = {inner for inner in source.undeclared if inner[: len(path)] == path and len(inner) > len(path)}
    if source.is_undeclared(path[0], path[1:]):
        below |= {(*path, name) for name in kind.names}
    new = dict(fields)
    kept = {inner for inner in below if inner[len(path)] not in new}
    for name, expr in fields:
        member = kind.field(name)
        if isinstance(expr, StructValue) and member is not None:
            kept |= _kept_paths(source, (*path, name), member.type, expr.fields)
    return kept


def _paths_in(expr: Expr, path: tuple[str, ...]) -> set[tuple[str, ...]]:
    if isinstance(expr, StructValue):
        return {inner for name, value in expr.fields for inner in _paths_in(value, (*path, name))}
    return {path} if is_undeclared(expr) else set()


def can_be_null_in_output(expr: Expr) -> bool:
    """Whether an expression can be NULL for some record, including records without a key or value."""
    match expr:
        case ColumnRef():
            return not expr.present
        case Const(value):
            return value is None
        case HeaderValue():
            return True
        case OperatorCall(op=op, args=args):
            return op not in _PRESENCE and any(can_be_null_in_output(arg) for arg in args)
        case Convert(operand):
            return can_be_null_in_output(operand)
        case CaseWhen(branches, otherwise):
            return any(can_be_null_in_output(value) for value in (*(value for _, value in branches), otherwise))
        case AggregateCall(function=function):
            return not AGGREGATES[function].never_null
        case FunctionCall(args=args, nulls=nulls):
            if nulls in ("sometimes", "always"):
                return True
            can_be_null = [can_be_null_in_output(arg) for arg in args]
            return nulls != "never" and (all(can_be_null) if nulls == "custom" else any(can_be_null))
    return False


def output_type(part: Part, kind: DataType) -> DataType:
    """The type with which a part of the output is written.

    A field of the input is NULL in a tombstone, even if it is never NULL in other records. Such fields are nullable in
    the output.

    Args:
        part: the part of the output.
        kind: its type without tombstones.
    """
    match part:
        case UnnamedValue(expr):
            return _output_type(expr, expr.type)
        case Fields(fields):
            return _output_type(StructValue(fields), kind)
    return kind


def _output_type(expr: Expr, kind: DataType) -> DataType:
    """The type of an expression in the output. A struct of type `kind` may have more fields than the expression."""
    match expr, kind:
        case StructValue(fields), Struct(all_fields):
            types = {f.name: f.type for f in all_fields}
            new = {
                name: Field(name, _output_type(value, types[name]), can_be_null_in_output(value))
                for name, value in fields
            }
            return Struct(tuple(new.get(f.name, f) for f in all_fields))
        case StructValue(), Map():  # entries of a map
            return kind
    return expr.type


def as_written(expr: Expr) -> str:
    """An expression for error messages, similar to the text of the program."""
    match expr:
        case ColumnRef(column, path):
            steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
            if column == "value":
                return steps.removeprefix(".") or "_value"
            return ("_key" if column == "key" else column.removeprefix("lateral_")) + steps
        case HeaderValue(name):
            return f"_header.{name}"
        case FunctionCall(function=function, lowering=_):
            args = (f"'{a.name}'" if isinstance(a, HeaderValue) else as_written(a) for a in expr.written_args)
            return f"{function}({', '.join(args)})"
        case Convert(operand):
            return as_written(operand)
        case Const(value):
            return "NULL" if value is None else str(value)
        case CaseWhen():
            return "CASE ... END"
    return "..."


def not_null_after(condition: Expr, holds: bool) -> frozenset[ColumnRef]:
    """The fields that are not NULL if a condition is true.

    Args:
        condition: the condition.
        holds: False asks for the fields that are not NULL if the condition is false or NULL.
    """
    match condition:
        case OperatorCall("IS NULL" | "IS NOT NULL" as op, (operand,)):
            return _not_null_columns(op, operand, holds)
        case FunctionCall(function=function, lowering=_, args=(operand,)):
            return _not_null_columns(function, operand, holds)
        case Convert(operand):
            return not_null_after(operand, holds)
        case OperatorCall("NOT", (operand,)) if holds or not can_be_null_in_output(operand):
            return not_null_after(operand, not holds)
        case OperatorCall("AND" | "OR" as op, args):
            each = [not_null_after(arg, holds) for arg in args]
            return frozenset().union(*each) if (op == "AND") == holds else reduce(frozenset.intersection, each)
    return frozenset()


def _not_null_columns(test: str, operand: Expr, holds: bool) -> frozenset[ColumnRef]:
    excludes_null = test in (_TESTS_NOT_NULL if holds else _TESTS_NULL)
    return frozenset({operand}) if excludes_null and isinstance(operand, ColumnRef) else frozenset()
