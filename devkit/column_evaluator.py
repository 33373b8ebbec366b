"""Evaluates a column for one record at a time without a Spark job: in milliseconds instead of a third of a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from devkit.spark_rows import conf


def evaluator(session: SparkSession, of: Callable[[Column], Column]) -> Callable[[bytes], Any]:
    """A function that computes a column for a record in the JVM. It returns the row, or raises the error of the
    expressions.

    Expressions are interpreted: generated classes share a name, and py4j identifies classes by name.
    """
    rows = session.createDataFrame([(b"",)], "raw binary").select(of(F.col("raw")).alias("v"))
    plan = rows._jdf.queryExecution().optimizedPlan()
    jvm, gateway = session._jvm, session.sparkContext._gateway
    assert jvm is not None
    assert gateway is not None
    expressions = jvm.org.apache.spark.sql.catalyst.expressions
    with conf(session, "spark.sql.codegen.factoryMode", "NO_CODEGEN"):
        projection = expressions.UnsafeProjection.create(plan.expressions(), plan.children().head().output())
    fields = gateway.new_array(jvm.java.lang.Object, 1)

    def evaluate(record: bytes) -> Any:
        fields[0] = record
        return projection.apply(expressions.GenericInternalRow(fields))

    return evaluate
