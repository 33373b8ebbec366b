"""Calls of functions, aggregates and header functions."""

from __future__ import annotations

from lsql_runner.bind import operators
from lsql_runner.bind.casts import instead_of
from lsql_runner.bind.expr import AggregateCall, Const, Convert, Expr, FunctionCall, HeaderValue, RandomBits
from lsql_runner.bind.functions.expected import EXPECTED_ARGUMENT
from lsql_runner.bind.functions.lowering import Arg, native, typed
from lsql_runner.bind.functions.match import Mismatch, match
from lsql_runner.bind.functions.spec import AggregateFunction, Function
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, near_names
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.scope import Scope
from lsql_runner.errors import Detail, LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import DOUBLE, FLOAT, INT, LONG, SCALARS, STRING, DataType, describe

_HEADER_FUNCTIONS: dict[str, DataType] = {
    "HEADERASSTRING": STRING,
    "HEADERASINT": INT,
    "HEADERASLONG": LONG,
    "HEADERASFLOAT": FLOAT,
    "HEADERASDOUBLE": DOUBLE,
}


def is_header_call(expr: ast.Call) -> bool:
    """Whether a call reads headers. These functions are not in the function table."""
    return expr.name.upper() in _HEADER_FUNCTIONS or expr.name.upper() == "HEADERKEYS"


def find_row(expr: ast.Call) -> Function | AggregateFunction:
    """The row of the function table for a call. MAX and MIN are aggregates with one argument, functions with several.

    Raises:
        LsqlError: FUNCTION_UNKNOWN.
    """
    name = expr.name.upper()
    if name in AGGREGATES and (len(expr.args) <= 1 or name not in FUNCTIONS):
        return AGGREGATES[name]
    if name not in FUNCTIONS:
        raise LsqlError("FUNCTION_UNKNOWN", expr.span, name=expr.name, near=", ".join(near_names(name)) or "none")
    return FUNCTIONS[name]


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
    expr: ast.Call, row: Function | AggregateFunction, position: int, found: str, expected: Detail
) -> LsqlError:
    return LsqlError(
        "ARGUMENT_VALUE",
        expr.args[position].span,
        position=position + 1,
        function=row.name,
        found=found[:60],
        expected=expected,
    )


def function_call(expr: ast.Call, row: Function, arguments: list[Expr]) -> FunctionCall:
    """The typed call of a function.

    Args:
        expr: gives the spans for errors.
        row: the function, or its variant that matches the arguments.
        arguments: the typed arguments, without the defaults of optional parameters.

    Raises:
        LsqlError: ARGUMENT_*.
    """
    args, result = _convert_arguments(expr, row, arguments)
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
        lowering=typed(row.lowering, result),
        args=(*args, *defaults, *(RandomBits(number, expr.span) for number in range(row.random_bits))),
        type=result,
        nullable=nullable,
        nulls=row.nulls,
    )


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


def header_call(expr: ast.Call, scope: Scope | JoinScope) -> Expr:
    """The value of a header, or the names of all headers.

    Raises:
        LsqlError: ARGUMENT_COUNT, HEADER_NOT_CONSTANT, FIELD_UNKNOWN.
    """
    name = expr.name.upper()
    if name == "HEADERKEYS":
        if expr.args:
            raise LsqlError("ARGUMENT_COUNT", expr.span, function=name, found=len(expr.args), signature="HEADERKEYS()")
        headers = operators.headers(scope, expr.span)
        return FunctionCall(
            function=name,
            lowering=native("header_keys", Arg(0)),
            args=(headers,),
            type=operators.STRINGS,
            nullable=False,
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
    kind, value = _HEADER_FUNCTIONS[name], HeaderValue(arg.value)
    if kind == STRING:
        return Convert(value, STRING)
    lowering = operators.HEADER_NUMBERS[kind]
    return FunctionCall(function=name, lowering=lowering, args=(value,), type=kind, nullable=True)
