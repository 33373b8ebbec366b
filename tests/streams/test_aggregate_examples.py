"""Aggregates on Spark: the examples of the function table, with their values and types."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lsql_runner.bind.bound import Shape
from lsql_runner.bind.expr import AggregateCall, Const
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.functions.table import AGGREGATES
from lsql_runner.bind.scope import Scope
from lsql_runner.compile.aggregates import aggregate_column
from lsql_runner.compile.expressions import column
from lsql_runner.compile.schema import spark_type
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT, Serde
from lsql_runner.sql.cursor import Cursor
from lsql_runner.sql.expressions import read_expression
from lsql_runner.types import INT, STRING, Field, Struct

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
    calls = {name: Binder(ONE_FIELD).bind(read_expression(Cursor(row.example))) for name, row in AGGREGATES.items()}
    order = [F.col(name).cast("long") for name in ("ts", "partition", "offset")]
    columns = []
    for name, call in calls.items():
        assert isinstance(call, AggregateCall)
        value = column(call.arg or Const(1, INT), {"value": F.struct("x")})
        columns.append(aggregate_column(call, value, order).cast(spark_type(call.type)).alias(name))
    frame = rows.groupBy().agg(*columns)
    row = frame.select(*(F.to_json(F.array(name), {"ignoreNullFields": "false"}) for name in frame.columns)).collect()[
        0
    ]
    return {
        name: (text[1:-1], result.dataType.simpleString(), spark_type(calls[name].type).simpleString())
        for name, text, result in zip(calls, row, frame.schema, strict=True)
    }


@pytest.mark.parametrize("name", AGGREGATES)
def test_an_aggregate_has_its_documented_value(name: str, aggregates: Mapping[str, tuple[str, str, str]]) -> None:
    value, spark_type_name, documented_type = aggregates[name]
    assert value == AGGREGATES[name].result
    assert spark_type_name == documented_type
