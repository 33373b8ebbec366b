"""Calls of functions and aggregates with bound arguments, and of headers."""

from __future__ import annotations

from lsql_runner.bind import operators
from lsql_runner.bind.expr import AggregateCall, Const, Convert, Expr, FunctionCall, HeaderValue
from lsql_runner.bind.functions.lowering import Native
from lsql_runner.bind.functions.match import Mismatch, match
from lsql_runner.bind.functions.spec import AggregateFunction, Function
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, near_names
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.scope import Scope
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import DOUBLE, INT, LONG, SCALARS, STRING, DataType, describe

_HEADER_FUNCTIONS: dict[str, DataType] = {
    "HEADERASSTRING": STRING,
    "HEADERASINT": INT,
    "HEADERASLONG": LONG,
    "HEADERASDOUBLE": DOUBLE,
}


def is_header_call(expr: ast.Call) -> bool:
    """Whether a call reads headers, which are not arguments."""
    return expr.name.upper() in _HEADER_FUNCTIONS or expr.name.upper() == "HEADERKEYS"


def called(expr: ast.Call) -> Function | AggregateFunction:
    """The row of what is called. A name that both have is an aggregate of one argument, and a function of several.

    Raises:
        LsqlError: FUNCTION_UNKNOWN.
    """
    name = expr.name.upper()
    if name in AGGREGATES and (len(expr.args) <= 1 or name not in FUNCTIONS):
        return AGGREGATES[name]
    if name not in FUNCTIONS:
        raise LsqlError("FUNCTION_UNKNOWN", expr.span, name=expr.name, near=", ".join(near_names(name)) or "none")
    return FUNCTIONS[name]


def _matched(expr: ast.Call, row: Function | AggregateFunction, args: list[Expr]) -> tuple[tuple[Expr, ...], DataType]:
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


def _signatures(row: Function | AggregateFunction) -> str:
    variants = row.variants if isinstance(row, Function) else ()
    return " or ".join(each.signature.text for each in (row, *variants))


def _check_forms(expr: ast.Call, row: Function | AggregateFunction, args: list[Expr]) -> None:
    """Check literals that must have a form (a pattern, a JSON path, a limit) before any record is read."""
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


def function_call(expr: ast.Call, row: Function, arguments: list[Expr]) -> FunctionCall:
    """The call of a function.

    Args:
        expr: the call, for places.
        row: the variant that takes the arguments.
        arguments: as they are written, bound.

    Raises:
        LsqlError: ARGUMENT_*.
    """
    args, result = _matched(expr, row, arguments)
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
    return FunctionCall(
        function=row.name, lowering=row.lowering, args=args + defaults, type=result, nullable=nullable, nulls=row.nulls
    )


def is_count_of_rows(expr: ast.Call, row: AggregateFunction) -> bool:
    """Whether it is COUNT(*)."""
    return row.name == "COUNT" and len(expr.args) == 1 and isinstance(expr.args[0], ast.Star)


COUNT_OF_ROWS = AggregateCall(function="COUNT", arg=None, type=LONG, nullable=False)


def aggregate_call(expr: ast.Call, row: AggregateFunction, arguments: list[Expr]) -> AggregateCall:
    """The call of an aggregate; as `function_call`."""
    args, result = _matched(expr, row, arguments)
    nullable = args[0].nullable and not row.never_null
    return AggregateCall(function=row.name, arg=args[0], type=result, nullable=nullable, limit=_limit(row, args))


def _limit(row: AggregateFunction, args: tuple[Expr, ...]) -> int | None:
    """How many values an aggregate keeps; None for aggregates without a limit."""
    if len(row.signature.parameters) < 2:
        return None
    found = args[1].value if len(args) > 1 and isinstance(args[1], Const) else row.signature.parameters[1].default
    assert isinstance(found, int)
    return found


def header_call(expr: ast.Call, scope: Scope | JoinScope) -> Expr:
    """The value of a header, or the names of all.

    Raises:
        LsqlError: ARGUMENT_COUNT, HEADER_NOT_CONSTANT, FIELD_UNKNOWN.
    """
    name = expr.name.upper()
    if name == "HEADERKEYS":
        if expr.args:
            raise LsqlError("ARGUMENT_COUNT", expr.span, function=name, found=len(expr.args), signature="HEADERKEYS()")
        headers = operators.headers(scope, expr.span)
        return FunctionCall(
            function=name, lowering=Native("header_keys", ()), args=(headers,), type=operators.STRINGS, nullable=False
        )
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
    operators.headers(scope, expr.span)
    kind = _HEADER_FUNCTIONS[name]
    text = Convert(HeaderValue(arg.value), STRING)
    return (
        text
        if kind == STRING
        else FunctionCall(
            function=name,
            lowering=operators.HEADER_NUMBERS[kind],
            args=(HeaderValue(arg.value),),
            type=kind,
            nullable=True,
        )
    )
