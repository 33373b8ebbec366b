"""The check that expressions read only columns that exist."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lsql_runner.bind.expr import ColumnRef, Expr, HeaderValue, walk
from lsql_runner.plan.number_types import computed
from lsql_runner.types import Array, DataType, Map, Struct, describe

ColumnTypes = Mapping[str, DataType]


class InvalidPlan(Exception):
    """A node that cannot work, for example because it reads a missing column: a bug of the planner."""


def check_columns(columns: ColumnTypes, *exprs: Expr, encoded: Collection[str] = ()) -> None:
    """Check that every column that the expressions read exists, with the expected type.

    Args:
        columns: the types of the columns.
        exprs: the expressions.
        encoded: the columns that are still JSON, whose numbers can be read as DOUBLE and as NUMBER.

    Raises:
        InvalidPlan: the message lists the columns that exist.
    """
    for expr in exprs:
        for part in walk(expr):
            name = part.name if isinstance(part, ColumnRef) else "headers" if isinstance(part, HeaderValue) else None
            if name is not None and name not in columns:
                raise InvalidPlan(f"there is no column {name}; there are {', '.join(columns)}")
            if not isinstance(part, ColumnRef):
                continue
            read = computed(part.type) if part.name in encoded else part.type
            if type_at(columns[part.name], part.path) != read:
                raise InvalidPlan(f"{part.name}{part.path} is not {describe(part.type)}")


def type_at(kind: DataType, path: tuple[str | int, ...]) -> DataType | None:
    """The type of a nested field or element; None if the path does not exist."""
    for step in path:
        match kind:
            case Struct() as struct if isinstance(step, str):
                member = struct.field(step)
                if member is None:
                    return None
                kind = member.type
            case Array(element) if isinstance(step, int):
                kind = element
            case Map(value) if isinstance(step, str):
                kind = value
            case _:
                return None
    return kind
