"""Errors of Spark's JVM, read through py4j."""

from __future__ import annotations

import re

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkContext

from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import ERROR_CHAIN
from lsql_runner.jvm.java_error import JavaError, JavaErrors, read_chain

_LONGEST = 300


def errors_of(error: BaseException | JavaObject) -> JavaErrors:
    """An exception and its causes; never empty. If a store with state failed, the last one says so.

    Args:
        error: an exception of pyspark or py4j, a Java Throwable, or another exception, which has no condition.
    """
    thrown = _throwable(error)
    if thrown is not None and SparkContext._active_spark_context is not None:
        try:
            return read_chain(java_class(ERROR_CHAIN).json(thrown))
        except (Py4JError, OSError):
            pass  # the JVM has ended: only the text of the exception in Python is left, which may have values
    reason = "" if thrown is not None else _first_line(str(error))
    return (JavaError(reason=reason, type=type(error).__name__),)


def _throwable(error: BaseException | JavaObject) -> JavaObject | None:
    if isinstance(error, JavaObject):
        return error
    if isinstance(error, Py4JJavaError):
        return error.java_exception
    return getattr(error, "_origin", None)  # of pyspark's own exceptions


def _first_line(text: str) -> str:
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return re.sub(r"\b(?:[a-z]+\.)+([A-Z]\w+)", r"\1", line)[:_LONGEST]
