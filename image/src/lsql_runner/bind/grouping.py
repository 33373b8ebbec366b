"""GROUP BY: group keys, windows, and the SELECT list as expressions over the results of aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lsql_runner.bind.bound import Fields, Part, UnnamedValue, WindowSpec
from lsql_runner.bind.expr import AggregateCall, ColumnRef, Expr, rewrite
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.functions.table import AGGREGATES
from lsql_runner.bind.nulls import can_be_null_in_output, is_undeclared
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.expressions import children


def window_spec(window: ast.WindowClause | None) -> WindowSpec | None:
    """The window of a SELECT; not for SLIDING windows."""
    if window is None:
        return None
    assert window.kind != "SLIDING"
    size = window.size.milliseconds
    advance = size if window.advance is None else window.advance.milliseconds
    return WindowSpec(window.kind, size, advance)


def bind_group_keys(binder: Binder, exprs: tuple[ast.Expression, ...]) -> tuple[tuple[str, Expr], ...]:
    """The expressions of GROUP BY, with their names.

    Raises:
        LsqlError: GROUP_KEY_DUPLICATE if two have the same name.
    """
    keys: dict[str, Expr] = {}
    spans: dict[str, Span] = {}
    for expr in exprs:
        name = _key_name(expr, len(keys))
        if name in keys:
            raise LsqlError("GROUP_KEY_DUPLICATE", expr.span, [("the other", spans[name])], name=name)
        keys[name], spans[name] = binder.bind(expr), expr.span
    return tuple(keys.items())


def _key_name(expr: ast.Expression, position: int) -> str:
    if isinstance(expr, ast.NamePath):
        names = [step.name for step in (expr.head, *expr.steps) if isinstance(step, ast.Ident)]
        return names[-1]
    return f"key{position}"


@dataclass(slots=True)
class GroupRewriter:
    """Rewrites expressions over records into expressions over groups, and collects the aggregates."""

    keys: tuple[tuple[str, Expr], ...]
    calls: dict[AggregateCall, str] = field(default_factory=dict)

    def part(self, part: Part, places: Sequence[ast.Projection]) -> Part:
        """A part of the output over the columns `group_<name>` and `agg_<n>`.

        Args:
            places: the SELECT list, where errors are marked.

        Raises:
            LsqlError: NOT_GROUPED, STAR_WITH_AGGREGATE.
        """
        match part:
            case UnnamedValue(expr):
                return UnnamedValue(self._refer_to_groups(expr, places))
            case Fields(fields, False):
                return Fields(tuple((name, self._refer_to_groups(expr, places)) for name, expr in fields))
        raise LsqlError("STAR_WITH_AGGREGATE", places[0].span.to(places[-1].span))

    def condition(self, expr: Expr, place: ast.Expression) -> Expr:
        """A condition over the columns of the groups.

        Raises:
            LsqlError: NOT_GROUPED.
        """
        return self._refer_to_groups(expr, [place])

    def _refer_to_groups(self, expr: Expr, places: Sequence[ast.Expression | ast.Projection]) -> Expr:
        def replace_node(node: Expr) -> Expr | None:
            for name, key in self.keys:
                if node == key:
                    return group_ref(name, key)
            if isinstance(node, AggregateCall):
                column = self.calls.setdefault(node, f"agg_{len(self.calls)}")
                return _result_ref(column, node)
            if isinstance(node, ColumnRef):
                name = ".".join(str(step) for step in node.path) or f"_{node.column}"
                raise LsqlError("NOT_GROUPED", _place_of(node, places), name=name)
            return None

        return rewrite(expr, replace_node)

    def aggregates(self) -> tuple[tuple[str, AggregateCall], ...]:
        """The collected aggregates, each with the column of its result."""
        return tuple((column, call) for call, column in self.calls.items())


def _place_of(column: ColumnRef, places: Sequence[ast.Expression | ast.Projection]) -> Span:
    """The first name of the field that is not in an aggregate; all of the text if there is none."""
    last = column.path[-1] if column.path else f"_{column.column}"
    pending = [place.expr if isinstance(place, ast.Projection) else place for place in places]
    for expr in pending:
        match expr:
            case ast.NamePath(head, steps):
                end = steps[-1] if steps else head
                if last == (end.name if isinstance(end, ast.Ident) else end.position):
                    return expr.span
            case ast.Star():
                pass
            case ast.Call(name) if name.upper() in AGGREGATES:
                pass
            case _:
                pending.extend(children(expr))
    return places[0].span.to(places[-1].span)


def group_column(name: str) -> str:
    """The name of the column of a group key."""
    return f"group_{name}"


def group_ref(name: str, key: Expr) -> ColumnRef:
    """The reference to a group key in the result of the grouping."""
    return _result_ref(group_column(name), key)


def _result_ref(column: str, expr: Expr) -> ColumnRef:
    """The reference to a column in the result of the grouping that has the value of an expression."""
    present = not can_be_null_in_output(expr)
    return ColumnRef(column, (), expr.type, nullable=expr.nullable, undeclared=is_undeclared(expr), present=present)
