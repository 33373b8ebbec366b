"""Literals to typed constants."""

from __future__ import annotations

from lsql_runner.bind.expr import Const
from lsql_runner.bind.operators import DURATION
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import BOOLEAN, DOUBLE, INT, LONG, MAX_PRECISION, NULL, STRING, Decimal

AnyLiteral = ast.StringLiteral | ast.NumberLiteral | ast.BooleanLiteral | ast.NullLiteral | ast.DurationLiteral

_MAX_INT, _MAX_LONG = 2**31 - 1, 2**63 - 1


def bind_literal(literal: AnyLiteral) -> Const:
    """The constant of a literal.

    Raises:
        LsqlError: NUMBER_INVALID for a number that is too large for a decimal or a double.
    """
    match literal:
        case ast.StringLiteral():
            return Const(literal.value, STRING)
        case ast.NumberLiteral():
            return _number(literal)
        case ast.BooleanLiteral():
            return Const(literal.value, BOOLEAN)
        case ast.NullLiteral():
            return Const(None, NULL)
        case ast.DurationLiteral():
            return Const(literal.milliseconds, DURATION)


def _number(literal: ast.NumberLiteral) -> Const:
    text = literal.text
    if not text.isdigit():
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise LsqlError("NUMBER_INVALID", literal.span, found=text[:30])
        return Const(value, DOUBLE)
    digits = text.lstrip("0") or "0"
    if len(digits) > MAX_PRECISION:
        raise LsqlError("NUMBER_INVALID", literal.span, found=text[:30])
    value = int(digits)
    if value > _MAX_LONG:
        return Const(value, Decimal(len(digits), 0))
    return Const(value, INT if value <= _MAX_INT else LONG)
