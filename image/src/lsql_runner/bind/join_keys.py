"""The keys of the rows of sources and joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsql_runner.bind import operators
from lsql_runner.bind.bound import JoinKind, RowKey, Values
from lsql_runner.bind.expr import CaseWhen, ColumnRef, Expr, OperatorCall, StructValue
from lsql_runner.bind.join_scope import Side
from lsql_runner.bind.output_formats import default_format, fits
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Serde
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import BOOLEAN, STRING, describe


def key_of_source(side: Side) -> RowKey:
    """The key of a source of the FROM."""
    expr = side.resolve(ast.NamePath(ast.Ident("_key")))
    assert isinstance(expr, ColumnRef)
    return RowKey(expr, side.scope.shape.key, frozenset({expr.name}))


@dataclass(frozen=True, slots=True, kw_only=True)
class On:
    """The values that two sides are joined by, in pairs, and the keys of their rows."""

    kind: JoinKind
    left: Values
    right: Values
    left_key: RowKey
    right_key: RowKey

    @property
    def by_left_key(self) -> bool:
        return self.left_key.is_joined_by(self.left)

    @property
    def by_right_key(self) -> bool:
        return self.right_key.is_joined_by(self.right)


def key_of_tables(on: On) -> RowKey:
    """The key of two joined tables: their common key, or the key of the table that is joined by a field."""
    if on.by_left_key and on.by_right_key:
        return _common(on)
    return on.left_key if on.by_right_key else on.right_key


def key_of_values(on: On, sides: Sequence[Side], is_legacy: bool, span: Span) -> RowKey:
    """The key of rows that are joined by values: these values; in the legacy generation as text, unless they are a key.

    Raises:
        LsqlError: FORMAT_MISMATCH.
    """
    if on.by_left_key and on.by_right_key:
        return _common(on)
    values = on.right if on.kind == "RIGHT" else on.left
    own = on.right_key if on.kind == "RIGHT" else on.left_key
    if on.kind != "FULL":
        for key in (own, *(key_of_source(side) for side in sides)):
            if key.is_joined_by(values):
                return RowKey(values[0], key.serde, key.columns)
    expr = _together(values)
    if on.kind == "FULL":
        others = tuple(zip((name for name, _ in _named(values)), on.right, strict=True))
        expr = _either(expr, on.right[0] if len(on.right) == 1 else StructValue(others))
    if is_legacy and len(values) == 1 and not on.by_left_key:
        expr = operators.convert(expr, STRING)
    form = default_format(expr.type)
    if not fits(expr.type, form):
        raise LsqlError(
            "FORMAT_MISMATCH", span, part="key", type=describe(expr.type), format=str(form), suggested="JSON"
        )
    return RowKey(expr, Serde(form, expr.type), frozenset())


def _common(on: On) -> RowKey:
    """The key that both sides have: that of the side whose rows are all kept, or of either side in a full join."""
    match on.kind:
        case "FULL":
            expr = _either(on.left[0], on.right[0])
            return RowKey(expr, Serde(default_format(expr.type), expr.type), frozenset())
        case "RIGHT":
            return on.right_key
        case "LEFT":
            return on.left_key
    return RowKey(on.left_key.expr, on.left_key.serde, on.left_key.columns | on.right_key.columns)


def _together(values: Values) -> Expr:
    return values[0] if len(values) == 1 else StructValue(_named(values))


def _named(values: Values) -> tuple[tuple[str, Expr], ...]:
    return tuple((_name(expr, place), expr) for place, expr in enumerate(values))


def _either(one: Expr, other: Expr) -> Expr:
    """The first value that is not null."""
    return CaseWhen(((OperatorCall("IS NOT NULL", (one,), BOOLEAN, False), one),), other, one.type)


def _name(expr: Expr, place: int) -> str:
    match expr:
        case ColumnRef(path=(*_, str(name))):
            return name
    return f"key{place}"
