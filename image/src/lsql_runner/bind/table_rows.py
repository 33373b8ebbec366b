"""Tables that a program writes to a sink: whether a row can disappear, and which columns identify a row."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic, Fields
from lsql_runner.bind.expr import ColumnRef
from lsql_runner.bind.grouping import group_column
from lsql_runner.types import DataType, Struct

FieldPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class IdentityValue:
    """A value that identifies a row, alone or with others: the record key, or a group key."""

    columns: frozenset[str]
    """The columns of the projection's input that contain the value."""
    type: DataType


def may_lose_rows(select: BoundSelect) -> bool:
    """Whether a row of the result can disappear."""
    group = select.grouping
    if group is not None:
        is_session = group.window is not None and group.window.is_session
        return select.reads_table or (not group.final and (is_session or select.having is not None))
    if not select.reads_table:
        return False
    source = select.source
    if not isinstance(source, BoundSelect) or not source.is_table:
        return True
    return select.where is not None or may_lose_rows(source)


def row_identity(select: BoundSelect) -> tuple[IdentityValue, ...] | None:
    """The values that identify a row of a table; None if columns cannot contain all of them: a window, or the bytes of
    the record key by which records are grouped without GROUP BY."""
    group = select.grouping
    if group is None:
        return _key_of(select.source)
    if group.window is not None:
        return None
    keys = (IdentityValue(frozenset({group_column(name)}), expr.type) for name, expr in group.keys)
    return tuple(keys) or None


def is_row_identity(values: tuple[IdentityValue, ...], key: tuple[str, ...], select: BoundSelect) -> bool:
    """Whether the columns of `key` contain all of the values that identify a row, and no other values."""
    fields = dict(select.value.fields) if isinstance(select.value, Fields) else {}
    exprs = [fields.get(column) for column in key]
    refs = [expr for expr in exprs if isinstance(expr, ColumnRef)]
    if len(refs) < len(exprs) or any(not any(ref.name in value.columns for value in values) for ref in refs):
        return False
    return all(
        any(ref.name in value.columns and path[: len(ref.path)] == ref.path for ref in refs)
        for value in values
        for path in scalar_paths(value.type)
    )


def _key_of(source: BoundTopic | BoundSelect | BoundJoin) -> tuple[IdentityValue, ...] | None:
    match source:
        case BoundJoin():
            return (IdentityValue(source.key.columns | {"key"}, source.key.serde.type),)
        case _ if source.shape.key.format.is_windowed:
            return None
    return (IdentityValue(frozenset({"key"}), source.shape.key.type),)


def scalar_paths(kind: DataType) -> tuple[FieldPath, ...]:
    """The paths to all values that are not structs."""
    if not isinstance(kind, Struct) or not kind.fields:
        return ((),)
    return tuple((member.name, *path) for member in kind.fields for path in scalar_paths(member.type))
