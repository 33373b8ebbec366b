"""Typed expressions to Spark columns. They run in the JVM only, most of them as generated code."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from functools import reduce, singledispatch

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.bind.expr import (
    CaseWhen,
    ColumnRef,
    Const,
    Convert,
    Expr,
    FunctionCall,
    HeaderValue,
    OperatorCall,
    RandomBits,
    StructValue,
)
from lsql_runner.compile.identity import RECORD
from lsql_runner.compile.lowering import to_column
from lsql_runner.compile.schema import BINARY, spark_type
from lsql_runner.compile.schema import STRING as STRING_TYPE
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import NUMERIC_ARITHMETIC, READ_HEADER, READ_NUMERIC, SHOW_VALUE
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DIGITS,
    INT,
    LONG,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    Decimal,
    describe,
)

Columns = Mapping[str, Column]
"""The columns of the input, by their names in the plan."""


@singledispatch
def column(expr: Expr, columns: Columns) -> Column:
    """The Spark column for an expression over the given columns."""
    raise TypeError(f"not computable for a single record: {type(expr).__name__}")


@column.register
def _(expr: ColumnRef, columns: Columns) -> Column:
    field = columns[expr.name]
    for step in expr.path:
        # `get` returns null for an index outside the array; [] would stop the query.
        field = F.get(field, F.lit(step)) if isinstance(step, int) else field.getField(step)
    return field


@column.register
def _(expr: Const, columns: Columns) -> Column:
    if expr.value is None:
        return F.lit(None).cast(spark_type(expr.type))
    if isinstance(expr.type, Decimal):
        return F.lit(decimal.Decimal(expr.value)).cast(spark_type(expr.type))
    return F.lit(expr.value).cast(spark_type(expr.type)) if expr.type == LONG else F.lit(expr.value)


_BINARY: dict[str, Callable[[Column, Column], Column]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": lambda a, b: a % b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    # The only special characters are % and _: the backslash, with which Spark escapes them, stands for itself.
    "LIKE": lambda a, b: call("like", a, F.replace(b, F.lit("\\"), F.lit("\\\\"))),
}


@column.register
def _(expr: OperatorCall, columns: Columns) -> Column:
    args = [column(arg, columns) for arg in expr.args]
    match expr.op:
        case "AND":
            return reduce(lambda a, b: a & b, args)
        case "OR":
            return reduce(lambda a, b: a | b, args)
        case "NOT":
            return ~args[0]
        case "NEG":
            return -args[0]
        case "IS NULL":
            return args[0].isNull()
        case "IS NOT NULL":
            return args[0].isNotNull()
        case "IN":
            return args[0].isin(*args[1:])
        case "/" if expr.type in (INT, LONG):
            return call("div", *args).cast(spark_type(expr.type))
        case "+" | "-" | "*" | "/" if expr.type == NUMERIC:
            return call(NUMERIC_ARITHMETIC, *args, F.lit(expr.op))
        case "/":
            return _exact(args[0] / args[1], expr.type)
    return _exact(_BINARY[expr.op](*args), expr.type)


def _exact(result: Column, kind: DataType) -> Column:
    """The result in the type of the plan: Spark gives decimals more digits with each operation."""
    return result.cast(spark_type(kind)) if isinstance(kind, Decimal) else result


@column.register
def _(expr: FunctionCall, columns: Columns) -> Column:
    return to_column(expr.lowering, [column(arg, columns) for arg in expr.args])


@column.register
def _(expr: RandomBits, columns: Columns) -> Column:
    record = columns.get(RECORD)
    # Xxhash distributes equally. A result of state has no identity for all time: its values are other ones each time.
    return F.xxhash64(F.lit(2 * expr.call + expr.number), call("uuid") if record is None else record)


@column.register
def _(expr: CaseWhen, columns: Columns) -> Column:
    (when, then), *others = [(column(a, columns), column(b, columns)) for a, b in expr.branches]
    chosen = F.when(when, then)
    for when, then in others:
        chosen = chosen.when(when, then)
    return chosen.otherwise(column(expr.otherwise, columns))


@column.register
def _(expr: StructValue, columns: Columns) -> Column:
    return F.struct(*(column(value, columns).alias(name) for name, value in expr.fields))


@column.register
def _(expr: HeaderValue, columns: Columns) -> Column:
    same = F.filter(columns["headers"], lambda header: header["key"] == F.lit(expr.name))
    last = F.try_element_at(same, F.lit(-1))["value"]  # as `Headers.lastHeader` of Kafka's client
    return call(READ_HEADER, last, F.lit(expr.name), F.lit(describe(expr.type)))


@column.register
def _(expr: Convert, columns: Columns) -> Column:
    return convert(column(expr.operand, columns), expr.operand.type, expr.type)


_MICROS_PER_MS = 1000
_DAY_MICROS = 86_400_000_000
_TIME_TEXT: dict[DataType, tuple[str, str]] = {
    DATE: (r"^\s*\d{4}-\d{2}-\d{2}\s*$", "date (as 2026-01-31)"),
    TIME: (r"^\s*\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?\s*$", "time (as 12:00:00)"),
    TIMESTAMP: (r"^\s*\d{4}-\d{2}-\d{2}([ T].*)?$", "timestamp (as 2026-01-31T12:00:00Z)"),
}
"""By type: the accepted texts and their description. Spark would also accept `12:30` (today) and `2016` (January 1)."""


def convert(value: Column, source: DataType, target: DataType) -> Column:
    """A value of one type as another. A LONG counts milliseconds: since 1970 UTC as a timestamp, since midnight as a
    time."""
    match source, target:
        case (s, t) if s == DIGITS and t != STRING:
            return convert(call(READ_NUMERIC, value), NUMERIC, t)
        case (s, t) if s == NUMERIC and t in (STRING, DIGITS):
            # The text has 18 digits after the point.
            return F.rtrim(F.rtrim(value.cast(STRING_TYPE), F.lit("0")), F.lit("."))
        case (s, t) if s == NUMERIC and t in (TIMESTAMP, TIME, BOOLEAN):
            return convert(value.cast(spark_type(LONG)), LONG, t)
        case (_, t) if t == DIGITS:
            return convert(convert(value, source, NUMERIC), NUMERIC, t)
        case (s, t) if s == LONG and t == TIMESTAMP:
            # `timestamp_millis` reports a number that is too large without a condition.
            return F.timestamp_micros(value * F.lit(_MICROS_PER_MS))
        case (s, t) if s == TIMESTAMP and t == LONG:
            return F.unix_millis(value)
        case (s, t) if s == LONG and t == TIME:
            return F.time_from_millis(value)
        case (s, t) if s == TIME and t == LONG:
            return F.time_to_millis(value)
        case (s, t) if s == TIMESTAMP and t == TIME:
            return F.time_from_micros(F.pmod(F.unix_micros(value), F.lit(_DAY_MICROS)))
        case (s, t) if s == DATE and t == LONG:
            return F.unix_millis(value.cast(spark_type(TIMESTAMP)))
        case (s, t) if s == TIMESTAMP and t == STRING:
            return F.date_format(value, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
        case (s, t) if s == BYTES and t == STRING:
            # DECODE_TEXT has the error of a malformed key or value in STRING.
            text = value.cast(STRING_TYPE)
            refusal = F.raise_error(F.lit("the bytes are not text in UTF-8"))
            return F.when(text.isNull() | call("is_valid_utf8", text), text).otherwise(refusal)
        case (s, t) if s == STRING and t == BYTES:
            return value.cast(BINARY)
        case (s, t) if s == STRING and t in _TIME_TEXT:
            pattern, name = _TIME_TEXT[t]
            shown = call(SHOW_VALUE, F.concat(F.lit("'"), value, F.lit("'")), F.lit("the text"))
            refusal = F.raise_error(F.concat(shown, F.lit(f" is no {name}")))
            return F.when(value.isNull() | value.rlike(pattern), value).otherwise(refusal).cast(spark_type(t))
    return value.cast(spark_type(target))
