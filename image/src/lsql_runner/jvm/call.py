"""Calls of functions by name, Spark's and ours, and of our Java classes."""

from __future__ import annotations

from functools import reduce
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column
from pyspark.sql.classic.column import _to_java_column, _to_seq


def call(name: str, *args: Column) -> Column:
    """The column of a function, or operator, that is registered in the session under `name`.

    `F.call_function` would parse the name as SQL. Nothing else here needs that parser; loading it takes a fifth of a
    second of a start on one core.
    """
    companion = getattr(_jvm().org.apache.spark.sql, "Column$")
    return Column(getattr(companion, "MODULE$").fn(name, _to_seq(_context(), args, _to_java_column)))


def java_class(name: str) -> Any:
    """The Java class with a name of `jvm.java_entries`, to call its methods or create objects."""
    return reduce(getattr, name.split("."), _jvm())


def _context() -> SparkContext:
    context = SparkContext._active_spark_context
    assert context is not None
    return context


def _jvm() -> Any:
    jvm = SparkContext._jvm
    assert jvm is not None
    return jvm
