"""The SELECT list of an aggregate, split into what is computed per group and what is made of the results."""

from __future__ import annotations

from dataclasses import dataclass, field

from lsql_runner.bind.bound import Fields, Part, Single, WindowSpec
from lsql_runner.bind.expr import AggregateCall, ColumnRef, Expr, rewrite
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.nulls import may_come_out_null, null_source
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast


def window_spec(window: ast.Window | None) -> WindowSpec | None:
    """The window of a SELECT; a SLIDING one does not get here."""
    if window is None:
        return None
    assert window.kind != "SLIDING"
    size = window.size.milliseconds
    advance = size if window.advance is None else window.advance.milliseconds
    return WindowSpec(window.kind, size, advance)


def bind_group_keys(binder: Binder, exprs: tuple[ast.Expr, ...]) -> tuple[tuple[str, Expr], ...]:
    """The named group expressions.

    Raises:
        LsqlError: PROJECTION_DUPLICATE when two of them would have the same name.
    """
    keys: dict[str, Expr] = {}
    for expr in exprs:
        name = _key_name(expr, len(keys))
        if name in keys:
            raise LsqlError("PROJECTION_DUPLICATE", expr.span, name=name)
        keys[name] = binder.bind(expr)
    return tuple(keys.items())


def _key_name(expr: ast.Expr, position: int) -> str:
    if isinstance(expr, ast.Path):
        names = [step.name for step in (expr.head, *expr.steps) if isinstance(step, ast.Ident)]
        return names[-1]
    return f"key{position}"


@dataclass(slots=True)
class Regrouping:
    """Rewrites projected expressions over records into expressions over groups, and collects the aggregates."""

    keys: tuple[tuple[str, Expr], ...]
    calls: dict[AggregateCall, str] = field(default_factory=dict)

    def part(self, part: Part, span: Span) -> Part:
        """A part of the output over the columns `group_<name>` and `agg_<n>`.

        Raises:
            LsqlError: NOT_GROUPED, STAR_WITH_AGGREGATE.
        """
        match part:
            case Single(expr):
                return Single(self._over_groups(expr, span))
            case Fields(fields, False):
                return Fields(tuple((name, self._over_groups(expr, span)) for name, expr in fields))
        raise LsqlError("STAR_WITH_AGGREGATE", span)

    def condition(self, expr: Expr, span: Span) -> Expr:
        """A condition over the columns of the groups.

        Raises:
            LsqlError: NOT_GROUPED.
        """
        return self._over_groups(expr, span)

    def _over_groups(self, expr: Expr, span: Span) -> Expr:
        def visit(part: Expr) -> Expr | None:
            for name, key in self.keys:
                if part == key:
                    return group_ref(name, key)
            if isinstance(part, AggregateCall):
                slot = self.calls.setdefault(part, f"agg_{len(self.calls)}")
                return ColumnRef(slot, (), part.type, part.nullable, _is_exempt(part), not may_come_out_null(part))
            if isinstance(part, ColumnRef):
                raise LsqlError(
                    "NOT_GROUPED", span, name=".".join(str(step) for step in part.path) or f"_{part.column}"
                )
            return None

        return rewrite(expr, visit)

    def slots(self) -> tuple[tuple[str, AggregateCall], ...]:
        """The aggregates, each with the column that it goes to."""
        return tuple((slot, call) for call, slot in self.calls.items())


def group_column(name: str) -> str:
    """The column that holds a group key."""
    return f"group_{name}"


def group_ref(name: str, key: Expr) -> ColumnRef:
    """A group key behind the grouping."""
    return ColumnRef(group_column(name), (), key.type, key.nullable, _is_exempt(key), not may_come_out_null(key))


def _is_exempt(expr: Expr) -> bool:
    """Whether it may be null, and only for what nobody declared."""
    return expr.nullable and null_source(expr) is None
