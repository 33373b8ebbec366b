"""Rows of a table in a sink: whether any of them goes again, and which columns tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic, Fields
from lsql_runner.bind.expr import ColumnRef
from lsql_runner.bind.grouping import group_column
from lsql_runner.types import DataType, Struct

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class RowIdentity:
    """A part of what a row is known by: a key, or a value that it is grouped by."""

    columns: frozenset[str]
    """The columns below the projection that hold it; any of them will do."""
    type: DataType
    name: str
    """As a program writes it."""


def rows_go(select: BoundSelect) -> bool:
    """Whether a row of the result may be taken away after it came."""
    group = select.grouping
    if group is not None:
        is_session = group.window is not None and group.window.is_session
        return select.reads_table or (not group.final and (is_session or select.having is not None))
    if not select.reads_table:
        return False
    source = select.source
    if not isinstance(source, BoundSelect) or not source.is_table:
        return True
    return select.where is not None or rows_go(source)


def identity(select: BoundSelect) -> tuple[RowIdentity, ...] | None:
    """What the rows of a table are told apart by; None where no column holds it, as the window of a key."""
    group = select.grouping
    if group is None:
        return _key_of(select.source)
    if group.window is not None:
        return None
    keys = (RowIdentity(frozenset({group_column(name)}), expr.type, name) for name, expr in group.keys)
    return tuple(keys) or None


def is_identity(wanted: tuple[RowIdentity, ...], key: tuple[str, ...], select: BoundSelect) -> bool:
    """Whether the columns of a key are all of an identity, as it is, and nothing else."""
    fields = dict(select.value.fields) if isinstance(select.value, Fields) else {}
    exprs = [fields.get(column) for column in key]
    refs = [expr for expr in exprs if isinstance(expr, ColumnRef)]
    if len(refs) < len(exprs) or any(not any(ref.name in part.columns for part in wanted) for ref in refs):
        return False
    return all(
        any(ref.name in part.columns and leaf[: len(ref.path)] == ref.path for ref in refs)
        for part in wanted
        for leaf in _leaves(part.type)
    )


def _key_of(source: BoundTopic | BoundSelect | BoundJoin) -> tuple[RowIdentity, ...] | None:
    match source:
        case BoundJoin():
            return (RowIdentity(source.key.columns | {"key"}, source.key.serde.type, "_key"),)
        case _ if source.shape.key.format.is_windowed:
            return None
    return (RowIdentity(frozenset({"key"}), source.shape.key.type, "_key"),)


def _leaves(kind: DataType) -> tuple[Path, ...]:
    if not isinstance(kind, Struct) or not kind.fields:
        return ((),)
    return tuple((member.name, *path) for member in kind.fields for path in _leaves(member.type))
