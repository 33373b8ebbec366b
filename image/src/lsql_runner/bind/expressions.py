"""AST to typed expressions: resolves names with the Scope and calls with the function table; adds all conversions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import singledispatch
from typing import TypeGuard

from lsql_runner.bind import calls, operators
from lsql_runner.bind.casts import INSTEAD, can_cast, instead_of
from lsql_runner.bind.expr import CaseWhen, ColumnRef, Const, Expr, FunctionCall, OperatorCall
from lsql_runner.bind.functions.lowering import Rest, native
from lsql_runner.bind.functions.match import choose
from lsql_runner.bind.functions.spec import AggregateFunction, Function
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.literals import AnyLiteral, bind_literal
from lsql_runner.bind.nulls import as_written, not_null_after, null_source
from lsql_runner.bind.scope import Scope
from lsql_runner.bind.type_names import type_named
from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import (
    BOOLEAN,
    JSON,
    NULL,
    STRING,
    Array,
    Decimal,
    describe,
)


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds the expressions of one SELECT.

    Attributes:
        scope: resolves names.
        decimal: the type `decimal` without precision and scale.
        clause_without_aggregates: the clause or function that the expressions are in, if it cannot contain aggregates.
        rejects_nulls: whether an operand that can be NULL is an error, as in the modern dialect. In the legacy
            dialect the result is NULL.
        functions: the user-defined functions, by name.
    """

    scope: Scope | JoinScope
    decimal: Decimal = Decimal()
    clause_without_aggregates: str | None = None
    rejects_nulls: bool = False
    _: KW_ONLY
    functions: Mapping[str, Function] = field(default_factory=dict)

    def with_not_null(self, known: frozenset[ColumnRef]) -> Binder:
        """A Binder that treats these fields as never NULL."""
        return replace(self, scope=self.scope.with_not_null(known))

    def operand(self, expr: ast.Expression, op: str) -> Expr:
        """The typed operand of an operator.

        Raises:
            LsqlError: as `bind`.
        """
        bound = self.bind(expr)
        self.refuse_null(bound, op, expr.span)
        return bound

    def refuse_null(self, operand: Expr, op: str, span: Span) -> None:
        """Check that an operand cannot be NULL, if `rejects_nulls`.

        Raises:
            LsqlError: NULL_OPERAND, with the field that can be NULL; NULL_LITERAL.
        """
        source = null_source(operand) if self.rejects_nulls else None
        if isinstance(source, Const):
            raise LsqlError("NULL_LITERAL", span, op=op)
        if source is not None:
            raise LsqlError("NULL_OPERAND", span, op=op, field=as_written(source))

    def bind(self, expr: ast.Expression) -> Expr:
        """The typed expression.

        Raises:
            LsqlError: FIELD_*, FUNCTION_UNKNOWN, ARGUMENT_*, OPERATOR_TYPES, OPERAND_TYPE, NULL_*, TYPE_UNKNOWN,
                CAST_IMPOSSIBLE, AGGREGATE_MISPLACED, STAR_MISPLACED, HEADER_NOT_CONSTANT, NUMBER_INVALID; each with
                the span of the subexpression.
        """
        bound = self.bind_unread(expr)
        if bound.type == JSON:
            raise LsqlError("FIELD_TYPE_UNKNOWN", expr.span, name=as_written(bound))
        return bound

    def bind_unread(self, expr: ast.Expression) -> Expr:
        """The typed expression for a place that does not read its value, so that it may have the type JSON.

        Raises:
            LsqlError: as `bind`, but not FIELD_TYPE_UNKNOWN for the expression itself.
        """
        return _bind(expr, self)

    def condition(self, expr: ast.Expression, clause: str) -> Expr:
        """A boolean expression, for example of WHERE, WHEN or AND.

        Raises:
            LsqlError: CONDITION_TYPE if it has another type; as `bind`.
        """
        bound = self.bind(expr)
        if bound.type not in (BOOLEAN, NULL):
            raise LsqlError("CONDITION_TYPE", expr.span, clause=clause, found=describe(bound.type))
        return operators.convert(bound, BOOLEAN)


@singledispatch
def _bind(expr: ast.Expression, binder: Binder) -> Expr:
    raise TypeError(f"no such expression: {type(expr).__name__}")


# --- names and literals ---


@_bind.register
def _path(expr: ast.NamePath, binder: Binder) -> Expr:
    return binder.scope.resolve(expr)


@_bind.register
def _literal(expr: AnyLiteral, _: Binder) -> Expr:
    return bind_literal(expr)


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
    try:
        return operators.binary(expr.op, left, right, expr.span)
    except LsqlError as error:
        quoted = next((part for part in (expr.left, expr.right) if _is_in_double_quotes(part)), None)
        if error.code != "OPERATOR_TYPES" or quoted is None:
            raise
        raise error.with_params(operand="text", instead=INSTEAD("FIELD_NAME", name=quoted.value)) from None


def _is_in_double_quotes(expr: ast.Expression) -> TypeGuard[ast.StringLiteral]:
    """Whether it is a text that other SQL reads as the name of a field."""
    return isinstance(expr, ast.StringLiteral) and expr.quote == '"'


@_bind.register
def _logical(expr: ast.Logical, binder: Binder) -> Expr:
    args: list[Expr] = []
    for operand in expr.operands:
        bound = binder.condition(operand, expr.op)
        binder.refuse_null(bound, expr.op, operand.span)
        binder = binder.with_not_null(not_null_after(bound, expr.op == "AND"))
        args.append(bound)
    return OperatorCall(expr.op, tuple(args), BOOLEAN, any(a.nullable for a in args))


@_bind.register
def _is_null(expr: ast.IsNull, binder: Binder) -> Expr:
    return OperatorCall(
        "IS NOT NULL" if expr.negated else "IS NULL", (binder.bind_unread(expr.operand),), BOOLEAN, False
    )


@_bind.register
def _between(expr: ast.Between, binder: Binder) -> Expr:
    operand, low_end, high_end = (binder.operand(part, "BETWEEN") for part in (expr.operand, expr.low, expr.high))
    low = operators.binary(">=", operand, low_end, expr.span)
    high = operators.binary("<=", operand, high_end, expr.span)
    return _negate_if(expr.negated, OperatorCall("AND", (low, high), BOOLEAN, low.nullable or high.nullable))


@_bind.register
def _array(expr: ast.ArrayLiteral, binder: Binder) -> Expr:
    items = [binder.bind(item) for item in expr.items]
    args = operators.to_common_type("[...]", items, [item.span for item in expr.items])
    element = STRING if args[0].type == NULL else args[0].type
    array = tuple(operators.convert(arg, element) for arg in args)
    return FunctionCall(
        function="ARRAY",
        lowering=native("array", Rest()),
        args=array,
        type=Array(element),
        nullable=False,
        nulls="never",
    )


@_bind.register
def _in_list(expr: ast.InList, binder: Binder) -> Expr:
    parts = (expr.operand, *expr.items)
    bound = [binder.operand(part, "IN") for part in parts]
    args = tuple(operators.to_common_type("IN", bound, [part.span for part in parts]))
    return _negate_if(expr.negated, OperatorCall("IN", args, BOOLEAN, any(a.nullable for a in args)))


@_bind.register
def _like(expr: ast.Like, binder: Binder) -> Expr:
    args = []
    for part in (expr.operand, expr.pattern):
        bound = binder.bind(part)
        if bound.type not in (STRING, NULL):
            raise operators.operand_type("LIKE", bound.type, part.span, "string", [STRING])
        binder.refuse_null(bound, "LIKE", part.span)
        args.append(operators.convert(bound, STRING))
    return _negate_if(expr.negated, OperatorCall("LIKE", tuple(args), BOOLEAN, any(a.nullable for a in args)))


def _negate_if(negated: bool, condition: OperatorCall) -> Expr:
    return OperatorCall("NOT", (condition,), BOOLEAN, condition.nullable) if negated else condition


@_bind.register
def _case(expr: ast.CaseExpression, binder: Binder) -> Expr:
    conditions: list[Expr] = []
    values: list[Expr] = []
    for when, then in expr.branches:
        condition = _when(expr.operand, when, binder)
        conditions.append(condition)
        values.append(binder.with_not_null(not_null_after(condition, True)).bind(then))
        binder = binder.with_not_null(not_null_after(condition, False))
    values.append(Const(None, NULL) if expr.otherwise is None else binder.bind(expr.otherwise))
    spans = [then.span for _, then in expr.branches]
    spans.append(expr.span if expr.otherwise is None else expr.otherwise.span)
    *thens, otherwise = operators.to_common_type("CASE", values, spans)
    return CaseWhen(tuple(zip(conditions, thens, strict=True)), otherwise, otherwise.type)


def _when(operand: ast.Expression | None, when: ast.Expression, binder: Binder) -> Expr:
    """The condition of a branch. After `CASE operand`, it is `operand = when`."""
    if operand is None:
        return binder.condition(when, "WHEN")
    return operators.binary("=", binder.operand(operand, "CASE"), binder.operand(when, "CASE"), when.span)


@_bind.register
def _cast(expr: ast.Cast, binder: Binder) -> Expr:
    target = type_named(expr.target, binder.decimal)
    operand = binder.bind(expr.operand)
    if not can_cast(operand.type, target):
        instead = instead_of(operand.type, [target])
        source = describe(operand.type)
        raise LsqlError("CAST_IMPOSSIBLE", expr.span, source=source, target=describe(target), instead=instead)
    return operators.convert(operand, target)


# --- calls ---


@_bind.register
def _call(expr: ast.Call, binder: Binder) -> Expr:
    row = calls.find_row(expr, binder.functions)
    return _aggregate(expr, row, binder) if isinstance(row, AggregateFunction) else _function(expr, row, binder)


def _function(expr: ast.Call, row: Function, binder: Binder) -> Expr:
    arguments = _arguments(expr, binder)
    row = choose(row, [argument.type for argument in arguments])
    call = calls.function_call(expr, row, arguments, binder.scope)
    for position, (argument, source) in enumerate(zip(arguments, expr.args, strict=True)):
        if not row.takes_null_at(position):
            binder.refuse_null(argument, row.name, source.span)
    return call


_AGGREGATE = DetailTable(
    {
        "HAVING": "WHERE sees single records: write the condition after GROUP BY, as HAVING",
        "SELECT": "Move the aggregate to the SELECT list",
    }
)


def _aggregate(expr: ast.Call, row: AggregateFunction, binder: Binder) -> Expr:
    if binder.clause_without_aggregates is not None:
        clause = binder.clause_without_aggregates
        instead = _AGGREGATE("HAVING") if clause == "WHERE" else _AGGREGATE("SELECT")
        raise LsqlError("AGGREGATE_MISPLACED", expr.span, function=row.name, clause=clause, instead=instead)
    if calls.is_count_star(expr, row):
        return calls.COUNT_STAR
    inner = replace(binder, clause_without_aggregates=f"{row.name}(...)")
    return calls.aggregate_call(expr, row, _arguments(expr, inner))


def _arguments(expr: ast.Call, binder: Binder) -> list[Expr]:
    bound: list[Expr] = []
    for argument in expr.args:
        if isinstance(argument, ast.Star):
            raise LsqlError("STAR_MISPLACED", argument.span)
        bound.append(binder.bind(argument))
    return bound
