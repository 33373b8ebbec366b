"""The operators: which types they take, what comes out, and the conversions that go in between."""

from __future__ import annotations

from lsql_runner.bind.expr import ColumnRef, Const, Convert, Expr, OperatorCall, ScalarValue
from lsql_runner.bind.functions.lowering import Arg, Lowering, native
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
"""The type of `1d`; only + and - with a point in time take it."""

STRINGS = Array(STRING)
HEADERS = Array(Struct((Field("key", STRING), Field("value", BYTES))))

HEADER_NUMBERS: dict[DataType, Lowering] = {
    INT: native("be_int", Arg(0)),
    LONG: native("be_long", Arg(0)),
    DOUBLE: native("be_double", Arg(0)),
}
"""Header values are laid out as Kafka's own serializers write them: big-endian, 4 or 8 bytes."""

COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})


def constant(value: ScalarValue) -> Const:
    """A constant with the type that its Python value has."""
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
    """The expression as `target`; itself where it already is. Constants of numbers are converted now."""
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


def can_cast(source: DataType, target: DataType) -> bool:
    """Whether CAST knows a way. Text to another type may still fail on a record; that is a bad record."""
    if source in (target, NULL):
        return True
    if isinstance(source, Struct | Array | Map) or isinstance(target, Struct | Array | Map) or source == DURATION:
        return False
    if STRING in (source, target):
        return True
    if is_numeric(source) and is_numeric(target):
        return True
    pairs = ({BOOLEAN, INT}, {BOOLEAN, LONG}, {LONG, TIMESTAMP}, {DATE, TIMESTAMP})
    return {source, target} in pairs


def binary(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Arithmetic or comparison.

    Raises:
        LsqlError: OPERATOR_TYPES.
    """
    if op in COMPARISONS:
        return _compare(op, left, right, span)
    if DURATION in (left.type, right.type):
        return _shift(op, left, right, span)
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
    """Whole numbers stay whole (7 / 2 is 3, as in Java); decimals keep their scale but gain whole digits."""
    if isinstance(kind, Decimal) and op != "%":
        return Decimal(38, kind.scale)
    return kind


def negate(operand: Expr, span: Span) -> Expr:
    if isinstance(operand, Const) and isinstance(operand.value, int | float) and not isinstance(operand.value, bool):
        if operand.type == DURATION:
            raise LsqlError("OPERAND_TYPE", span, op="-", expected="number", found="duration")
        return Const(-operand.value, operand.type)
    if not _numeric_or_null(operand):
        raise LsqlError("OPERAND_TYPE", span, op="-", expected="number", found=describe(operand.type))
    return OperatorCall("NEG", (operand,), operand.type, operand.nullable)


def _numeric_or_null(expr: Expr) -> bool:
    return is_numeric(expr.type) or expr.type == NULL


def _compare(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    kind = common_type(left.type, right.type)
    ordered = op not in ("=", "!=")
    if kind is None or isinstance(kind, Map) or (ordered and isinstance(kind, Struct | Array)) or kind == DURATION:
        raise _misfit(op, left, right, span)
    return OperatorCall(op, (convert(left, kind), convert(right, kind)), BOOLEAN, left.nullable or right.nullable)


def _shift(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """A point in time plus or minus a length of time: `now() + 1d`. A long counts milliseconds."""
    if left.type == DURATION and right.type != DURATION and op == "+":
        left, right = right, left
    if left.type == DATE:
        left = convert(left, TIMESTAMP)
    if left.type not in (LONG, TIMESTAMP) or right.type != DURATION or op not in ("+", "-"):
        raise _misfit(op, left, right, span)
    assert isinstance(right, Const)
    length = Const(right.value, LONG)
    if left.type == LONG:
        return OperatorCall(op, (left, length), LONG, left.nullable)
    return convert(OperatorCall(op, (convert(left, LONG), length), LONG, left.nullable), TIMESTAMP)


def _misfit(op: str, left: Expr, right: Expr, span: Span) -> LsqlError:
    example = next((describe(e.type) for e in (left, right) if is_numeric(e.type)), "string")
    return LsqlError(
        "OPERATOR_TYPES", span, op=op, left=describe(left.type), right=describe(right.type), example=example
    )


def headers(scope: Scope | JoinScope, span: Span) -> ColumnRef:
    """The record's headers.

    Raises:
        LsqlError: FIELD_UNKNOWN where there is no record any more, as after an aggregate.
    """
    if "headers" not in scope.shape.facets:
        raise LsqlError("FIELD_UNKNOWN", span, name="_header", source=scope.name, known="_key, _value, _ts")
    return ColumnRef("headers", (), HEADERS, nullable=False, present=True)
