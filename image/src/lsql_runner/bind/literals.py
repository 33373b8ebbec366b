"""Literals to typed constants."""

from __future__ import annotations

from lsql_runner.bind.expr import Const
from lsql_runner.bind.operators import DURATION
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import BOOLEAN, DOUBLE, INT, LONG, NULL, STRING

AnyLiteral = ast.StringLiteral | ast.NumberLiteral | ast.BooleanLiteral | ast.NullLiteral | ast.DurationLiteral

_MAX_INT, _MAX_LONG = 2**31 - 1, 2**63 - 1


def bind_literal(literal: AnyLiteral) -> Const:
    """The constant of a literal.

    Raises:
        LsqlError: NUMBER_INVALID for a number that is too large for a long or a double.
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
    # Python refuses to convert very long texts, so their length is checked first.
    if len(text) > len(str(_MAX_LONG)) or int(text) > _MAX_LONG:
        raise LsqlError("NUMBER_INVALID", literal.span, found=text[:30])
    return Const(int(text), INT if int(text) <= _MAX_INT else LONG)
