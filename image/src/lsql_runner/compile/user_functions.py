"""Calls of the Java classes of user-defined functions."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lsql_runner.compile.schema import declared_type
from lsql_runner.formats.catalog import UserFunction
from lsql_runner.jvm.call import call
from lsql_runner.jvm.java_entries import CALL_CLASS


def call_class(function: UserFunction, args: Sequence[Column]) -> Column:
    """The column of a call with these arguments, which have the types of the declaration."""
    described = {
        "name": function.name,
        "class": function.class_name,
        "required": [not argument.nullable for argument in function.arguments],
        "result": declared_type(function.result.type).jsonValue(),
        "resultNullable": function.result.nullable,
    }
    return call(CALL_CLASS, F.lit(json.dumps(described)), *args)
