"""The operators: the types of their operands and results, and the conversions of operands."""

from __future__ import annotations

from collections.abc import Sequence

from lsql_runner.bind.casts import instead_of
from lsql_runner.bind.expr import ColumnRef, Const, Convert, Expr, OperatorCall, ScalarValue
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.scope import Scope
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    LONG,
    NULL,
    NUMERIC,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    common_type,
    describe,
    is_integer,
    is_numeric,
    wider_numeric,
)
from lsql_runner.types import Scalar as ScalarType

DURATION = ScalarType("duration")
"""The type of `1d`. Only + and - accept it, with a timestamp, date or long as the other operand."""

HEADERS = Array(Struct((Field("key", STRING), Field("value", BYTES))))

COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})


_LEAST_LONG = -(2**63)
"""Its digits alone are more than a LONG can have."""


def constant(value: ScalarValue) -> Const:
    """A constant with the LSQL type of the Python value."""
    match value:
        case None:
            return Const(None, NULL)
        case bool():
            return Const(value, BOOLEAN)
        case int():
            return Const(value, INT if -(2**31) <= value < 2**31 else LONG)
        case float():
            return Const(value, DOUBLE)
    return Const(value, STRING)


def convert(expr: Expr, target: DataType) -> Expr:
    """The expression converted to `target`. Whole numbers that are constants are converted here, without a Convert."""
    if expr.type == target:
        return expr
    if isinstance(expr, Const):
        if expr.value is None:
            return Const(None, target)
        if is_integer(expr.type) and target == LONG:
            return Const(expr.value, LONG)
        if is_integer(expr.type) and target == DOUBLE:
            return Const(float(expr.value), DOUBLE)
    return Convert(expr, target)


def to_common_type(op: str, exprs: Sequence[Expr], spans: Sequence[Span]) -> list[Expr]:
    """The expressions, converted to their common type.

    Args:
        op: the operator, for the error.
        spans: the places of the expressions.

    Raises:
        LsqlError: OPERATOR_TYPES, at the first expression whose type does not fit those before it.
    """
    kind: DataType = NULL
    for expr, span in zip(exprs, spans, strict=True):
        common = common_type(kind, expr.type)
        if common is None:
            raise _operator_types(op, kind, expr.type, span, expr.type, (kind,))
        kind = common
    return [convert(expr, kind) for expr in exprs]


def binary(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Arithmetic or comparison.

    Raises:
        LsqlError: OPERATOR_TYPES.
    """
    if op in COMPARISONS:
        return _compare(op, left, right, span)
    if DURATION in (left.type, right.type):
        return _add_duration(op, left, right, span)
    if not (_numeric_or_null(left) and _numeric_or_null(right)):
        raise _misfit(op, left, right, span)
    if left.type == NULL and right.type == NULL:
        return Const(None, NULL)
    kind = (
        right.type if left.type == NULL else left.type if right.type == NULL else wider_numeric(left.type, right.type)
    )
    args = (convert(left, kind), convert(right, kind))
    return OperatorCall(op, args, _arithmetic_type(op, kind), left.nullable or right.nullable)


def _arithmetic_type(op: str, kind: DataType) -> DataType:
    """The type of a result. A quotient of whole numbers is whole, as in Java; a decimal keeps its scale."""
    if isinstance(kind, Decimal) and op != "%":
        return Decimal(38, kind.scale)
    return kind


def negate(operand: Expr, span: Span) -> Expr:
    """The operand with a minus sign; a constant is negated here.

    Raises:
        LsqlError: OPERAND_TYPE.
    """
    if isinstance(operand, Const) and isinstance(operand.value, int | float) and not isinstance(operand.value, bool):
        if operand.type == DURATION:
            raise operand_type("-", operand.type, span, "number", (DOUBLE, INT, LONG))
        negated = -operand.value
        return Const(negated, LONG if negated == _LEAST_LONG else operand.type)
    if not _numeric_or_null(operand):
        raise operand_type("-", operand.type, span, "number", (DOUBLE, INT, LONG))
    return OperatorCall("NEG", (operand,), operand.type, operand.nullable)


def _numeric_or_null(expr: Expr) -> bool:
    return is_numeric(expr.type) or expr.type == NULL


def _compare(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    kind = common_type(left.type, right.type)
    ordered = op not in ("=", "!=")
    if kind is None or isinstance(kind, Map) or (ordered and isinstance(kind, Struct | Array)) or kind == DURATION:
        raise _misfit(op, left, right, span)
    return OperatorCall(op, (convert(left, kind), convert(right, kind)), BOOLEAN, left.nullable or right.nullable)


def _add_duration(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """A timestamp, date or long (milliseconds) plus or minus a duration: `now() + 1d`."""
    if left.type == DURATION and right.type != DURATION and op == "+":
        left, right = right, left
    if left.type == DATE:
        left = convert(left, TIMESTAMP)
    if left.type == NUMERIC:
        left = convert(left, LONG)
    if left.type not in (LONG, TIMESTAMP) or right.type != DURATION or op not in ("+", "-"):
        raise _misfit(op, left, right, span)
    assert isinstance(right, Const)
    length = Const(right.value, LONG)
    if left.type == LONG:
        return OperatorCall(op, (left, length), LONG, left.nullable)
    return convert(OperatorCall(op, (convert(left, LONG), length), LONG, left.nullable), TIMESTAMP)


def _misfit(op: str, left: Expr, right: Expr, span: Span) -> LsqlError:
    """The error of two operands, with advice for the one that is not a number (in comparisons, not a scalar)."""
    targets: list[DataType]
    operand, other = (right, left) if is_numeric(left.type) else (left, right)
    if op in COMPARISONS:
        if isinstance(other.type, Struct | Array | Map):
            operand, other = other, operand
        targets = [STRING] if isinstance(other.type, Struct | Array | Map) else [other.type]
    elif other.type == DURATION:
        targets = [TIMESTAMP, LONG] if op in ("+", "-") else []
    else:
        targets = [other.type, DOUBLE, INT, LONG] if is_numeric(other.type) else [DOUBLE, INT, LONG]
    return _operator_types(op, left.type, right.type, span, operand.type, targets)


def _operator_types(
    op: str, left: DataType, right: DataType, span: Span, operand: DataType, targets: Sequence[DataType]
) -> LsqlError:
    """OPERATOR_TYPES, with advice for one operand.

    Args:
        operand: the type of this operand.
        targets: the types of it that fit, the best first.
    """
    return LsqlError(
        "OPERATOR_TYPES",
        span,
        op=op,
        left=describe(left),
        right=describe(right),
        operand=describe(operand),
        instead=instead_of(operand, targets),
    )


def operand_type(op: str, kind: DataType, span: Span, expected: str, targets: Sequence[DataType]) -> LsqlError:
    """OPERAND_TYPE.

    Args:
        kind: the type of the operand.
        expected: the types that fit, for the sentence.
        targets: the same, the best first.
    """
    instead = instead_of(kind, targets)
    return LsqlError("OPERAND_TYPE", span, op=op, expected=expected, found=describe(kind), instead=instead)


def headers(scope: Scope | JoinScope, span: Span) -> ColumnRef:
    """The headers of the record.

    Raises:
        LsqlError: FIELD_UNKNOWN if the source has no headers, as the result of an aggregate.
    """
    if "headers" not in scope.shape.metadata:
        raise LsqlError("FIELD_UNKNOWN", span, name="_header", source=scope.name, known="_key, _value, _ts")
    return ColumnRef("headers", (), HEADERS, nullable=False, present=True)
