"""The keys of the rows of sources and joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsql_runner.bind import operators
from lsql_runner.bind.bound import JoinKind, JoinValues, RowKey
from lsql_runner.bind.expr import CaseWhen, ColumnRef, Expr, OperatorCall, StructValue
from lsql_runner.bind.join_scope import JoinSource
from lsql_runner.bind.output_formats import default_format, fits
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Serde
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import BOOLEAN, STRING, describe


def key_of_source(source: JoinSource) -> RowKey:
    """The key of the rows of a source in the FROM."""
    expr = source.resolve(ast.NamePath(ast.Ident("_key")))
    assert isinstance(expr, ColumnRef)
    return RowKey(expr, source.scope.shape.key, frozenset({expr.name}))


@dataclass(frozen=True, slots=True, kw_only=True)
class EquiJoin:
    """The pairs of values that a join compares (left[i] = right[i]), and the keys of the rows of both inputs."""

    kind: JoinKind
    left: JoinValues
    right: JoinValues
    left_key: RowKey
    right_key: RowKey

    @property
    def by_left_key(self) -> bool:
        """Whether the left values are exactly the key of the left rows."""
        return self.left_key.is_exactly(self.left)

    @property
    def by_right_key(self) -> bool:
        """Whether the right values are exactly the key of the right rows."""
        return self.right_key.is_exactly(self.right)


def key_of_tables(join: EquiJoin) -> RowKey:
    """The key of two joined tables: their common key, or the key of the table that is joined by another field."""
    if join.by_left_key and join.by_right_key:
        return _common_key(join)
    return join.left_key if join.by_right_key else join.right_key


def key_of_values(join: EquiJoin, sources: Sequence[JoinSource], is_legacy: bool, span: Span) -> RowKey:
    """The key of a join with a stream: the compared values.

    In the legacy dialect, a single value that is not the key of the left rows becomes text.

    Raises:
        LsqlError: FORMAT_MISMATCH.
    """
    if join.by_left_key and join.by_right_key:
        return _common_key(join)
    values = join.right if join.kind == "RIGHT" else join.left
    input_key = join.right_key if join.kind == "RIGHT" else join.left_key
    if join.kind != "FULL":
        for key in (input_key, *(key_of_source(source) for source in sources)):
            if key.is_exactly(values):
                return RowKey(values[0], key.serde, key.columns)
    expr = _one_expr(values)
    if join.kind == "FULL":
        right = tuple(zip((name for name, _ in _name_values(values)), join.right, strict=True))
        expr = _first_not_null(expr, join.right[0] if len(join.right) == 1 else StructValue(right))
    if is_legacy and len(values) == 1 and not join.by_left_key:
        expr = operators.convert(expr, STRING)
    form = default_format(expr.type)
    if not fits(expr.type, form):
        raise LsqlError(
            "FORMAT_MISMATCH", span, part="key", type=describe(expr.type), format=str(form), suggested="JSON"
        )
    return RowKey(expr, Serde(form, expr.type), frozenset())


def _common_key(join: EquiJoin) -> RowKey:
    """The key of a join that compares the keys of both inputs."""
    match join.kind:
        case "FULL":
            expr = _first_not_null(join.left[0], join.right[0])
            return RowKey(expr, Serde(default_format(expr.type), expr.type), frozenset())
        case "RIGHT":  # the left key is NULL in rows without a match
            return join.right_key
        case "LEFT":
            return join.left_key
    return RowKey(join.left_key.expr, join.left_key.serde, join.left_key.columns | join.right_key.columns)


def _one_expr(values: JoinValues) -> Expr:
    return values[0] if len(values) == 1 else StructValue(_name_values(values))


def _name_values(values: JoinValues) -> tuple[tuple[str, Expr], ...]:
    return tuple((_name(expr, position), expr) for position, expr in enumerate(values))


def _first_not_null(first: Expr, second: Expr) -> Expr:
    return CaseWhen(((OperatorCall("IS NOT NULL", (first,), BOOLEAN, False), first),), second, first.type)


def _name(expr: Expr, position: int) -> str:
    match expr:
        case ColumnRef(path=(*_, str(name))):
            return name
    return f"key{position}"
