"""AST to typed expressions: names through the Scope, calls through the function table, every conversion explicit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from lsql_runner.bind import operators
from lsql_runner.bind.calls import bind_call
from lsql_runner.bind.expr import Choose, Const, Expr, Operation
from lsql_runner.bind.scope import Scope
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import (
    BOOLEAN,
    DOUBLE,
    INT,
    LONG,
    NULL,
    SCALARS,
    STRING,
    DataType,
    Decimal,
    common_type,
    describe,
)


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds the expressions of one SELECT.

    `aggregates_in` names the clause when aggregates may not stand in it; None where they may.
    """

    scope: Scope
    decimal: Decimal = Decimal()
    aggregates_in: str | None = None

    def bind(self, expr: ast.Expr) -> Expr:
        """The typed expression.

        Raises:
            LsqlError: FIELD_*, FUNCTION_UNKNOWN, ARGUMENT_*, OPERATOR_TYPES, OPERAND_TYPE, TYPE_UNKNOWN,
                CAST_IMPOSSIBLE, AGGREGATE_MISPLACED,
                STAR_MISPLACED, HEADER_NOT_CONSTANT, NUMBER_INVALID; each at its place.
        """
        return _bind(expr, self)

    def condition(self, expr: ast.Expr, clause: str) -> Expr:
        """A boolean expression for WHERE, WHEN, AND ...

        Raises:
            LsqlError: CONDITION_TYPE when it is something else.
        """
        bound = self.bind(expr)
        if bound.type not in (BOOLEAN, NULL):
            raise LsqlError("CONDITION_TYPE", expr.span, clause=clause, found=describe(bound.type))
        return operators.convert(bound, BOOLEAN)


@singledispatch
def _bind(expr: ast.Expr, binder: Binder) -> Expr:
    raise TypeError(f"no such expression: {type(expr).__name__}")


# --- leaves ---


@_bind.register
def _path(expr: ast.Path, binder: Binder) -> Expr:
    return binder.scope.resolve(expr)


@_bind.register
def _string(expr: ast.StringLiteral, _: Binder) -> Expr:
    return Const(expr.value, STRING)


@_bind.register
def _number(expr: ast.NumberLiteral, _: Binder) -> Expr:
    if not expr.text.isdigit():
        value = float(expr.text)
        if value in (float("inf"), float("-inf")):
            raise LsqlError("NUMBER_INVALID", expr.span, found=expr.text[:30])
        return Const(value, DOUBLE)
    if len(expr.text) > 19 or int(expr.text) > 2**63 - 1:
        raise LsqlError("NUMBER_INVALID", expr.span, found=expr.text[:30])
    return Const(int(expr.text), INT if int(expr.text) < 2**31 else LONG)


@_bind.register
def _boolean(expr: ast.BooleanLiteral, _: Binder) -> Expr:
    return Const(expr.value, BOOLEAN)


@_bind.register
def _null(expr: ast.NullLiteral, _: Binder) -> Expr:
    return Const(None, NULL)


@_bind.register
def _duration(expr: ast.DurationLiteral, _: Binder) -> Expr:
    return Const(expr.milliseconds, operators.DURATION)


# --- operators ---


@_bind.register
def _unary(expr: ast.Unary, binder: Binder) -> Expr:
    if expr.op == "NOT":
        operand = binder.condition(expr.operand, "NOT")
        return Operation("NOT", (operand,), BOOLEAN, operand.nullable)
    return operators.negate(binder.bind(expr.operand), expr.operand.span)


@_bind.register
def _binary(expr: ast.Binary, binder: Binder) -> Expr:
    return operators.binary(expr.op, binder.bind(expr.left), binder.bind(expr.right), expr.span)


@_bind.register
def _logical(expr: ast.Logical, binder: Binder) -> Expr:
    args = tuple(binder.condition(operand, expr.op) for operand in expr.operands)
    return Operation(expr.op, args, BOOLEAN, any(a.nullable for a in args))


@_bind.register
def _is_null(expr: ast.IsNull, binder: Binder) -> Expr:
    return Operation("IS NOT NULL" if expr.negated else "IS NULL", (binder.bind(expr.operand),), BOOLEAN, False)


@_bind.register
def _between(expr: ast.Between, binder: Binder) -> Expr:
    operand = binder.bind(expr.operand)
    low = operators.binary(">=", operand, binder.bind(expr.low), expr.span)
    high = operators.binary("<=", operand, binder.bind(expr.high), expr.span)
    return _negated(expr.negated, Operation("AND", (low, high), BOOLEAN, low.nullable or high.nullable))


@_bind.register
def _in_list(expr: ast.InList, binder: Binder) -> Expr:
    bound = [binder.bind(part) for part in (expr.operand, *expr.items)]
    kind = bound[0].type
    for part, source in zip(bound[1:], expr.items, strict=True):
        common = common_type(kind, part.type)
        if common is None:
            raise LsqlError(
                "OPERATOR_TYPES",
                source.span,
                op="IN",
                left=describe(kind),
                right=describe(part.type),
                example=describe(kind),
            )
        kind = common
    args = tuple(operators.convert(part, kind) for part in bound)
    return _negated(expr.negated, Operation("IN", args, BOOLEAN, any(a.nullable for a in args)))


@_bind.register
def _like(expr: ast.Like, binder: Binder) -> Expr:
    args = []
    for part in (expr.operand, expr.pattern):
        bound = binder.bind(part)
        if bound.type not in (STRING, NULL):
            raise LsqlError("OPERAND_TYPE", part.span, op="LIKE", expected="string", found=describe(bound.type))
        args.append(operators.convert(bound, STRING))
    return _negated(expr.negated, Operation("LIKE", tuple(args), BOOLEAN, any(a.nullable for a in args)))


def _negated(negated: bool, condition: Operation) -> Expr:
    return Operation("NOT", (condition,), BOOLEAN, condition.nullable) if negated else condition


@_bind.register
def _case(expr: ast.Case, binder: Binder) -> Expr:
    conditions: list[Expr] = []
    for when, _ in expr.branches:
        if expr.operand is None:
            conditions.append(binder.condition(when, "WHEN"))
        else:
            conditions.append(operators.binary("=", binder.bind(expr.operand), binder.bind(when), when.span))
    values = [binder.bind(then) for _, then in expr.branches]
    values.append(Const(None, NULL) if expr.otherwise is None else binder.bind(expr.otherwise))
    places = [
        *(then.span for _, then in expr.branches),
        expr.span if expr.otherwise is None else expr.otherwise.span,
    ]
    kind: DataType = NULL
    for value, span in zip(values, places, strict=True):
        common = common_type(kind, value.type)
        if common is None:
            raise LsqlError(
                "OPERATOR_TYPES",
                span,
                op="CASE",
                left=describe(kind),
                right=describe(value.type),
                example=describe(kind),
            )
        kind = common
    *thens, otherwise = (operators.convert(value, kind) for value in values)
    return Choose(tuple(zip(conditions, thens, strict=True)), otherwise, kind)


@_bind.register
def _cast(expr: ast.Cast, binder: Binder) -> Expr:
    target = type_named(expr.target, binder.decimal)
    operand = binder.bind(expr.operand)
    if not operators.can_cast(operand.type, target):
        raise LsqlError("CAST_IMPOSSIBLE", expr.span, source=describe(operand.type), target=describe(target))
    return operators.convert(operand, target)


def type_named(name: ast.TypeName, decimal: Decimal) -> DataType:
    """The type that a name stands for; `decimal` is what a bare `decimal` is.

    Raises:
        LsqlError: TYPE_UNKNOWN.
    """
    if name.name == "decimal":
        if not name.parameters:
            return decimal
        precision, scale = name.parameters[0], name.parameters[1] if len(name.parameters) > 1 else 0
        if len(name.parameters) <= 2 and 1 <= precision <= 38 and scale <= precision:
            return Decimal(precision, scale)
    found = SCALARS.get(
        {"integer": "int", "bigint": "long", "varchar": "string", "bool": "boolean"}.get(name.name, name.name)
    )
    if found is None or name.parameters:
        raise LsqlError("TYPE_UNKNOWN", name.span, name=name.name, known=", ".join([*SCALARS, "decimal(p,s)"]))
    return found


# --- calls ---


@_bind.register
def _call(expr: ast.Call, binder: Binder) -> Expr:
    return bind_call(binder, expr)
