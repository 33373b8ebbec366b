"""One SELECT, clause by clause in the order of evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lsql_runner.bind import operators
from lsql_runner.bind.bound import (
    ALL_METADATA,
    BoundSelect,
    Grouping,
    Part,
    Shape,
    Unchanged,
    UnnamedValue,
    part_exprs,
)
from lsql_runner.bind.dialects import Dialect
from lsql_runner.bind.expr import AggregateCall, ColumnRef, Expr, StructValue, walk
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.functions.spec import Function
from lsql_runner.bind.grouping import GroupRewriter, bind_group_keys, group_ref, window_spec
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.joins import LookUp, bind_joins, joins_streams, reads_table
from lsql_runner.bind.nulls import is_undeclared, not_null_after, undeclared_paths
from lsql_runner.bind.output_formats import computed_serde, default_format, fits, grouped_key_serde
from lsql_runner.bind.projections import bind_projections, part_type, shortened_paths
from lsql_runner.bind.scope import SUBSELECT, Scope, lateral_element
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.bind.source_formats import without_format_conditions
from lsql_runner.bind.sources import BoundSource, has_aggregate, has_outer_stream_join, has_windows
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import Serde
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.sql.unsupported import unsupported
from lsql_runner.types import DATE, LONG, NUMERIC, TIMESTAMP, Array, Decimal, Struct, describe, is_integer

RECORD_TIME = ColumnRef("ts", (), LONG, nullable=False, present=True)


def bind_select(
    select: ast.Select,
    look_up: LookUp,
    settings: ProgramSettings,
    dialect: Dialect,
    functions: Mapping[str, Function],
) -> BoundSelect:
    """The SELECT with all names resolved and all expressions typed.

    Args:
        select: the SELECT.
        look_up: returns the source that FROM or JOIN names.
        settings: the settings of the program.
        dialect: determines the rules for NULL and for the keys of joins.
        functions: the user-defined functions, by name.

    Raises:
        LsqlError: with a span.
    """
    if select.window is not None and select.window.kind == "SLIDING" and not select.joins:
        raise unsupported("sliding aggregate", select.window.span)
    source, scope, is_table = _bind_from(select, look_up, settings, dialect, functions)
    context = _Context(
        select=select,
        source=source,
        shape=scope.shape,
        settings=settings,
        dialect=dialect,
        functions=functions,
        is_table=is_table,
    )
    scope, laterals = context.laterals(scope)
    where = context.where(scope)
    if where is not None:
        scope = scope.with_not_null(not_null_after(where, True))
    key, value = bind_projections(context.binder(scope, None), select.projections)
    grouped = bool(select.group_by) or context.window is not None or _has_aggregate(key) or _has_aggregate(value)
    if grouped:
        return context.grouped(scope, laterals, where, key, value)
    if select.grace is not None and not joins_streams(source):
        raise LsqlError("WINDOW_WITHOUT_AGGREGATE", select.span_of("GRACE BY"))
    if select.having is not None:
        raise LsqlError("HAVING_WITHOUT_AGGREGATE", select.span_of("HAVING"))
    return context.stateless(scope, laterals, where, key, value)


AnyScope = Scope | JoinScope
Laterals = tuple[tuple[str, Expr], ...]


def _bind_from(
    select: ast.Select, look_up: LookUp, settings: ProgramSettings, dialect: Dialect, functions: Mapping[str, Function]
) -> tuple[BoundSource, AnyScope, bool]:
    """The source of a SELECT, its names, and whether it is read as a table."""
    if select.joins:
        grace_ms = settings.grace_ms if select.grace is None else select.grace.milliseconds

        def binder(scope: JoinScope) -> Binder:
            # NULL keys never match, so no operator has to handle them.
            return _binder(scope, settings, "ON", "legacy", functions)

        join, join_scope = bind_joins(select, look_up, dialect == "legacy", grace_ms, binder)
        if has_outer_stream_join(join) and has_aggregate(join):
            raise unsupported("outer join with aggregate", select.joins[0].span)
        return join, join_scope, join.is_table
    source = look_up(select.source)
    names = [name.name for name in select.source.names]
    scope = Scope(name=names[-1] if names else SUBSELECT, shape=source.shape, aliases=frozenset(names))
    return source, scope, reads_table(select, source)


def _binder(
    scope: AnyScope,
    settings: ProgramSettings,
    clause: str | None,
    dialect: Dialect,
    functions: Mapping[str, Function],
) -> Binder:
    decimal = Decimal(settings.decimal_precision, min(settings.decimal_scale, settings.decimal_precision))
    return Binder(
        scope, decimal, clause_without_aggregates=clause, rejects_nulls=dialect == "modern", functions=functions
    )


def _has_aggregate(part: Part | None) -> bool:
    """Whether a part contains an aggregate."""
    exprs = () if part is None else part_exprs(part)
    return any(isinstance(inner, AggregateCall) for expr in exprs for inner in walk(expr))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """Data that the clauses of one SELECT share."""

    select: ast.Select
    source: BoundSource
    shape: Shape
    settings: ProgramSettings
    dialect: Dialect
    functions: Mapping[str, Function]
    is_table: bool

    @property
    def window(self) -> ast.WindowClause | None:
        """The window of the groups. A SLIDING window is a window of the join."""
        return self.select.window if self.select.join_window is None else None

    @property
    def _list_span(self) -> Span:
        return self.select.projections[0].span.to(self.select.projections[-1].span)

    def binder(self, scope: AnyScope, clause: str | None) -> Binder:
        return _binder(scope, self.settings, clause, self.dialect, self.functions)

    def laterals(self, scope: AnyScope) -> tuple[AnyScope, Laterals]:
        names = scope.aliases
        bound: list[tuple[str, Expr]] = []
        for lateral in self.select.laterals:
            if self.is_table:
                raise unsupported("lateral of table", lateral.span)
            array = self.binder(scope, "LATERAL").bind(lateral.array)
            if not isinstance(array.type, Array):
                raise LsqlError("NOT_AN_ARRAY", lateral.array.span, found=describe(array.type))
            alias = lateral.alias.name
            if alias in scope.laterals or alias in names:
                raise LsqlError("NAME_DUPLICATE", lateral.alias.span, name=alias)
            bound.append((alias, array))
            scope = scope.with_lateral(alias, lateral_element(alias, array.type.element, is_undeclared(array)))
        return scope, tuple(bound)

    def where(self, scope: AnyScope) -> Expr | None:
        where = without_format_conditions(self.select)
        return None if where is None else self.binder(scope, "WHERE").condition(where, "WHERE")

    def event_time(self, scope: AnyScope) -> Expr:
        """EVENTTIME BY, else the timestamp of the record; LONG, milliseconds since 1970 UTC."""
        expr = self.select.event_time
        if expr is None:
            return RECORD_TIME
        binder = self.binder(scope, "EVENTTIME BY")
        bound = binder.bind(expr)
        binder.refuse_null(bound, "EVENTTIME BY", expr.span)
        if bound.type == DATE:
            bound = operators.convert(bound, TIMESTAMP)
        if bound.type not in (TIMESTAMP, NUMERIC) and not is_integer(bound.type):
            targets = (TIMESTAMP, LONG)
            raise operators.operand_type("EVENTTIME BY", bound.type, expr.span, "long, timestamp, date", targets)
        return operators.convert(bound, LONG)

    def stateless(
        self,
        scope: AnyScope,
        laterals: Laterals,
        where: Expr | None,
        key: Part | None,
        value: Part | None,
    ) -> BoundSelect:
        if value is None:
            raise LsqlError("VALUE_MISSING", self._list_span)
        if self.is_table and key is not None:
            raise unsupported("key of table", self._list_span)
        metadata = self.shape.metadata if key is None else self.shape.metadata - {"raw_key"}
        undeclared = undeclared_paths(self.shape, key or Unchanged(), value)
        shortened = shortened_paths(self.select.projections, scope)
        out = Shape(
            self._key_serde(key), self._value_serde(value), metadata, undeclared=undeclared, shortened=shortened
        )
        time = self.event_time(scope)
        return BoundSelect(
            source=self.source,
            laterals=laterals,
            where=where,
            grouping=None,
            event_time=time,
            key=key or Unchanged(),
            value=value,
            shape=out,
            reads_table=self.is_table,
            keeps_tombstones=self.select.mode is None and not self.select.joins and not self.is_table,
        )

    def grouped(
        self,
        scope: AnyScope,
        laterals: Laterals,
        where: Expr | None,
        key: Part | None,
        value: Part | None,
    ) -> BoundSelect:
        select = self.select
        if key is not None:
            raise LsqlError("KEY_IN_AGGREGATE", self._list_span)
        self._check_groups()
        keys = bind_group_keys(self.binder(scope, "GROUP BY"), select.group_by)
        if not keys and select.window is not None and self.shape.key.format.is_windowed:
            raise unsupported("window of windowed key", select.window.span, format=str(self.shape.key.format))
        if not keys and "raw_key" not in self.shape.metadata:
            keys = (("key", ColumnRef("key", (), self.shape.key.type)),)
        rewriter = GroupRewriter(keys)
        new_value = rewriter.part(value or Unchanged(), select.projections)
        if not rewriter.calls:
            raise LsqlError("AGGREGATE_MISSING", select.span_of("GROUP BY"))
        having = self.having(scope, rewriter)
        window = window_spec(self.window)
        grace_ms = self.settings.grace_ms if select.grace is None else select.grace.milliseconds
        grouping = Grouping(
            keys=keys, window=window, grace_ms=grace_ms, calls=rewriter.aggregates(), final=self.settings.emits_final
        )
        new_key, key_serde = self._group_key(keys)
        value_type = part_type(new_value, self.shape.value.type)
        out = Shape(
            grouped_key_serde(key_serde, window),
            computed_serde(value_type, self.shape.value),
            ALL_METADATA & {"ts"},
            undeclared=undeclared_paths(self.shape, new_key, new_value),
            shortened=shortened_paths(select.projections, scope),
        )
        return BoundSelect(
            source=self.source,
            laterals=laterals,
            where=where,
            grouping=grouping,
            event_time=self.event_time(scope),
            key=new_key,
            value=new_value,
            shape=out,
            reads_table=self.is_table,
            having=having,
        )

    def _check_groups(self) -> None:
        span = self.select.span_of("GROUP BY")
        if self.settings.emits_final and self.window is None:
            raise LsqlError("FINAL_WITHOUT_WINDOW", span)
        if self.is_table and self.window is not None:
            raise unsupported("window of table", self.window.span)
        if has_outer_stream_join(self.source):
            raise unsupported("aggregate of outer join", span)
        if has_windows(self.source) or (not self.is_table and has_aggregate(self.source)):
            # An aggregate writes a result with every batch that changes a group. How many it writes depends on the
            # batches, so an aggregate of these results would not be deterministic.
            raise unsupported("aggregate of aggregate", span)

    def having(self, scope: AnyScope, rewriter: GroupRewriter) -> Expr | None:
        """The condition of HAVING, over the columns of the groups."""
        if self.select.having is None:
            return None
        condition = self.binder(scope, None).condition(self.select.having, "HAVING")
        return rewriter.condition(condition, self.select.having)

    def _group_key(self, keys: tuple[tuple[str, Expr], ...]) -> tuple[Part, Serde]:
        """The key of the result: the group key, a struct of several group keys, or without any the record key."""
        columns = [(name, group_ref(name, expr)) for name, expr in keys]
        if not columns:
            return Unchanged(), self.shape.key
        expr: Expr = columns[0][1] if len(columns) == 1 else StructValue(tuple(columns))
        form = default_format(expr.type)
        if not fits(expr.type, form):
            raise LsqlError(
                "FORMAT_MISMATCH",
                self.select.span_of("GROUP BY"),
                part="key",
                type=describe(expr.type),
                format=str(form),
                suggested="JSON",
            )
        return UnnamedValue(expr), Serde(form, expr.type)

    def _key_serde(self, key: Part | None) -> Serde:
        if key is None or isinstance(key, Unchanged):
            return self.shape.key
        kind = part_type(key, self.shape.key.type)
        return computed_serde(kind, self.shape.key)

    def _value_serde(self, value: Part) -> Serde:
        if isinstance(value, Unchanged):
            return self.shape.value
        if getattr(value, "extends", False) and not isinstance(self.shape.value.type, Struct):
            raise LsqlError("STAR_OF_SCALAR", self._list_span, name="_value", found=describe(self.shape.value.type))
        kind = part_type(value, self.shape.value.type)
        return computed_serde(kind, self.shape.value)
