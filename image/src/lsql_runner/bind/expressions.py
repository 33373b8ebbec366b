"""AST to typed expressions: names through the Scope, calls through the function table, every conversion explicit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

from lsql_runner.bind import calls, operators
from lsql_runner.bind.expr import CaseWhen, ColumnRef, Const, Expr, OperatorCall
from lsql_runner.bind.functions.match import choose
from lsql_runner.bind.functions.spec import AggregateFunction, Function
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.nulls import known_by, named, null_source
from lsql_runner.bind.scope import Scope
from lsql_runner.bind.type_names import type_named
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import (
    BOOLEAN,
    DOUBLE,
    INT,
    LONG,
    NULL,
    STRING,
    DataType,
    Decimal,
    common_type,
    describe,
)


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds the expressions of one SELECT.

    Attributes:
        scope: what names mean.
        decimal: what a bare `decimal` is.
        aggregates_in: the clause, when aggregates may not stand in it; None where they may.
        strict: whether operators and functions refuse what may be null (the modern rule), or are null then (the legacy
            one).
    """

    scope: Scope | JoinScope
    decimal: Decimal = Decimal()
    aggregates_in: str | None = None
    strict: bool = False

    def knowing(self, known: frozenset[ColumnRef]) -> Binder:
        """The same where these fields are known not to be null."""
        return replace(self, scope=self.scope.knowing(known))

    def operand(self, expr: ast.Expression, op: str) -> Expr:
        """The typed operand of an operator.

        Raises:
            LsqlError: as `bind`.
        """
        bound = self.bind(expr)
        self.refuse_null(bound, op, expr.span)
        return bound

    def refuse_null(self, operand: Expr, op: str, span: Span) -> None:
        """Refuse an operand that may be null, where the rules do.

        Raises:
            LsqlError: NULL_OPERAND, with the field that may be null; NULL_LITERAL.
        """
        source = null_source(operand) if self.strict else None
        if isinstance(source, Const):
            raise LsqlError("NULL_LITERAL", span, op=op)
        if source is not None:
            raise LsqlError("NULL_OPERAND", span, op=op, field=named(source))

    def bind(self, expr: ast.Expression) -> Expr:
        """The typed expression.

        Raises:
            LsqlError: FIELD_*, FUNCTION_UNKNOWN, ARGUMENT_*, OPERATOR_TYPES, OPERAND_TYPE, NULL_*, TYPE_UNKNOWN,
                CAST_IMPOSSIBLE, AGGREGATE_MISPLACED,
                STAR_MISPLACED, HEADER_NOT_CONSTANT, NUMBER_INVALID; each at its place.
        """
        return _bind(expr, self)

    def condition(self, expr: ast.Expression, clause: str) -> Expr:
        """A boolean expression for WHERE, WHEN, AND ...

        Raises:
            LsqlError: CONDITION_TYPE when it is something else.
        """
        bound = self.bind(expr)
        if bound.type not in (BOOLEAN, NULL):
            raise LsqlError("CONDITION_TYPE", expr.span, clause=clause, found=describe(bound.type))
        return operators.convert(bound, BOOLEAN)


@singledispatch
def _bind(expr: ast.Expression, binder: Binder) -> Expr:
    raise TypeError(f"no such expression: {type(expr).__name__}")


# --- leaves ---


@_bind.register
def _path(expr: ast.NamePath, binder: Binder) -> Expr:
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
        binder.refuse_null(operand, "NOT", expr.operand.span)
        return OperatorCall("NOT", (operand,), BOOLEAN, operand.nullable)
    return operators.negate(binder.operand(expr.operand, "-"), expr.operand.span)


@_bind.register
def _binary(expr: ast.Binary, binder: Binder) -> Expr:
    left, right = binder.operand(expr.left, expr.op), binder.operand(expr.right, expr.op)
    return operators.binary(expr.op, left, right, expr.span)


@_bind.register
def _logical(expr: ast.Logical, binder: Binder) -> Expr:
    args: list[Expr] = []
    for operand in expr.operands:
        bound = binder.condition(operand, expr.op)
        binder.refuse_null(bound, expr.op, operand.span)
        binder = binder.knowing(known_by(bound, expr.op == "AND"))
        args.append(bound)
    return OperatorCall(expr.op, tuple(args), BOOLEAN, any(a.nullable for a in args))


@_bind.register
def _is_null(expr: ast.IsNull, binder: Binder) -> Expr:
    return OperatorCall("IS NOT NULL" if expr.negated else "IS NULL", (binder.bind(expr.operand),), BOOLEAN, False)


@_bind.register
def _between(expr: ast.Between, binder: Binder) -> Expr:
    operand, low_end, high_end = (binder.operand(part, "BETWEEN") for part in (expr.operand, expr.low, expr.high))
    low = operators.binary(">=", operand, low_end, expr.span)
    high = operators.binary("<=", operand, high_end, expr.span)
    return _negated(expr.negated, OperatorCall("AND", (low, high), BOOLEAN, low.nullable or high.nullable))


@_bind.register
def _in_list(expr: ast.InList, binder: Binder) -> Expr:
    bound = [binder.operand(part, "IN") for part in (expr.operand, *expr.items)]
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
    return _negated(expr.negated, OperatorCall("IN", args, BOOLEAN, any(a.nullable for a in args)))


@_bind.register
def _like(expr: ast.Like, binder: Binder) -> Expr:
    args = []
    for part in (expr.operand, expr.pattern):
        bound = binder.bind(part)
        if bound.type not in (STRING, NULL):
            raise LsqlError("OPERAND_TYPE", part.span, op="LIKE", expected="string", found=describe(bound.type))
        binder.refuse_null(bound, "LIKE", part.span)
        args.append(operators.convert(bound, STRING))
    return _negated(expr.negated, OperatorCall("LIKE", tuple(args), BOOLEAN, any(a.nullable for a in args)))


def _negated(negated: bool, condition: OperatorCall) -> Expr:
    return OperatorCall("NOT", (condition,), BOOLEAN, condition.nullable) if negated else condition


@_bind.register
def _case(expr: ast.CaseExpression, binder: Binder) -> Expr:
    conditions: list[Expr] = []
    values: list[Expr] = []
    for when, then in expr.branches:
        condition = _when(expr.operand, when, binder)
        conditions.append(condition)
        values.append(binder.knowing(known_by(condition, True)).bind(then))
        binder = binder.knowing(known_by(condition, False))
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
    return CaseWhen(tuple(zip(conditions, thens, strict=True)), otherwise, kind)


def _when(operand: ast.Expression | None, when: ast.Expression, binder: Binder) -> Expr:
    """The condition of a branch: what is written, or that the operand is equal to it."""
    if operand is None:
        return binder.condition(when, "WHEN")
    return operators.binary("=", binder.operand(operand, "CASE"), binder.operand(when, "CASE"), when.span)


@_bind.register
def _cast(expr: ast.Cast, binder: Binder) -> Expr:
    target = type_named(expr.target, binder.decimal)
    operand = binder.bind(expr.operand)
    if not operators.can_cast(operand.type, target):
        raise LsqlError("CAST_IMPOSSIBLE", expr.span, source=describe(operand.type), target=describe(target))
    return operators.convert(operand, target)


# --- calls ---


@_bind.register
def _call(expr: ast.Call, binder: Binder) -> Expr:
    if calls.is_header_call(expr):
        return calls.header_call(expr, binder.scope)
    row = calls.called(expr)
    return _aggregate(expr, row, binder) if isinstance(row, AggregateFunction) else _function(expr, row, binder)


def _function(expr: ast.Call, row: Function, binder: Binder) -> Expr:
    arguments = _arguments(expr, binder)
    row = choose(row, [argument.type for argument in arguments])
    call = calls.function_call(expr, row, arguments)
    if not row.takes_nulls:
        for argument, source in zip(arguments, expr.args, strict=True):
            binder.refuse_null(argument, row.name, source.span)
    return call


def _aggregate(expr: ast.Call, row: AggregateFunction, binder: Binder) -> Expr:
    if binder.aggregates_in is not None:
        raise LsqlError("AGGREGATE_MISPLACED", expr.span, function=row.name, clause=binder.aggregates_in)
    if calls.is_count_of_rows(expr, row):
        return calls.COUNT_OF_ROWS
    inner = replace(binder, aggregates_in=f"the argument of {row.name}")
    return calls.aggregate_call(expr, row, _arguments(expr, inner))


def _arguments(expr: ast.Call, binder: Binder) -> list[Expr]:
    bound: list[Expr] = []
    for argument in expr.args:
        if isinstance(argument, ast.Star):
            raise LsqlError("STAR_MISPLACED", argument.span)
        bound.append(binder.bind(argument))
    return bound
