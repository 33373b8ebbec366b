"""Calls: functions and aggregates through their table, headers by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lsql_runner.bind import operators
from lsql_runner.bind.expr import AggregateCall, Apply, Const, Convert, Expr, HeaderValue
from lsql_runner.bind.functions.lowering import Native
from lsql_runner.bind.functions.match import Mismatch, choose, match
from lsql_runner.bind.functions.spec import Aggregate, Function
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, near_names
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import DOUBLE, INT, LONG, SCALARS, STRING, DataType, describe

if TYPE_CHECKING:
    from lsql_runner.bind.expressions import Binder

_HEADER_FUNCTIONS: dict[str, DataType] = {
    "HEADERASSTRING": STRING,
    "HEADERASINT": INT,
    "HEADERASLONG": LONG,
    "HEADERASDOUBLE": DOUBLE,
}


def bind_call(binder: Binder, expr: ast.Call) -> Expr:
    """A function, an aggregate or a header's value.

    Raises:
        LsqlError: FUNCTION_UNKNOWN, ARGUMENT_*, AGGREGATE_MISPLACED, STAR_MISPLACED, HEADER_NOT_CONSTANT.
    """
    name = expr.name.upper()
    if name in _HEADER_FUNCTIONS or name == "HEADERKEYS":
        return _header_call(binder, expr, name)
    one_argument = len(expr.args) <= 1
    if name in AGGREGATES and (one_argument or name not in FUNCTIONS):
        return _aggregate(binder, expr, AGGREGATES[name])
    if name not in FUNCTIONS:
        raise LsqlError("FUNCTION_UNKNOWN", expr.span, name=expr.name, near=", ".join(near_names(name)) or "none")
    return _scalar(binder, expr, FUNCTIONS[name])


def _arguments(binder: Binder, expr: ast.Call) -> list[Expr]:
    bound: list[Expr] = []
    for arg in expr.args:
        if isinstance(arg, ast.Star):
            raise LsqlError("STAR_MISPLACED", arg.span)
        bound.append(binder.bind(arg))
    return bound


def _matched(expr: ast.Call, row: Function | Aggregate, args: list[Expr]) -> tuple[tuple[Expr, ...], DataType]:
    found = match(row.signature, [arg.type for arg in args])
    if isinstance(found, Mismatch):
        if found.position is None:
            raise LsqlError("ARGUMENT_COUNT", expr.span, function=row.name, found=len(args), signature=_signatures(row))
        place = expr.args[found.position].span
        given = describe(args[found.position].type)
        raise LsqlError(
            "ARGUMENT_TYPE",
            place,
            function=row.name,
            position=found.position + 1,
            found=given,
            expected=found.expected,
            example=found.example,
        )
    for position, arg in enumerate(args):
        parameter = row.signature.parameter(position)
        if parameter.constant and not isinstance(arg, Const):
            place = expr.args[position].span
            raise LsqlError(
                "ARGUMENT_NOT_CONSTANT",
                place,
                function=row.name,
                position=position + 1,
                expected=parameter.kind,
            )
    _check_forms(expr, row, args)
    converted = tuple(operators.convert(arg, kind) for arg, kind in zip(args, found.arguments, strict=True))
    return converted, found.result


def _signatures(row: Function | Aggregate) -> str:
    variants = row.variants if isinstance(row, Function) else ()
    return " or ".join(each.signature.text for each in (row, *variants))


def _check_forms(expr: ast.Call, row: Function | Aggregate, args: list[Expr]) -> None:
    """Literals that must have a form (a pattern, a JSON path, a limit) are looked at now, not on a record."""
    names = [parameter.name for parameter in row.signature.parameters]
    for form in row.forms:
        position = names.index(form.parameter)
        arg = args[position] if position < len(args) else None
        is_text = row.signature.parameters[position].kind == "string"
        if not isinstance(arg, Const) or (is_text and not isinstance(arg.value, str)):
            continue
        text = "NULL" if arg.value is None else str(arg.value)
        if not form.fits(text):
            raise LsqlError(
                "ARGUMENT_VALUE",
                expr.args[position].span,
                position=position + 1,
                function=row.name,
                found=text[:60],
                expected=form.expected,
            )


def _scalar(binder: Binder, expr: ast.Call, row: Function) -> Expr:
    arguments = _arguments(binder, expr)
    row = choose(row, [arg.type for arg in arguments])
    args, result = _matched(expr, row, arguments)
    if not row.takes_nulls:
        for argument, source in zip(arguments, expr.args, strict=True):
            binder.refuse_null(argument, row.name, source.span)
    given = len(args)
    defaults = tuple(
        operators.convert(operators.constant(p.default), SCALARS[p.kind])
        if p.kind in SCALARS
        else operators.constant(p.default)
        for p in row.signature.parameters[given:]
        if p.optional
    )
    nullable = {
        "propagate": any(a.nullable for a in args),
        "sometimes": True,
        "never": False,
        "always": True,
        "custom": all(a.nullable for a in args),
    }[row.nulls]
    return Apply(row.name, row.lowering, args + defaults, result, nullable, row.nulls)


def _aggregate(binder: Binder, expr: ast.Call, row: Aggregate) -> Expr:
    if binder.aggregates_in is not None:
        raise LsqlError("AGGREGATE_MISPLACED", expr.span, function=row.name, clause=binder.aggregates_in)
    if row.name == "COUNT" and len(expr.args) == 1 and isinstance(expr.args[0], ast.Star):
        return AggregateCall("COUNT", None, LONG, nullable=False)
    inner = replace(binder, aggregates_in=f"the argument of {row.name}")
    args, result = _matched(expr, row, _arguments(inner, expr))
    return AggregateCall(row.name, args[0], result, args[0].nullable and not row.never_null, _limit(row, args))


def _limit(row: Aggregate, args: tuple[Expr, ...]) -> int | None:
    """How many values an aggregate keeps; None for those that are not asked."""
    if len(row.signature.parameters) < 2:
        return None
    found = args[1].value if len(args) > 1 and isinstance(args[1], Const) else row.signature.parameters[1].default
    assert isinstance(found, int)
    return found


def _header_call(binder: Binder, expr: ast.Call, name: str) -> Expr:
    if name == "HEADERKEYS":
        if expr.args:
            raise LsqlError("ARGUMENT_COUNT", expr.span, function=name, found=len(expr.args), signature="HEADERKEYS()")
        headers = operators.headers(binder.scope, expr.span)
        return Apply(name, Native("header_keys", ()), (headers,), operators.STRINGS, nullable=False)
    if len(expr.args) != 1:
        raise LsqlError(
            "ARGUMENT_COUNT",
            expr.span,
            function=name,
            found=len(expr.args),
            signature=f"{name}(name: string)",
        )
    arg = expr.args[0]
    if not isinstance(arg, ast.StringLiteral):
        raise LsqlError("HEADER_NOT_CONSTANT", arg.span)
    operators.headers(binder.scope, expr.span)
    kind = _HEADER_FUNCTIONS[name]
    text = Convert(HeaderValue(arg.value), STRING)
    return (
        text if kind == STRING else Apply(name, operators.HEADER_NUMBERS[kind], (HeaderValue(arg.value),), kind, True)
    )
