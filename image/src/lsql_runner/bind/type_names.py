"""The names of types in CAST and CREATE TABLE."""

from __future__ import annotations

from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import SCALARS, DataType, Decimal

_OTHER_NAMES = {
    "integer": "int",
    "bigint": "long",
    "varchar": "string",
    "bool": "boolean",
    "datetime": "timestamp",
}
"""Names of types in other dialects of SQL."""


def type_named(name: ast.TypeName, decimal: Decimal) -> DataType:
    """The type with this name.

    Args:
        name: the name, with parameters if it has any.
        decimal: the type `decimal` without precision and scale.

    Raises:
        LsqlError: TYPE_UNKNOWN.
    """
    if name.name == "decimal":
        if not name.parameters:
            return decimal
        precision, scale = name.parameters[0], name.parameters[1] if len(name.parameters) > 1 else 0
        if len(name.parameters) <= 2 and 1 <= precision <= 38 and scale <= precision:
            return Decimal(precision, scale)
    scalar = SCALARS.get(_OTHER_NAMES.get(name.name, name.name))
    if scalar is None or name.parameters:
        raise LsqlError("TYPE_UNKNOWN", name.span, name=name.name, known=", ".join([*SCALARS, "decimal(p,s)"]))
    return scalar
