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

from lsql_runner.bind import operators
from lsql_runner.bind.bound import Shape
from lsql_runner.bind.expr import ColumnRef, Const, Expr, FunctionCall, HeaderValue, RandomBits
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.functions.headers import EXAMPLE_HEADERS
from lsql_runner.bind.functions.lowering import cast_to_result
from lsql_runner.bind.functions.match import choose, match
from lsql_runner.bind.functions.spec import Match, Parameter, Signature
from lsql_runner.bind.functions.table import FUNCTIONS, ROWS, SPECIAL_FORMS
from lsql_runner.bind.scope import Scope
from lsql_runner.compile.expressions import column
from lsql_runner.compile.schema import spark_type
from lsql_runner.formats.catalog import STRING_FORMAT, Serde
from lsql_runner.jvm.failures import classify
from lsql_runner.sql import ast
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expressions import read_expression
from lsql_runner.types import SCALARS, STRING
from tests.streams.function_edges import EDGES, FAILURES

# The first test waits for the SELECT that computes the values of all tests.
pytestmark = pytest.mark.timeout(180)

EXAMPLES = {v.example: v.result for row in ROWS for v in (row, *row.variants) if v.deterministic}
EXAMPLES |= {form.example: form.result for form in SPECIAL_FORMS.values()}
NON_DETERMINISTIC = {v.example: v.result for row in ROWS for v in (row, *row.variants) if not v.deterministic}

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
            args.append(HeaderValue(str(arg.value), matched.result))
        else:
            args.append(operators.convert(arg if parameter.constant else literals.replace(arg), kind))
    args += [default_of(p) for p in row.signature.parameters[len(bound) :] if p.optional]
    args += [RandomBits(number, expr.span) for number in range(row.random_bits)]
    if row.takes_headers:
        args.append(ColumnRef("headers", (), operators.HEADERS))
    lowering = cast_to_result(row.lowering, matched.result)
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


@pytest.fixture(scope="module")
def failing(spark: SparkSession) -> DataFrame:
    literals = LiteralColumns()
    return computed(spark, {text: bind(parse(text), literals) for text in FAILURES}, literals)


@pytest.mark.parametrize(("position", "text"), list(enumerate(FAILURES)), ids=FAILURES)
def test_an_expression_without_a_value_makes_the_record_fail(position: int, text: str, failing: DataFrame) -> None:
    with pytest.raises(PySparkException) as failure:
        failing.select(failing.columns[position]).collect()

    assert classify(failure.value).kind in ("malformed", "refused")
