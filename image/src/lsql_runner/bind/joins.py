"""FROM with JOINs: the sources, the values that they are joined by, and the key of the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic, JoinKind, JoinValues, RowKey, Shape
from lsql_runner.bind.expr import ColumnRef, Expr, OperatorCall, walk
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.join_keys import EquiJoin, key_of_source, key_of_tables, key_of_values
from lsql_runner.bind.join_scope import JoinScope, JoinSource
from lsql_runner.bind.scope import SUBSELECT, Scope
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import BOOLEAN, describe

NamedSource = BoundTopic | BoundSelect
"""What FROM or JOIN names: a topic, a WITH query or a subselect."""
LookUp = Callable[[ast.Source], NamedSource]
"""Returns the source that FROM or JOIN names; raises TOPIC_UNKNOWN, and as `bind_select` for a subselect."""

JOIN_METADATA = frozenset({"ts"})
_KEEPS_UNMATCHED: dict[JoinKind, tuple[bool, bool]] = {
    "INNER": (False, False),
    "LEFT": (True, False),
    "RIGHT": (False, True),
    "FULL": (True, True),
}
"""Whether a join keeps left rows and right rows without a match."""


def reads_table(select: ast.Select, source: NamedSource) -> bool:
    """Whether a SELECT reads its source as a table.

    SELECT TABLE and SELECT STREAM determine it. In the legacy dialect, a SELECT without them reads a WITH query as a
    table if its result is a table, and a topic as a table if the SELECT groups or joins without a window.
    """
    if select.mode is not None:
        return select.mode == "TABLE"
    if isinstance(source, BoundSelect):
        return source.is_table
    return bool(select.group_by or select.joins) and select.window is None


def joins_streams(source: NamedSource | BoundJoin) -> bool:
    """Whether the source contains a join of two streams, so that a grace period applies to their records."""
    return isinstance(source, BoundJoin) and (source.within_ms is not None or joins_streams(source.left))


def bind_joins(
    select: ast.Select, look_up: LookUp, is_legacy: bool, grace_ms: int, binder: Callable[[JoinScope], Binder]
) -> tuple[BoundJoin, JoinScope]:
    """The joined sources of a SELECT with JOINs, and the names in it.

    Args:
        select: the SELECT.
        look_up: returns the source of a name.
        is_legacy: whether the SELECT is of the legacy dialect.
        grace_ms: how late a record of a stream can be.
        binder: returns the Binder of an ON condition.

    Raises:
        LsqlError: JOIN_*, OUTER_JOIN_*, NAME_DUPLICATE, FORMAT_MISMATCH; what `look_up` and binding the conditions
            raise.
    """
    first = look_up(select.source)
    sources = [_join_source(select.source, first, 0)]
    left: NamedSource | BoundJoin = first
    left_is_table, left_key = _is_table(select, first), key_of_source(sources[0])
    for number, clause in enumerate(select.joins, 1):
        right = look_up(clause.source)
        right_is_table = _is_table(select, right)
        keeps_left, keeps_right = _KEEPS_UNMATCHED[clause.kind]
        sources = [replace(source, optional=source.optional or keeps_right) for source in sources]
        sources.append(replace(_join_source(clause.source, right, number), optional=keeps_left))
        _check_names(clause.source, sources)
        right_key = key_of_source(sources[-1])
        scope = JoinScope(sources=tuple(sources), shape=_shape(left, sources), in_condition=True)
        condition = _condition(clause, binder(scope), number, left_key, right_key)
        join = EquiJoin(
            kind=clause.kind, left=condition.left, right=condition.right, left_key=left_key, right_key=right_key
        )
        within_ms = _within_ms(select, clause, is_legacy, left_is_table, right_is_table)
        _check_unmatched_rows(clause, join, left_is_table, right_is_table)
        if left_is_table and right_is_table:
            key = key_of_tables(join)
        else:
            key = key_of_values(join, sources, is_legacy, clause.span)
        left = BoundJoin(
            left=left,
            right=right,
            kind=clause.kind,
            left_is_table=left_is_table,
            right_is_table=right_is_table,
            left_keys=join.left,
            right_keys=join.right,
            by_left_key=join.by_left_key,
            by_right_key=join.by_right_key,
            residual=condition.residual,
            within_ms=within_ms,
            grace_ms=grace_ms,
            number=number,
            key=key,
        )
        left_is_table, left_key = left.is_table, key
    assert isinstance(left, BoundJoin)
    if select.join_window is not None and not joins_streams(left):
        raise LsqlError("JOIN_WITHIN_MISPLACED", select.join_window.span)
    return left, JoinScope(sources=tuple(sources), shape=_shape(left, sources))


def _is_table(select: ast.Select, source: NamedSource) -> bool:
    """Whether a source is joined as a table: a WITH query if its result is a table; for a topic, see `reads_table`."""
    return source.is_table if isinstance(source, BoundSelect) else reads_table(select, source)


def _join_source(written: ast.Source, source: NamedSource, number: int) -> JoinSource:
    names = [name.name for name in written.names]
    shape = replace(source.shape, metadata=source.shape.metadata - {"headers"})
    scope = Scope(name=names[0] if names else SUBSELECT, shape=shape, aliases=frozenset(names))
    return JoinSource(scope, number)


def _check_names(written: ast.Source, sources: list[JoinSource]) -> None:
    """Check the name of the last source, and remove the aliases of earlier sources from its aliases, in place.

    A source can be joined with itself under an alias. The name without an alias then means the first of the two.

    Raises:
        LsqlError: NAME_DUPLICATE.
    """
    *before, last = sources
    taken = frozenset().union(*(source.scope.aliases for source in before))
    alias = next(iter(written.names), None)
    if alias is not None and alias.name in taken:
        raise LsqlError("NAME_DUPLICATE", alias.span, name=alias.name)
    sources[-1] = replace(last, scope=replace(last.scope, aliases=last.scope.aliases - taken))


def _shape(left: NamedSource | BoundJoin, sources: list[JoinSource]) -> Shape:
    """The joined record. The format of its value is the format of the first source."""
    key = left.key.serde if isinstance(left, BoundJoin) else sources[0].scope.shape.key
    # The fields of the values are resolved in their sources.
    paths = (path for source in sources for path in source.scope.shape.undeclared)
    undeclared = frozenset(path for path in paths if path[0] == "key")
    return Shape(key, sources[0].scope.shape.value, JOIN_METADATA, undeclared=undeclared)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition as equalities, left[i] = right[i], and the other conditions."""

    left: JoinValues
    right: JoinValues
    residual: Expr | None


def _condition(clause: ast.JoinClause, binder: Binder, number: int, left: RowKey, right: RowKey) -> _Condition:
    """The condition of a JOIN. Without ON, the keys of the rows must be equal."""
    if clause.on is None:
        left_type, right_type = left.expr.type, right.expr.type
        if left_type != right_type:
            raise LsqlError("JOIN_KEY_TYPES_DIFFER", clause.span, left=describe(left_type), right=describe(right_type))
        return _Condition((left.expr,), (right.expr,), None)
    bound = binder.condition(clause.on, "ON")
    pairs: list[tuple[Expr, Expr]] = []
    rest: list[Expr] = []
    for condition in bound.args if isinstance(bound, OperatorCall) and bound.op == "AND" else (bound,):
        pair = _equal_values(condition, number)
        if pair is None:
            rest.append(condition)
        else:
            pairs.append(pair)
    if not pairs:
        raise LsqlError("JOIN_WITHOUT_EQUALITY", clause.on.span)
    if rest and clause.kind != "INNER":
        raise LsqlError("OUTER_JOIN_CONDITION", clause.on.span, kind=clause.kind)
    residual = None if not rest else rest[0] if len(rest) == 1 else OperatorCall("AND", tuple(rest), BOOLEAN, True)
    return _Condition(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), residual)


def _equal_values(condition: Expr, number: int) -> tuple[Expr, Expr] | None:
    """The left and the right value of an equality between both inputs; None for other conditions."""
    if not (isinstance(condition, OperatorCall) and condition.op == "="):
        return None
    first, second = condition.args
    if _reads_only(first, number, True) and _reads_only(second, number, False):
        return second, first
    if _reads_only(first, number, False) and _reads_only(second, number, True):
        return first, second
    return None


def _reads_only(expr: Expr, number: int, is_right: bool) -> bool:
    """Whether an expression reads only the right source, or only the sources before it."""
    sources = [part.source for part in walk(expr) if isinstance(part, ColumnRef)]
    return bool(sources) and all((source == number) == is_right for source in sources)


def _within_ms(
    select: ast.Select, clause: ast.JoinClause, is_legacy: bool, left_is_table: bool, right_is_table: bool
) -> int | None:
    """The join window of two streams, in milliseconds; None if a side is a table.

    Raises:
        LsqlError: JOIN_WITHIN_MISPLACED, JOIN_WITHIN_MISSING.
    """
    if left_is_table or right_is_table:
        if clause.within is not None:
            raise LsqlError("JOIN_WITHIN_MISPLACED", clause.within.span)
        return None
    if clause.within is not None:
        return clause.within.milliseconds
    if is_legacy and select.join_window is not None:
        return select.join_window.size.milliseconds
    raise LsqlError("JOIN_WITHIN_MISSING", clause.span)


def _check_unmatched_rows(clause: ast.JoinClause, join: EquiJoin, left_is_table: bool, right_is_table: bool) -> None:
    """Refuse joins whose result could not be updated when a table changes.

    Raises:
        LsqlError: OUTER_JOIN_OF_TABLE, JOIN_MANY_TO_MANY, OUTER_JOIN_BY_KEY.
    """
    keeps_left, keeps_right = _KEEPS_UNMATCHED[clause.kind]
    if left_is_table != right_is_table and (keeps_left if left_is_table else keeps_right):
        raise LsqlError("OUTER_JOIN_OF_TABLE", clause.span, kind=clause.kind)
    if not (left_is_table and right_is_table):
        return
    by_left, by_right = join.by_left_key, join.by_right_key
    if not (by_left or by_right):
        raise LsqlError("JOIN_MANY_TO_MANY", clause.span)
    if by_left != by_right and (keeps_left if by_left else keeps_right):
        raise LsqlError("OUTER_JOIN_BY_KEY", clause.span, kind=clause.kind)
