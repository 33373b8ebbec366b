"""The names of types in CAST and CREATE TABLE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.sql.printer import print_type
from lsql_runner.types import SCALARS, STRING, Array, DataType, Decimal, Field, Map, Struct

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
        LsqlError: TYPE_UNKNOWN; NAME_DUPLICATE for two fields of a struct with one name.
    """
    kind = _of_members(name, decimal) if name.members else _scalar_type(name, decimal)
    if kind is None:
        known = ", ".join([*SCALARS, "decimal(p,s)", "array<t>", "map<string, t>", "struct<name: t>"])
        raise LsqlError("TYPE_UNKNOWN", name.span, name=print_type(name), known=known)
    return kind


def _scalar_type(name: ast.TypeName, decimal: Decimal) -> DataType | None:
    if name.name != "decimal":
        return None if name.parameters else SCALARS.get(_OTHER_NAMES.get(name.name, name.name))
    if not name.parameters:
        return decimal
    precision, scale = name.parameters[0], name.parameters[1] if len(name.parameters) > 1 else 0
    is_valid = len(name.parameters) <= 2 and 1 <= precision <= 38 and scale <= precision
    return Decimal(precision, scale) if is_valid else None


def _of_members(name: ast.TypeName, decimal: Decimal) -> DataType | None:
    is_struct = name.name == "struct"
    if any((member.field is not None) != is_struct for member in name.members):
        return None
    inside = [type_named(member.type, decimal) for member in name.members]
    match name.name, inside:
        case "array", [element]:
            return Array(element, name.members[0].nullable)
        case "map", [key, value] if key == STRING:
            return Map(value, name.members[1].nullable)
        case "struct", _:
            return Struct(tuple(_fields(name.members, inside)))
    return None


def _fields(members: Sequence[ast.TypeMember], types: Sequence[DataType]) -> Iterator[Field]:
    names: set[str] = set()
    for member, kind in zip(members, types, strict=True):
        assert member.field is not None
        if member.field.name in names:
            raise LsqlError("NAME_DUPLICATE", member.field.span, name=member.field.name)
        names.add(member.field.name)
        yield Field(member.field.name, kind, member.nullable)
