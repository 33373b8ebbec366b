"""Functions on Spark: the examples of the function table, edge cases of their documentation, NULL, and failures.

One Spark SELECT computes all values. Its literals are columns, because Spark computes expressions of literals while it
plans, with other code than for records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from devkit.spark_rows import conf
from lsql_runner.bind import operators
from lsql_runner.bind.bound import Shape
from lsql_runner.bind.expr import AggregateCall, ColumnRef, Const, Expr, FunctionCall, HeaderValue, RandomBits
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.functions.headers import EXAMPLE_HEADERS
from lsql_runner.bind.functions.lowering import typed
from lsql_runner.bind.functions.match import choose, match
from lsql_runner.bind.functions.spec import Match, Parameter, Signature
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, ROWS, SPECIAL_FORMS
from lsql_runner.bind.scope import Scope
from lsql_runner.engine.aggregates import aggregated
from lsql_runner.engine.expressions import column
from lsql_runner.engine.failures import classify
from lsql_runner.engine.memory import MemoryEngine
from lsql_runner.engine.schema import spark_type
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Serde
from lsql_runner.sql import ast
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expressions import read_expression
from lsql_runner.types import INT, SCALARS, STRING, Field, Struct

# The first test waits for the SELECT that computes the values of all tests.
pytestmark = pytest.mark.timeout(180)

EXAMPLES = {v.example: v.result for row in ROWS for v in (row, *row.variants) if v.deterministic}
EXAMPLES |= {form.example: form.result for form in SPECIAL_FORMS.values()}
NON_DETERMINISTIC = {v.example: v.result for row in ROWS for v in (row, *row.variants) if not v.deterministic}

EDGES = {
    # headers
    "HEADERASSTRING('none')": "null",
    "HEADERASINT('none')": "null",
    "CAST(NULL AS int)": "null",
    "CAST('2024-02-29' AS date)": '"2024-02-29"',
    # arrays
    "ELEMENT_OF(REPEAT('a', 2), 2)": "null",
    "ELEMENT_OF(REPEAT('a', 2), -1)": "null",
    "FLATTEN(REPEAT(REPEAT(1, 2), 0))": "[]",
    "IN_ARRAY('b', REPEAT('a', 2))": "false",
    "IN_ARRAY(1.0, REPEAT(1, 2))": "true",
    "IN_ARRAY(1, REPEAT(1.5, 2))": "false",
    "REPEAT('a', 0)": "[]",
    "REPEAT('a', -1)": "[]",
    "SIZEOF(REPEAT(REPEAT('a', 2), 10000))": "10000",
    "ZIP([1], 'a', REPEAT('x', 0), 'b')": "[]",
    "ZIP([1, NULL], 'a', [NULL, 'y'], 'b', [true, false, true], 'c d')": (
        '[{"a":1,"b":null,"c d":true},{"a":null,"b":"y","c d":false}]'
    ),
    "ZIP_ALL(REPEAT('x', 0), 'a', REPEAT('x', 0), 'b')": "[]",
    "ZIP_ALL([1], 'a', [ZIP([1], 'x', [2], 'y')], 'b', REPEAT(1, 0), 'c')": ('[{"a":1,"b":[{"x":1,"y":2}],"c":null}]'),
    # strings
    "ABBREVIATE('abcd', 4)": '"abcd"',
    "ABBREVIATE('abcde', 4)": '"a..."',
    "ABBREVIATE('abcde', 2)": '".."',
    "ABBREVIATE('abcde', -1)": '""',
    "ABBREVIATE('', 0)": '""',
    "ABBREVIATE(NULL, 5)": "null",
    "BASE64('')": '""',
    "LEN(BASE64(LPAD('', 300, 'x')))": "400",
    "CAPITALIZE('')": '""',
    "CAPITALIZE('éa')": '"Éa"',
    "CENTER('abcd', 2)": '"abcd"',
    "CENTER('a', 4)": '" a  "',
    "CENTER('a', 4, '')": '" a  "',
    "CENTER('', 3, '😀')": '"?😀"',
    "CENTER('x', 6, 'ab')": '"abxaba"',
    "CENTER('a', -5)": '"a"',
    "CHOP('')": '""',
    "CHOP('a😀')": '"a?"',
    "CHOP('a\r\n')": '"a"',
    "CHOP('a\n')": '"a"',
    "CONCAT(NULL)": '""',
    "CONCAT('a', 1.5, true, 12345678901)": '"a1.5true12345678901"',
    "DECODE64('')": '""',
    "DELETEWHITESPACE('a\t\n b\u2003c\u00a0d')": '"abc\u00a0d"',
    "DIGITS('')": '""',
    "DIGITS('a\u0661b2')": '"\u06612"',
    "LEN('')": "0",
    "LEN('a😀')": "3",
    "LENGTH('€')": "1",
    "LEN(NULL)": "null",
    "LPAD('bat', 8, 'yz')": '"yzyzybat"',
    "LPAD('bat', 2, 'x')": '"bat"',
    "LPAD('bat', -2)": '"bat"',
    "LPAD('bat', CAST('-2147483648' AS int))": '"bat"',
    "LPAD('😀', 3, '-')": '"-😀"',
    "LPAD('b', 4, '😀')": '"😀?b"',
    "ABBREVIATE('😀😀😀', 6)": '"😀😀😀"',
    "ABBREVIATE('😀😀😀', 5)": '"😀..."',
    "RPAD('bat', 8, 'yz')": '"batyzyzy"',
    "RPAD('bat', 2)": '"bat"',
    "RPAD('a', 3, '')": '"a  "',
    "RPAD('😀', 3, '-')": '"😀-"',
    "MKSTRING(7)": '"7"',
    "MKSTRING(NULL)": "null",
    "MKSTRING(true)": '"true"',
    "MKSTRING(REGEXP('a[1]', '.'))": r'"[\"a\",\"[\",\"1\",\"]\"]"',
    "MKSTRING(TO_TIMESTAMP(1709211845678))": r'"\"2024-02-29T13:04:05.678Z\""',
    "REVERSE('a😀')": '"😀a"',
    "STRIPACCENTS('ÀÉÎÕÜ çñ Ệ й Ά e\u0301 ø')": '"AEIOU cn E и \u0391 e ø"',
    "SWAPCASE('')": '""',
    "CAPITALIZE('😀a')": '"😀a"',
    "SWAPCASE('a1😀B')": '"A1😀b"',
    "TRIM('\t a \r\n')": '"a"',
    "TRIM('')": '""',
    "UNCAPITALIZE('')": '""',
    # The JVM of these tests is started with a Turkish locale.
    "UPPER('iéß')": '"IÉSS"',
    "LOWER('IÉ')": '"ié"',
    "CAPITALIZE('iç')": '"Iç"',
    # substrings
    "CONTAINS('abc', '')": "true",
    "CONTAINS('abc', 'B')": "false",
    "CONTAINS('a.c', '.')": "true",
    "DROPLEFT('abc', 5)": '""',
    "DROPLEFT('abc', -1)": '"abc"',
    "DROPLEFT('abc', 2147483647)": '""',
    "DROPRIGHT('abc', 5)": '""',
    "DROPRIGHT('abc', -2147483647)": '"abc"',
    "DROPRIGHT('a😀', 2)": '"a"',
    "DROPRIGHT('a😀', 1)": '"a?"',
    "DROPLEFT('😀a', 1)": '"?a"',
    "DROPLEFT('😀a', 2)": '"a"',
    "ENDSWITH('abc', '')": "true",
    "INDEXOF('abc', 'x')": "-1",
    "INDEXOF('abc', '')": "0",
    "INDEXOF('😀b', 'b')": "2",
    "INDEXOF('a', 'longer')": "-1",
    "SUBSTR('a😀b', INDEXOF('a😀b', 'b'))": '"b"',
    "SUBSTR('a😀b', 1, 3)": '"😀"',
    "SUBSTR('a😀b', 2, 4)": '"?b"',
    "SUBSTR('a😀b', -3)": '"😀b"',
    "REGEXP('Kathleen', 'Jo')": "[]",
    "REGEXP(NULL, 'Jo')": "null",
    "REGEX_MATCHES('Jose', 'Jo')": '[["Jo"]]',
    "REGEX_MATCHES('Kathleen', 'Jo')": "[]",
    "REGEX_MATCHES('a', '(b)?a')": '[["a",""]]',
    r"REGEX_MATCHES('f(x)=1', '(?<name>\w)\(([(x])\)(?:=)(?=1)')": '[["f(x)=","f","x"]]',
    "REGEX_MATCHES(NULL, '(a)')": "null",
    "REPLACE('aaa', 'aa', 'b')": '"ba"',
    "REPLACE('abc', '', 'x')": '"abc"',
    "REPLACE('a.b', '.', '$1')": '"a$1b"',
    "STARTSWITH('abc', '')": "true",
    "STARTSWITH('abc', 'B')": "false",
    "SUBSTR('abc', 0)": '"abc"',
    "SUBSTR('abc', 3)": '""',
    "SUBSTR('abc', 99)": '""',
    "SUBSTR('abc', -2)": '"bc"',
    "SUBSTR('abc', -99)": '"abc"',
    "SUBSTR('abc', 2147483647)": '""',
    "SUBSTR('abc', 1, 99)": '"bc"',
    "SUBSTR('abc', 2, 1)": '""',
    "SUBSTR('abc', 0, -1)": '"ab"',
    "SUBSTR('abc', -2, -1)": '"b"',
    "SUBSTR('abc', 0, -99)": '""',
    "SUBSTR('Jose.Hood@aol.com', 10, 20)": '"aol.com"',
    "TAKELEFT('abc', 5)": '"abc"',
    "TAKELEFT('abc', -1)": '""',
    "TAKERIGHT('abc', 5)": '"abc"',
    "TAKERIGHT('abc', 0)": '""',
    "TRUNCATE('abc', -1)": '""',
    "TAKELEFT('😀b', 3)": '"😀b"',
    "TAKERIGHT('b😀', 2)": '"😀"',
    "TAKERIGHT('b😀', 2147483647)": '"b😀"',
    "TAKERIGHT('b', -2147483647)": '""',
    "TRUNCATE('😀b', 1)": '"?"',
    # nulls and types
    "AS_NULLABLE(NULL)": "null",
    "COALESCE(NULL, NULL)": "null",
    "COALESCE(NULL, 1, 2.5)": "1.0",
    "DUMP(NULL)": '"null(null)"',
    "DUMP(AS_NULLABLE(12345678901))": '"long(12345678901)"',
    "DUMP(REGEXP('', 'x'))": '"array<string>([])"',
    "DUMP(LEN(NULL))": '"int(null)"',
    "EXISTS(NULL)": "false",
    "SIZEOF(REGEXP('', 'x'))": "0",
    "SIZEOF(NULL)": "null",
    # JSON
    """JSON_EXTRACT_FIRST('{"b": 1, "a": {"z": 1, "c": "q"}}', '$.a')""": r'"{\"z\":1,\"c\":\"q\"}"',
    """JSON_EXTRACT_FIRST('{"a": [1, 2]}', '$.a')""": '"[1,2]"',
    """JSON_EXTRACT_FIRST('{"a": [{"b": 1}, {"b": "x"}]}', '$.a[*].b')""": '"1"',
    """JSON_EXTRACT_FIRST('{"a": null}', '$.a')""": "null",
    """JSON_EXTRACT_FIRST('{"a": 1}', '$.b')""": "null",
    """JSON_EXTRACT_FIRST('{"a"', '$.a')""": "null",
    """JSON_EXTRACT_FIRST('', '$.a')""": "null",
    """JSON_EXTRACT_FIRST(NULL, '$.a')""": "null",
    """JSON_EXTRACT_FIRST('5', '$')""": '"5"',
    """JSON_EXTRACT_ALL('{"a": [{"b": 1}, {"b": [2]}, {"c": 3}]}', '$.a[*].b')""": '["1","[2]"]',
    """JSON_EXTRACT_ALL('[{"b": [1]}]', '$[*].b')""": '["[1]"]',
    """JSON_EXTRACT_ALL('{"a": [3, "x", null]}', '$.a.*')""": r'["3","\"x\"","null"]',
    """JSON_EXTRACT_ALL('{"a": 5}', '$.a[*]')""": "[]",
    """JSON_EXTRACT_ALL('{"a": 5}', '$.a.*')""": "[]",
    """JSON_EXTRACT_ALL('{"a b": "é"}', '$[''a b'']')""": r'["\"é\""]',
    """JSON_EXTRACT_ALL('{"a": 5}', '$.b')""": "[]",
    """JSON_EXTRACT_ALL('nonsense', '$.b')""": "[]",
    """JSON_EXTRACT_ALL(NULL, '$.b')""": "null",
    # privacy
    "ANONYMIZE('')": '""',
    "ANONYMIZE(-12.5)": '"*****"',
    "MASK('a😀')": '"***"',
    "FIRST2('😀x')": '"😀*****"',
    "LAST3('b😀x')": '"*****😀x"',
    "EMAIL('no address')": '"n*****"',
    "EMAIL('a@b@c.org')": '"a*****@c.org"',
    "EMAIL('')": '"*****"',
    "FIRST2('x')": '"x*****"',
    "FIRST1(NULL)": "null",
    "LAST4('ab')": '"*****ab"',
    "INITIALS('  mary-ann  o''neil ')": '"mo"',
    "INITIALS('')": '""',
    "INITIALS('😀a b')": '"😀b"',
    # numbers
    "ABS(-2.5)": "2.5",
    "ABS(CAST('-1.50' AS decimal(10,2)))": "1.50",
    "ACOS(2)": '"NaN"',
    "CEIL(-0.5)": "0",
    "CEIL(9007199254740993)": "9007199254740993",
    "CEIL(CAST('-1.50' AS decimal(10,2)))": "-1",
    "FLOOR(9223372036854775807)": "9223372036854775807",
    "FLOOR(CAST('99999999999999999.9' AS decimal(38,18)))": "99999999999999999",
    "ROUND(0.49999999999999994)": "0",
    "ROUND(2.5)": "3",
    "ROUND(-2.5)": "-2",
    "ROUND(-2.51)": "-3",
    "ROUND(-1e-20)": "0",
    "ROUND(7)": "7",
    "ROUND(CAST('-0.5' AS decimal(38,18)))": "0",
    "ROUND(CAST('0.499999999999999999' AS decimal(38,18)))": "0",
    "ROUND(NULL)": "null",
    "MAX(1, 2)": "2",
    "MAX(1, 2.5, 2)": "2.5",
    "MAX(NULL, NULL)": "null",
    "MIN(1, -2, 3)": "-2",
    "MIN(CAST('1.5' AS decimal(4,1)), 2.5)": "1.5",
    "MOD(5, -3)": "2",
    "MOD(5.5, 2)": "1.5",
    "NEG(0)": "0",
    "POW(2, -1)": "0.5",
    "POW(16550, 2)": "2.739025E8",
    "SIGN(0)": "0",
    "SIGN(12345678901)": "1",
    "SQRT(-1)": '"NaN"',
    "DISTANCE(1.5, 2.5, 1.5, 2.5)": "0.0",
    "ROUND(DISTANCE(0, 0, 0, 180))": "20015087",
    # dates
    "CONVERT_DATETIME('29.2.24', 'd.M.yy', 'yyyy-MM-dd')": '"2024-02-29"',
    "CONVERT_DATETIME('2024-02-29T23:00:00-05:00', 'yyyy-MM-dd''T''HH:mm:ssXXX', 'dd HH')": '"01 04"',
    "CONVERT_DATETIME(NULL, 'd.M.yy', 'yyyy')": "null",
    "DATE(-1)": '"1969-12-31"',
    "DATE(NULL)": "null",
    "DATE_TO_STR(DATE(0), 'EEEE d MMMM')": '"Thursday 1 January"',
    "FORMAT_DATE(1709211845678, 'HH:mm:ss.SSS')": '"13:04:05.678"',
    "DATE_TO_STR(NULL, 'yyyy')": "null",
    "HOUR(DATE(0))": "0",
    "YEAR(TO_TIMESTAMP('1969-12-31 23:59:59'))": "1969",
    "MONTH_TEXT(DATE(0))": '"January"',
    "SECOND(-12345678901)": "41",
    "TIMESTAMP('2024-02-29', '13:04')": '"2024-02-29T13:04:00.000Z"',
    "TIMESTAMP('2024-07-01', '13:04:05.5', '+02:00')": '"2024-07-01T11:04:05.500Z"',
    "TIMESTAMP(DATE(0), '00:00', 'America/New_York')": '"1970-01-01T05:00:00.000Z"',
    "TIMESTAMP(NULL, '00:00')": "null",
    "TO_DATE('29 Feb 2024', 'dd MMM yyyy')": '"2024-02-29"',
    "TO_TIMESTAMP('2024-02-29')": '"2024-02-29T00:00:00.000Z"',
    "TO_TIMESTAMP('2024-02-29T13:04:05+02:00')": '"2024-02-29T11:04:05.000Z"',
    "TO_TIMESTAMP(DATE(19782))": '"2024-02-29T00:00:00.000Z"',
    "EXTRACT_DATE(DATE(0))": '"1970-01-01"',
    "EXTRACT_DATE(-2592000001)": '"1969-12-01"',
    "EXTRACT_TIME(-2592000001)": '"23:59:59.999"',
    "EXTRACT_TIME(TIMESTAMP_MICROS(1709211845678901))": '"13:04:05.678901"',
    "FORMAT_DATE(1701203325410, 'dd-MM-yyyy HH:mm')": '"28-11-2023 20:28"',
    "FORMAT_TIME(1701203325410, 'K:mm a, z')": '"8:28 PM, UTC"',
    "FORMAT_TIMESTAMP(1701203325337, 'yyyy-MM-dd HH:mm:ss')": '"2023-11-28 20:28:45"',
    "FORMAT_TIME(TIME_MICROS(1), 'HH:mm:ss.SSSSSS')": '"00:00:00.000001"',
    "HOUR(TIME_MILLIS(86399999))": "23",
    "PARSE_DATE('2016-01-01 00:00:02', 'yyyy-MM-dd HH:mm:ss')": '"2016-01-01"',
    "PARSE_TIME_MILLIS('2016-01-01 00:00:02', 'yyyy-MM-dd HH:mm:ss')": '"00:00:02"',
    "PARSE_TIME_MILLIS('00:00:02.9999', 'HH:mm:ss.SSSS')": '"00:00:02.999"',
    "PARSE_TIME_MICROS('11:59 PM', 'h:mm a')": '"23:59:00"',
    "PARSE_TIME_MICROS('11:59 +02:00', 'HH:mm XXX')": '"11:59:00"',
    "PARSE_TIME_MICROS('2016', 'yyyy')": '"00:00:00"',
    "SECOND(TIME_MILLIS(5999))": "5",
    "TIME_MICROS(-1)": '"23:59:59.999999"',
    "TIME_MILLIS(1500)": '"00:00:01.5"',
    "TIME_MILLIS(-86400000)": '"00:00:00"',
    "TIMESTAMP('2024-02-29', PARSE_TIME_MILLIS('1:04', 'H:mm'), 'Europe/Paris')": '"2024-02-29T00:04:00.000Z"',
    "TIMESTAMP_MICROS(-1)": '"1969-12-31T23:59:59.999Z"',
    "TIMESTAMP_MILLIS(0)": '"1970-01-01T00:00:00.000Z"',
    "MKSTRING(PARSE_TIMESTAMP_MILLIS('1.1.1970 0:0:0.0009', 'd.M.yyyy H:m:s.SSSS'))": r'"\"1970-01-01T00:00:00.000Z\""',
    "MKSTRING(TIME_MICROS(60000001))": r'"\"00:01:00.000001\""',
    "CONCAT(TIME_MILLIS(100), '')": '"00:00:00.1"',
}
"""By expression: its value as JSON text."""

FAILURES = [
    "AS_NON_NULLABLE(LEN(NULL))",
    "ABS(CAST('-2147483648' AS int))",
    "CEIL(1e19)",
    "FLOOR(ACOS(2))",
    "ROUND(CAST('99999999999999999999' AS decimal(38,2)))",
    "SIGN(ACOS(2))",
    "MOD(1, 0)",
    "MOD(1.5, 0)",
    "DECODE64('YW!j')",
    "DECODE64('//79')",
    "REGEXP('a', '(')",
    "DATE(3000000000)",
    "CONVERT_DATETIME('2024-02-30', 'yyyy-MM-dd', 'dd')",
    "TO_DATE('soon', 'yyyy-MM-dd')",
    "TO_DATE('2024-02-29 and more', 'yyyy-MM-dd')",
    "TO_DATETIME('', 'yyyy')",
    "TO_TIMESTAMP('29/02/2024', 'yyyy-MM-dd')",
    "TO_TIMESTAMP('2024')",
    "TO_TIMESTAMP('13:04')",
    "TO_TIMESTAMP('2024-02-30')",
    "REPEAT('a', 10001)",
    "TO_TIMESTAMP('2024-02-29T13:04:05 nowhere')",
    "TIMESTAMP('2024-02-29', '25:00')",
    "TIMESTAMP_MILLIS(9223372036854775807)",
    "TO_TIMESTAMP(9223372036854775807)",
    "FORMAT_TIME(TIME_MILLIS(0), 'QQQQQQ')",
    "FORMAT_TIMESTAMP(DATE(0), 'e')",
    "PARSE_TIME_MILLIS('10', 'YY')",
    "PARSE_TIME_MILLIS('25:00', 'HH:mm')",
    "PARSE_TIME_MICROS('soon', 'HH:mm')",
    "PARSE_TIMESTAMP_MILLIS('soon', 'HH:mm')",
    "TIMESTAMP('2024-02-29', '13:04', 'Nowhere/Nothing')",
]
"""Expressions that make a record fail."""

SAMPLES = {
    "date": "'2024-02-29'",
    "time": "TIME_MILLIS(1)",
    "zone": "'UTC'",
    "pattern": "'yyyy'",
    "from": "'yyyy'",
    "to": "'yyyy'",
    "path": "'$'",
    "string": "'2024'",
    "text": "'2024'",
    "field1": "'x'",
    "field2": "'y'",
    "array": "REGEXP('a', 'a')",
    "array<E>": "REPEAT(1, 1)",
    "array<array<A>>": "REPEAT(REPEAT(1, 1), 1)",
    "instant": "12345678901",
}
"""Arguments by the name or kind of a parameter. Other parameters get the number 1."""


def calls_with_one_null(signature: Signature) -> Iterator[str]:
    """A call for each parameter that can be a column, in which this argument is NULL."""
    samples = [SAMPLES.get(p.name, SAMPLES.get(p.kind, "1")) for p in signature.parameters]
    for position in [n for n, p in enumerate(signature.parameters) if not p.constant]:
        args = [*samples[:position], "NULL", *samples[position + 1 :]]
        yield f"{signature.name}({', '.join(args)})"


NULLS = {
    call: "null"
    for row in ROWS
    for variant in (row, *row.variants)
    if variant.nulls == "propagate"
    for call in calls_with_one_null(variant.signature)
}
"""Calls with one NULL argument, for all parameters of functions that propagate NULL."""

EXPECTED = {**EXAMPLES, **EDGES, **NULLS}

ALL_FIELDS = {"ignoreNullFields": "false"}

LITERALS_ONLY = Scope(
    name="examples",
    shape=Shape(Serde(STRING_FORMAT, STRING), Serde(STRING_FORMAT, STRING), frozenset()),
    aliases=frozenset(),
)


@dataclass
class LiteralColumns:
    """Replaces literals of expressions by columns."""

    values: dict[str, Const] = field(default_factory=dict)
    """The values of the columns, by name."""

    def replace(self, expr: Expr) -> Expr:
        if not isinstance(expr, Const) or expr.value is None:
            return expr
        name = f"literal_{len(self.values)}"
        self.values[name] = expr
        return ColumnRef(name, (), expr.type)


def bind(expr: ast.Expression, literals: LiteralColumns) -> Expr:
    """The bound expression. Its literals are columns, except for parameters that must be literals."""
    if not isinstance(expr, ast.Call):
        return Binder(LITERALS_ONLY).bind(expr)
    bound = [bind(arg, literals) for arg in expr.args if not isinstance(arg, ast.Star)]
    types = [arg.type for arg in bound]
    row = choose(FUNCTIONS[expr.name.upper()], types)
    matched = match(row.signature, types, [arg.value if isinstance(arg, Const) else None for arg in bound])
    assert isinstance(matched, Match), (expr, matched)
    args: list[Expr] = []
    for position, (arg, kind) in enumerate(zip(bound, matched.arguments, strict=True)):
        parameter = row.signature.parameter(position)
        if parameter.kind == "header":
            assert isinstance(arg, Const)
            args.append(HeaderValue(str(arg.value)))
        else:
            args.append(operators.convert(arg if parameter.constant else literals.replace(arg), kind))
    args += [default_of(p) for p in row.signature.parameters[len(bound) :] if p.optional]
    args += [RandomBits(number, expr.span) for number in range(row.random_bits)]
    if row.takes_headers:
        args.append(ColumnRef("headers", (), operators.HEADERS))
    lowering = typed(row.lowering, matched.result)
    return FunctionCall(function=row.name, lowering=lowering, args=tuple(args), type=matched.result, nullable=True)


def default_of(parameter: Parameter) -> Expr:
    return operators.convert(operators.constant(parameter.default), SCALARS[parameter.kind])


def parse(text: str) -> ast.Expression:
    return read_expression(Cursor(text))


def computed(spark: SparkSession, bound: Mapping[str, Expr], literals: LiteralColumns) -> DataFrame:
    """One record with a column for each expression, in their order."""
    record = spark.createDataFrame(
        [(EXAMPLE_HEADERS, *(const.value for const in literals.values.values()))],
        ", ".join(
            [
                "headers array<struct<key string, value binary>>",
                *(f"{n} {spark_type(c.type).simpleString()}" for n, c in literals.values.items()),
            ]
        ),
    )
    columns = {name: F.col(name) for name in ("headers", *literals.values)}
    return record.select(*(column(e, columns).alias(f"v{i}") for i, e in enumerate(bound.values())))


@pytest.fixture(scope="module")
def spark(engine: MemoryEngine) -> Iterator[SparkSession]:
    # The code of hundreds of expressions exceeds the size of a JVM method. Spark would try to compile it and fall back.
    with conf(engine.session, "spark.sql.codegen.wholeStage", "false"):
        yield engine.session


@dataclass(frozen=True)
class Results:
    """By expression: its value as JSON text, its type in Spark, and its type in the function table."""

    values: Mapping[str, str]
    spark_types: Mapping[str, str]
    documented_types: Mapping[str, str]


@pytest.fixture(scope="module")
def results(spark: SparkSession) -> Results:
    literals = LiteralColumns()
    bound = {text: bind(parse(text), literals) for text in [*EXPECTED, *NON_DETERMINISTIC]}
    frame = computed(spark, bound, literals)
    row = frame.select(*(F.to_json(F.array(name), ALL_FIELDS) for name in frame.columns)).collect()[0]
    return Results(
        {text: value[1:-1] for text, value in zip(bound, row, strict=True)},  # without the brackets of the array
        {text: f.dataType.simpleString() for text, f in zip(bound, frame.schema, strict=True)},
        {text: spark_type(expr.type).simpleString() for text, expr in bound.items()},
    )


@pytest.mark.parametrize("text", EXPECTED)
def test_an_expression_has_its_documented_value(text: str, results: Results) -> None:
    assert results.values[text] == EXPECTED[text]


@pytest.mark.parametrize("text", NON_DETERMINISTIC)
def test_a_non_deterministic_value_matches_its_documented_pattern(text: str, results: Results) -> None:
    assert re.fullmatch(NON_DETERMINISTIC[text], results.values[text])


def test_every_column_has_its_documented_type(results: Results) -> None:
    assert results.spark_types == results.documented_types


AGGREGATED = (2, 3, None, 1, 3)
"""The values of the field `x` in the records of the examples of aggregates."""

ONE_FIELD = Scope(
    name="examples",
    shape=Shape(
        Serde(STRING_FORMAT, STRING), Serde(JSON_FORMAT, Struct((Field("x", INT),))), frozenset({"partition", "offset"})
    ),
    aliases=frozenset(),
)


@pytest.fixture(scope="module")
def aggregates(spark: SparkSession) -> Mapping[str, tuple[str, str, str]]:
    """By aggregate: its value as JSON text, its type in Spark, and its type in the function table."""
    records = [(value, 1000 * offset, 7, offset) for offset, value in enumerate(AGGREGATED)]
    # In reverse order and in several partitions: the result must not depend on the order of arrival.
    rows = spark.createDataFrame(records[::-1], "x int, ts long, partition int, offset long").repartition(3)
    calls = {name: Binder(ONE_FIELD).bind(parse(row.example)) for name, row in AGGREGATES.items()}
    order = [F.col(name).cast("long") for name in ("ts", "partition", "offset")]
    columns = []
    for name, call in calls.items():
        assert isinstance(call, AggregateCall)
        value = column(call.arg or Const(1, INT), {"value": F.struct("x")})
        columns.append(aggregated(call, value, order).cast(spark_type(call.type)).alias(name))
    frame = rows.groupBy().agg(*columns)
    row = frame.select(*(F.to_json(F.array(name), ALL_FIELDS) for name in frame.columns)).collect()[0]
    return {
        name: (text[1:-1], result.dataType.simpleString(), spark_type(calls[name].type).simpleString())
        for name, text, result in zip(calls, row, frame.schema, strict=True)
    }


@pytest.mark.parametrize("name", AGGREGATES)
def test_an_aggregate_has_its_documented_value(name: str, aggregates: Mapping[str, tuple[str, str, str]]) -> None:
    value, spark_type_name, documented_type = aggregates[name]
    assert value == AGGREGATES[name].result
    assert spark_type_name == documented_type


@pytest.fixture(scope="module")
def failing(spark: SparkSession) -> DataFrame:
    literals = LiteralColumns()
    return computed(spark, {text: bind(parse(text), literals) for text in FAILURES}, literals)


@pytest.mark.parametrize(("position", "text"), list(enumerate(FAILURES)), ids=FAILURES)
def test_an_expression_without_a_value_makes_the_record_fail(position: int, text: str, failing: DataFrame) -> None:
    with pytest.raises(PySparkException) as failure:
        failing.select(failing.columns[position]).collect()

    assert classify(failure.value).kind in ("malformed", "refused")
