"""Calls of functions and aggregates."""

from __future__ import annotations

from collections.abc import Mapping

from lsql_runner.bind import operators
from lsql_runner.bind.casts import instead_of
from lsql_runner.bind.expr import AggregateCall, Const, Expr, FunctionCall, HeaderValue, RandomBits
from lsql_runner.bind.functions.expected import EXPECTED_ARGUMENT
from lsql_runner.bind.functions.lowering import cast_to_result
from lsql_runner.bind.functions.match import Mismatch, match
from lsql_runner.bind.functions.spec import AggregateFunction, Function
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, near_names
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.scope import Scope
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import LONG, SCALARS, DataType, describe


def find_row(expr: ast.Call, own: Mapping[str, Function]) -> Function | AggregateFunction:
    """The row of the function table for a call. MAX and MIN are aggregates with one argument, functions with several.

    Args:
        expr: the call.
        own: the user-defined functions, by name.

    Raises:
        LsqlError: FUNCTION_UNKNOWN.
    """
    name = expr.name.upper()
    if name in AGGREGATES and (len(expr.args) <= 1 or name not in FUNCTIONS):
        return AGGREGATES[name]
    row = FUNCTIONS.get(name) or own.get(name)
    if row is None:
        near = ", ".join(near_names(name, own)) or "none"
        raise LsqlError("FUNCTION_UNKNOWN", expr.span, name=expr.name, near=near)
    return row


def _convert_arguments(
    expr: ast.Call, row: Function | AggregateFunction, args: list[Expr]
) -> tuple[tuple[Expr, ...], DataType]:
    """The arguments, converted to the types of the signature, and the type of the result."""
    literals = [arg.value if isinstance(arg, Const) else None for arg in args]
    result = match(row.signature, [arg.type for arg in args], literals)
    if isinstance(result, Mismatch):
        if result.position is None:
            raise LsqlError("ARGUMENT_COUNT", expr.span, function=row.name, found=len(args), signature=_signatures(row))
        raise LsqlError(
            "ARGUMENT_TYPE",
            expr.args[result.position].span,
            function=row.name,
            position=result.position + 1,
            found=describe(args[result.position].type),
            expected=result.expected,
            instead=instead_of(args[result.position].type, result.targets),
        )
    for position, arg in enumerate(args):
        parameter = row.signature.parameter(position)
        if parameter.constant and not isinstance(arg, Const):
            raise LsqlError(
                "ARGUMENT_NOT_CONSTANT",
                expr.args[position].span,
                function=row.name,
                position=position + 1,
                expected=parameter.kind,
            )
    _check_literals(expr, row, args)
    converted = tuple(operators.convert(arg, kind) for arg, kind in zip(args, result.arguments, strict=True))
    return converted, result.result


def _signatures(row: Function | AggregateFunction) -> str:
    variants = row.variants if isinstance(row, Function) else ()
    return " or ".join(each.signature.text for each in (row, *variants))


def _check_literals(expr: ast.Call, row: Function | AggregateFunction, args: list[Expr]) -> None:
    """Check the values of literal arguments (a pattern, a JSON path, a limit) before the program runs."""
    names = [parameter.name for parameter in row.signature.parameters]
    for constraint in row.constraints:
        position = names.index(constraint.parameter)
        arg = args[position] if position < len(args) else None
        is_text = row.signature.parameters[position].kind == "string"
        if not isinstance(arg, Const) or (is_text and not isinstance(arg.value, str)):
            continue
        text = "NULL" if arg.value is None else str(arg.value)
        if not constraint.allows(text):
            raise _argument_value(expr, row, position, text, constraint.expected)
    if row.signature.result == "array<struct>":
        _check_field_names(expr, row, args)


def _check_field_names(expr: ast.Call, row: Function | AggregateFunction, args: list[Expr]) -> None:
    """Check that the literals that name fields are different names."""
    known: set[str] = set()
    for position, arg in enumerate(args):
        if row.signature.parameter(position).constant and isinstance(arg, Const):
            name = "NULL" if arg.value is None else str(arg.value)
            if not arg.value or name in known:
                raise _argument_value(expr, row, position, name, EXPECTED_ARGUMENT("FIELD_NAME"))
            known.add(name)


def _argument_value(
    expr: ast.Call, row: Function | AggregateFunction, position: int, value: str, expected: Detail
) -> LsqlError:
    return LsqlError(
        "ARGUMENT_VALUE",
        expr.args[position].span,
        position=position + 1,
        function=row.name,
        found=value[:60],
        expected=expected,
    )


def function_call(expr: ast.Call, row: Function, arguments: list[Expr], scope: Scope | JoinScope) -> FunctionCall:
    """The typed call of a function.

    Args:
        expr: gives the spans for errors.
        row: the function, or its variant that matches the arguments.
        arguments: the typed arguments, without the defaults of optional parameters.
        scope: has the headers.

    Raises:
        LsqlError: ARGUMENT_*; HEADER_NOT_CONSTANT; FIELD_UNKNOWN if the source has no headers.
    """
    for position, argument in enumerate(expr.args[: len(row.signature.parameters)]):
        if row.signature.parameter(position).kind == "header" and not isinstance(argument, ast.StringLiteral):
            raise LsqlError("HEADER_NOT_CONSTANT", argument.span)
    args, result = _convert_arguments(expr, row, arguments)
    reads_headers = row.takes_headers or any(parameter.kind == "header" for parameter in row.signature.parameters)
    headers = [operators.headers(scope, expr.span)] if reads_headers else []
    defaults = tuple(
        operators.convert(operators.constant(p.default), SCALARS[p.kind])
        if p.kind in SCALARS
        else operators.constant(p.default)
        for p in row.signature.parameters[len(args) :]
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
        function=row.name,
        lowering=cast_to_result(row.lowering, result),
        args=(
            *(_value_of(arg, row, position, result) for position, arg in enumerate(args)),
            *defaults,
            *(RandomBits(number, expr.span) for number in range(row.random_bits)),
            *(headers if row.takes_headers else ()),
        ),
        type=result,
        nullable=nullable,
        nulls=row.nulls,
    )


def _value_of(arg: Expr, row: Function, position: int, result: DataType) -> Expr:
    """The argument; for the name of a header, its value in the type of the result."""
    if row.signature.parameter(position).kind != "header":
        return arg
    assert isinstance(arg, Const)
    return HeaderValue(str(arg.value), result)


def is_count_star(expr: ast.Call, row: AggregateFunction) -> bool:
    """Whether a call is COUNT(*)."""
    return row.name == "COUNT" and len(expr.args) == 1 and isinstance(expr.args[0], ast.Star)


COUNT_STAR = AggregateCall(function="COUNT", arg=None, type=LONG, nullable=False)


def aggregate_call(expr: ast.Call, row: AggregateFunction, arguments: list[Expr]) -> AggregateCall:
    """The typed call of an aggregate; as `function_call`."""
    args, result = _convert_arguments(expr, row, arguments)
    nullable = args[0].nullable and not row.never_null
    return AggregateCall(function=row.name, arg=args[0], type=result, nullable=nullable, limit=_limit(row, args))


def _limit(row: AggregateFunction, args: tuple[Expr, ...]) -> int | None:
    """The maximum number of values that an aggregate keeps; None for aggregates without a limit."""
    if len(row.signature.parameters) < 2:
        return None
    limit = args[1].value if len(args) > 1 and isinstance(args[1], Const) else row.signature.parameters[1].default
    assert isinstance(limit, int)
    return limit
