"""Parses expressions by precedence climbing: OR, AND, NOT, comparison, + -, * / %, unary minus, primary expressions.

The parser recurses only into brackets and operands, with three Python frames per level; chains of operators are loops.
"""

from __future__ import annotations

from typing import Literal as OneOf
from typing import cast

from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.cursor import MAX_DEPTH, Cursor
from lsql_runner.sql.expected import EXPECTED
from lsql_runner.sql.tokens import Token, TokenKind
from lsql_runner.sql.type_names import read_type_name, read_whole_number
from lsql_runner.sql.unsupported import unsupported

_OR, _AND, _NOT, _COMPARE, _ADD, _MULTIPLY = 1, 2, 3, 4, 5, 6

_POWER = {"OR": _OR, "AND": _AND}
_POWER |= dict.fromkeys(("=", "!=", "<>", "<", "<=", ">", ">=", "IS", "NOT", "IN", "LIKE", "BETWEEN"), _COMPARE)
_POWER |= {"+": _ADD, "-": _ADD, "*": _MULTIPLY, "/": _MULTIPLY, "%": _MULTIPLY}


def read_expression(cursor: Cursor) -> ast.Expression:
    """Read an expression.

    Raises:
        LsqlError: SQL_SYNTAX, CLAUSE_UNSUPPORTED; SQL_TOO_DEEP for a tree of more than MAX_DEPTH levels; as
            `next_token`.
    """
    expr = _read(cursor, 0)
    check_height(expr)
    return expr


def check_height(expr: ast.Expression) -> None:
    """Refuse a tree of more than MAX_DEPTH levels. `a + b + ...` has one level per operator."""
    level: list[ast.Expression] = [expr]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in children(node)]
        if not level:
            return
    raise LsqlError("SQL_TOO_DEEP", level[0].span, limit=MAX_DEPTH)


def children(expr: ast.Expression) -> tuple[ast.Expression, ...]:
    """The direct operands of an expression."""
    match expr:
        case ast.Unary(_, operand) | ast.IsNull(operand) | ast.Cast(operand):
            return (operand,)
        case ast.Binary(_, left, right) | ast.Like(left, right):
            return (left, right)
        case ast.Logical(_, operands):
            return operands
        case ast.Between(operand=operand, low=low, high=high):
            return (operand, low, high)
        case ast.InList(operand, items):
            return (operand, *items)
        case ast.CaseExpression(operand, branches, otherwise):
            parts = [part for branch in branches for part in branch]
            return tuple(part for part in (operand, *parts, otherwise) if part is not None)
        case ast.ArrayLiteral(items):
            return items
        case ast.Call(_, args):
            return tuple(arg for arg in args if not isinstance(arg, ast.Star))
    return ()


def _read(cursor: Cursor, floor: int) -> ast.Expression:
    """An expression of operators with a precedence above `floor`."""
    with cursor.nested():
        left = _read_prefix(cursor)
        while (power := _power_ahead(cursor)) > floor:
            left = _read_infix(cursor, left, power)
        return left


def _power_ahead(cursor: Cursor) -> int:
    token = cursor.peek()
    if token.kind not in (TokenKind.SYMBOL, TokenKind.WORD):
        return 0
    if token.upper == "NOT" and not cursor.at_word("IN", "LIKE", "BETWEEN", distance=1):
        return 0
    return _POWER.get(token.upper or token.text, 0)


def _read_prefix(cursor: Cursor) -> ast.Expression:
    if word := cursor.take_word("NOT"):
        operand = _read(cursor, _NOT)
        return ast.Unary("NOT", operand, word.span.to(operand.span))
    if sign := cursor.take_symbol("-"):
        operand = _read(cursor, _MULTIPLY)
        return ast.Unary("-", operand, sign.span.to(operand.span))
    return _read_primary(cursor)


def _read_infix(cursor: Cursor, left: ast.Expression, power: int) -> ast.Expression:
    if power in (_OR, _AND):
        return _read_chain(cursor, left, power)
    if power == _COMPARE and cursor.peek().kind is TokenKind.WORD:
        return _read_predicate(cursor, left)
    op = cursor.next().text
    right = _read(cursor, power)
    op = "!=" if op == "<>" else op
    return ast.Binary(cast("OneOf['+']", op), left, right, left.span.to(right.span))


def _read_chain(cursor: Cursor, first: ast.Expression, power: int) -> ast.Logical:
    op: OneOf["AND", "OR"] = "OR" if power == _OR else "AND"
    operands = [first]
    while cursor.take_word(op):
        operands.append(_read(cursor, power))
    return ast.Logical(op, tuple(operands), first.span.to(cursor.last))


def _read_predicate(cursor: Cursor, left: ast.Expression) -> ast.Expression:
    """`IS [NOT] NULL | TRUE | FALSE`, and `[NOT] BETWEEN | IN | LIKE`."""
    if cursor.take_word("IS"):
        negated = cursor.take_word("NOT") is not None
        if truth := cursor.take_word("TRUE") or cursor.take_word("FALSE"):
            return _is_truth(left, truth.upper == "TRUE", negated, left.span.to(truth.span))
        cursor.expect_word("NULL")
        return ast.IsNull(left, negated, left.span.to(cursor.last))
    negated = cursor.take_word("NOT") is not None
    if cursor.take_word("BETWEEN"):
        low = _read(cursor, _COMPARE)
        cursor.expect_word("AND")
        high = _read(cursor, _COMPARE)
        return ast.Between(operand=left, low=low, high=high, negated=negated, span=left.span.to(high.span))
    if cursor.take_word("LIKE"):
        pattern = _read(cursor, _COMPARE)
        return ast.Like(left, pattern, negated, left.span.to(pattern.span))
    cursor.expect_word("IN")
    cursor.expect_symbol("(")
    items = _read_list(cursor)
    cursor.expect_symbol(")")
    return ast.InList(left, items, negated, left.span.to(cursor.last))


def _is_truth(operand: ast.Expression, truth: bool, negated: bool, span: Span) -> ast.Expression:
    """`x IS TRUE` is COALESCE(x, FALSE): an unknown value is neither true nor false."""
    known = ast.Call("COALESCE", (operand, ast.BooleanLiteral(not truth, span)), span)
    return known if truth != negated else ast.Unary("NOT", known, span)


def _read_list(cursor: Cursor) -> tuple[ast.Expression, ...]:
    items = [_read(cursor, 0)]
    while cursor.take_symbol(","):
        items.append(_read(cursor, 0))
    return tuple(items)


def _read_primary(cursor: Cursor) -> ast.Expression:
    token = cursor.peek()
    match token.kind:
        case TokenKind.STRING:
            cursor.next()
            return ast.StringLiteral(token.value, token.span, token.text[0])
        case TokenKind.NUMBER:
            cursor.next()
            return ast.NumberLiteral(token.text, token.span)
        case TokenKind.DURATION:
            return read_duration(cursor)
        case TokenKind.SYMBOL if token.text == "(":
            cursor.next()
            inner = _read(cursor, 0)
            cursor.expect_symbol(")")
            return inner
        case TokenKind.SYMBOL if token.text == "[":
            cursor.next()
            items = _read_list(cursor)
            cursor.expect_symbol("]")
            return ast.ArrayLiteral(items, token.span.to(cursor.last))
        case TokenKind.WORD | TokenKind.QUOTED_NAME:
            return _read_word(cursor, token)
    cursor.refuse(EXPECTED("EXPRESSION"))


def _read_word(cursor: Cursor, token: Token) -> ast.Expression:
    match token.upper:
        case "NULL":
            cursor.next()
            return ast.NullLiteral(token.span)
        case "TRUE" | "FALSE":
            cursor.next()
            return ast.BooleanLiteral(token.upper == "TRUE", token.span)
        case "CASE":
            return _read_case(cursor)
        case "CAST":
            return _read_cast(cursor)
        case "SELECT" if cursor.text[cursor.last.start : cursor.last.end] == "(":
            raise unsupported("subselect in expression", token.span)
    if cursor.at_symbol("(", distance=1) and token.upper not in _NOT_CALLABLE:
        return _read_cast(cursor) if token.value.upper() == "CAST" else _read_call(cursor)
    return read_path(cursor)


_NOT_CALLABLE = frozenset({"SELECT", "FROM", "WHERE", "AND", "OR", "ON", "AS", "IN", "WHEN", "THEN", "ELSE", "INTO"})


def _read_call(cursor: Cursor) -> ast.Call:
    name = cursor.next()
    cursor.expect_symbol("(")
    args: list[ast.Expression | ast.Star] = []
    if not cursor.at_symbol(")"):
        args.append(_read_argument(cursor))
        while cursor.take_symbol(","):
            args.append(_read_argument(cursor))
    cursor.expect_symbol(")")
    return ast.Call(name.value, tuple(args), name.span.to(cursor.last))


def _read_argument(cursor: Cursor) -> ast.Expression | ast.Star:
    if cursor.at_word("DISTINCT"):
        raise unsupported("DISTINCT", cursor.peek().span)
    if star := cursor.take_symbol("*"):
        return ast.Star(None, star.span)
    return _read(cursor, 0)


def _read_case(cursor: Cursor) -> ast.CaseExpression:
    start = cursor.expect_word("CASE").span
    operand = None if cursor.at_word("WHEN") else _read(cursor, 0)
    branches: list[tuple[ast.Expression, ast.Expression]] = []
    while cursor.take_word("WHEN"):
        condition = _read(cursor, 0)
        cursor.expect_word("THEN")
        branches.append((condition, _read(cursor, 0)))
    if not branches:
        cursor.refuse(EXPECTED("WORD", word="WHEN"))
    otherwise = _read(cursor, 0) if cursor.take_word("ELSE") else None
    cursor.expect_word("END")
    return ast.CaseExpression(operand, tuple(branches), otherwise, start.to(cursor.last))


def _read_cast(cursor: Cursor) -> ast.Cast:
    start = cursor.next().span
    cursor.expect_symbol("(")
    operand = _read(cursor, 0)
    cursor.expect_word("AS")
    target = read_type_name(cursor)
    cursor.expect_symbol(")")
    return ast.Cast(operand, target, start.to(cursor.last))


def read_path(cursor: Cursor) -> ast.NamePath:
    """`a`, `a.b`, `x[0].y`: a name, followed by field names and array indexes."""
    head = cursor.ident(EXPECTED("EXPRESSION"))
    steps: list[ast.Ident | ast.Index] = []
    while True:
        if cursor.at_symbol(".") and not cursor.at_symbol("*", distance=1):
            cursor.next()
            steps.append(cursor.any_name(EXPECTED("FIELD")))  # after a dot, even a reserved word is a name
        elif bracket := cursor.take_symbol("["):
            position = read_whole_number(cursor)
            cursor.expect_symbol("]")
            steps.append(ast.Index(position, bracket.span.to(cursor.last)))
        else:
            return ast.NamePath(head, tuple(steps), head.span.to(cursor.last))


def read_duration(cursor: Cursor) -> ast.DurationLiteral:
    """`1m`, `250ms`."""
    token = cursor.expect(TokenKind.DURATION, EXPECTED("DURATION"))
    digits = token.value.rstrip("mshd")
    return make_duration(digits, token.value[len(digits) :], token)


def make_duration(digits: str, unit: str, token: Token) -> ast.DurationLiteral:
    """A duration from its amount and unit, at the position of `token`.

    Raises:
        LsqlError: NUMBER_INVALID if it is longer than a thousand years.
    """
    if len(digits) > 15 or int(digits) * ast.UNIT_MS[unit] > 1000 * 365 * ast.UNIT_MS["d"]:
        raise LsqlError("NUMBER_INVALID", token.span, found=f"{digits[:20]}{unit}")
    return ast.DurationLiteral(int(digits), unit, token.span)
