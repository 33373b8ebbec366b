"""FROM with JOINs: the sources, the values that they are joined by, and the key of the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lsql_runner.bind.bound import BoundJoin, BoundSelect, BoundTopic, JoinKind, RowKey, Shape, Values
from lsql_runner.bind.expr import ColumnRef, Expr, OperatorCall, walk
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.join_keys import On, key_of_source, key_of_tables, key_of_values
from lsql_runner.bind.join_scope import JoinScope, Side
from lsql_runner.bind.scope import Scope
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import BOOLEAN, describe

Found = BoundTopic | BoundSelect
Find = Callable[[ast.SourceName], Found]

JOIN_FACETS = frozenset({"ts"})
_KEPT: dict[JoinKind, tuple[bool, bool]] = {
    "INNER": (False, False),
    "LEFT": (True, False),
    "RIGHT": (False, True),
    "FULL": (True, True),
}
"""Whether left and right rows without a match are kept."""


def reads_table(select: ast.Select, source: Found) -> bool:
    """Whether a SELECT reads its source as a table.

    TABLE and STREAM say it. A SELECT of the legacy generation that says neither reads a table where it groups or joins,
    and otherwise what its source is.
    """
    if select.mode is not None:
        return select.mode == "TABLE"
    if isinstance(source, BoundSelect):
        return source.is_table
    return bool(select.group_by or select.window or select.joins)


def joins_streams(source: Found | BoundJoin) -> bool:
    """Whether two streams are joined here: their records may be late."""
    return isinstance(source, BoundJoin) and (source.within_ms is not None or joins_streams(source.left))


def bind_joins(
    select: ast.Select, find: Find, is_legacy: bool, grace_ms: int, binder: Callable[[JoinScope], Binder]
) -> tuple[BoundJoin, JoinScope]:
    """The sources of a SELECT with JOINs, and the names that it may use.

    Raises:
        LsqlError: JOIN_*, NAME_DUPLICATE, and what binding the conditions raises; each at its place.
    """
    first = find(select.source)
    sides = [_side(select.source, first, 0)]
    left: Found | BoundJoin = first
    left_table, left_key = _is_table(select, first), key_of_source(sides[0])
    for number, join in enumerate(select.joins, 1):
        right = find(join.source)
        right_table = _is_table(select, right)
        keeps_left, keeps_right = _KEPT[join.kind]
        sides = [replace(side, optional=side.optional or keeps_right) for side in sides]
        sides.append(replace(_side(join.source, right, number), optional=keeps_left))
        _check_names(join.source, sides)
        right_key = key_of_source(sides[-1])
        scope = JoinScope(sides=tuple(sides), shape=_shape(left, sides), in_condition=True)
        condition = _condition(join, binder(scope), number, left_key, right_key)
        on = On(kind=join.kind, left=condition.left, right=condition.right, left_key=left_key, right_key=right_key)
        within = _within(select, join, is_legacy, left_table, right_table)
        _check_kind(join, on, left_table, right_table)
        key = key_of_tables(on) if left_table and right_table else key_of_values(on, sides, is_legacy, join.span)
        left = BoundJoin(
            left=left,
            right=right,
            kind=join.kind,
            left_table=left_table,
            right_table=right_table,
            left_keys=on.left,
            right_keys=on.right,
            by_left_key=on.by_left_key,
            by_right_key=on.by_right_key,
            residual=condition.residual,
            within_ms=within,
            grace_ms=grace_ms,
            number=number,
            key=key,
        )
        left_table, left_key = left.is_table, key
    assert isinstance(left, BoundJoin)
    if select.join_window is not None and not joins_streams(left):
        raise LsqlError("JOIN_WITHIN_MISPLACED", select.join_window.span)
    return left, JoinScope(sides=tuple(sides), shape=_shape(left, sides))


def _is_table(select: ast.Select, source: Found) -> bool:
    """A WITH is a table by its own definition; a topic is a table if the SELECT reads it as one."""
    return source.is_table if isinstance(source, BoundSelect) else reads_table(select, source)


def _side(source: ast.SourceName, found: Found, number: int) -> Side:
    names = {source.name.name} | ({source.alias.name} if source.alias else set())
    shape = replace(found.shape, facets=found.shape.facets - {"headers"})
    return Side(Scope(name=(source.alias or source.name).name, shape=shape, aliases=frozenset(names)), number)


def _check_names(source: ast.SourceName, sides: list[Side]) -> None:
    """Refuse two sources with one name. A source may be joined with itself under another name."""
    *before, last = sides
    own = {(source.alias or source.name).name}
    taken = frozenset().union(*(side.scope.aliases for side in before))
    if own & taken:
        raise LsqlError("NAME_DUPLICATE", (source.alias or source.name).span, name=next(iter(own)))
    sides[-1] = replace(last, scope=replace(last.scope, aliases=last.scope.aliases - taken))


def _shape(left: Found | BoundJoin, sides: list[Side]) -> Shape:
    """The key and time of the joined record. The format of the value is that of the first source."""
    key = left.key.serde if isinstance(left, BoundJoin) else sides[0].scope.shape.key
    exempt = frozenset().union(*(side.scope.shape.exempt for side in sides))
    return Shape(key, sides[0].scope.shape.value, JOIN_FACETS, exempt)


@dataclass(frozen=True, slots=True)
class _Condition:
    left: Values
    right: Values
    residual: Expr | None


def _condition(join: ast.JoinClause, binder: Binder, number: int, left: RowKey, right: RowKey) -> _Condition:
    """ON as pairs of equal values and a rest. Without ON, the keys of the rows are equal."""
    if join.on is None:
        one, other = left.expr.type, right.expr.type
        if one != other:
            raise LsqlError("JOIN_KEY_TYPES_DIFFER", join.span, left=describe(one), right=describe(other))
        return _Condition((left.expr,), (right.expr,), None)
    bound = binder.condition(join.on, "ON")
    pairs: list[tuple[Expr, Expr]] = []
    rest: list[Expr] = []
    for condition in bound.args if isinstance(bound, OperatorCall) and bound.op == "AND" else (bound,):
        pair = _pair(condition, number)
        if pair is None:
            rest.append(condition)
        else:
            pairs.append(pair)
    if not pairs:
        raise LsqlError("JOIN_WITHOUT_EQUALITY", join.on.span)
    if rest and join.kind != "INNER":
        raise LsqlError("OUTER_JOIN_CONDITION", join.on.span, kind=join.kind)
    residual = None if not rest else rest[0] if len(rest) == 1 else OperatorCall("AND", tuple(rest), BOOLEAN, True)
    return _Condition(tuple(one for one, _ in pairs), tuple(other for _, other in pairs), residual)


def _pair(condition: Expr, number: int) -> tuple[Expr, Expr] | None:
    """The left and the right side of an equality between both."""
    if not (isinstance(condition, OperatorCall) and condition.op == "="):
        return None
    one, other = condition.args
    if _is_of(one, number, True) and _is_of(other, number, False):
        return other, one
    if _is_of(one, number, False) and _is_of(other, number, True):
        return one, other
    return None


def _is_of(expr: Expr, number: int, is_right: bool) -> bool:
    """Whether an expression reads columns of the right source only, or of the other sources only."""
    sources = [part.source for part in walk(expr) if isinstance(part, ColumnRef)]
    return bool(sources) and all((source == number) == is_right for source in sources)


def _within(
    select: ast.Select, join: ast.JoinClause, is_legacy: bool, left_table: bool, right_table: bool
) -> int | None:
    if left_table or right_table:
        if join.within is not None:
            raise LsqlError("JOIN_WITHIN_MISPLACED", join.within.span)
        return None
    if join.within is not None:
        return join.within.milliseconds
    if is_legacy and select.join_window is not None:
        return select.join_window.size.milliseconds
    raise LsqlError("JOIN_WITHIN_MISSING", join.span)


def _check_kind(join: ast.JoinClause, on: On, left_table: bool, right_table: bool) -> None:
    """Refuse joins whose result could not be maintained."""
    keeps_left, keeps_right = _KEPT[join.kind]
    if left_table != right_table and (keeps_left if left_table else keeps_right):
        raise LsqlError("OUTER_JOIN_OF_TABLE", join.span, kind=join.kind)
    if not (left_table and right_table):
        return
    by_left, by_right = on.by_left_key, on.by_right_key
    if not (by_left or by_right):
        raise LsqlError("JOIN_MANY_TO_MANY", join.span)
    if by_left != by_right and (keeps_left if by_left else keeps_right):
        raise LsqlError("OUTER_JOIN_BY_KEY", join.span, kind=join.kind)
