"""One SELECT over one source: clauses in the order in which they act."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.bind import operators
from lsql_runner.bind.bound import (
    ALL_FACETS,
    BoundSelect,
    BoundTopic,
    Grouping,
    Part,
    Shape,
    Single,
    Whole,
    part_exprs,
)
from lsql_runner.bind.catalog import Serde
from lsql_runner.bind.decoders import without_decoders
from lsql_runner.bind.expr import AggregateCall, ColumnRef, Expr, Record, walk
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.formats import computed_serde, default_format, fits, grouped_key_serde
from lsql_runner.bind.grouping import Regrouping, bind_group_keys, group_column, window_spec
from lsql_runner.bind.projections import bind_projections, part_type
from lsql_runner.bind.scope import Scope
from lsql_runner.bind.settings import ProgramSettings
from lsql_runner.bind.supported import refuse_unsupported
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import DATE, LONG, TIMESTAMP, Array, Decimal, Struct, describe, is_integer

RECORD_TIME = ColumnRef("ts", (), LONG, nullable=False)


def bind_select(select: ast.Select, source: BoundTopic | BoundSelect, settings: ProgramSettings) -> BoundSelect:
    """Bind one SELECT over its source.

    Raises:
        LsqlError: each with its place.
    """
    refuse_unsupported(select)
    context = _Context(select, source.shape, settings)
    scope, laterals = context.laterals()
    where = context.where(scope)
    key, value = bind_projections(context.binder(scope, None), select.projections)
    grouped = bool(select.group_by) or select.window is not None or _aggregates(key) or _aggregates(value)
    if grouped:
        return context.grouped(source, scope, laterals, where, key, value)
    if select.grace is not None:
        raise LsqlError("WINDOW_WITHOUT_AGGREGATE", select.place_of("GRACE BY"))
    return context.stateless(source, scope, laterals, where, key, value)


def _aggregates(part: Part | None) -> bool:
    """Whether an aggregate stands anywhere in a part."""
    exprs = () if part is None else part_exprs(part)
    return any(isinstance(inner, AggregateCall) for expr in exprs for inner in walk(expr))


def _is_aggregated(source: BoundTopic | BoundSelect) -> bool:
    """Whether a source's records are results of an aggregate, however far below."""
    while isinstance(source, BoundSelect):
        if source.grouping is not None:
            return True
        source = source.source
    return False


@dataclass(frozen=True, slots=True)
class _Context:
    select: ast.Select
    shape: Shape
    settings: ProgramSettings

    @property
    def _list_span(self) -> Span:
        return self.select.projections[0].span.to(self.select.projections[-1].span)

    def binder(self, scope: Scope, clause: str | None) -> Binder:
        decimal = Decimal(
            self.settings.decimal_precision, min(self.settings.decimal_scale, self.settings.decimal_precision)
        )
        return Binder(scope, decimal, aggregates_in=clause)

    def laterals(self) -> tuple[Scope, tuple[tuple[str, Expr], ...]]:
        source = self.select.source
        names = {source.name.name} | ({source.alias.name} if source.alias else set())
        scope = Scope(source.name.name, self.shape, frozenset(names))
        bound: list[tuple[str, Expr]] = []
        for lateral in self.select.laterals:
            array = self.binder(scope, "LATERAL").bind(lateral.array)
            if not isinstance(array.type, Array):
                raise LsqlError("NOT_AN_ARRAY", lateral.array.span, found=describe(array.type))
            alias = lateral.alias.name
            if alias in scope.laterals or alias in names:
                raise LsqlError("NAME_TWICE", lateral.alias.span, name=alias)
            bound.append((alias, array))
            scope = scope.with_lateral(alias, array.type.element)
        return scope, tuple(bound)

    def where(self, scope: Scope) -> Expr | None:
        where = without_decoders(self.select.where)
        return None if where is None else self.binder(scope, "WHERE").condition(where, "WHERE")

    def event_time(self, scope: Scope) -> Expr:
        """LONG, milliseconds since 1970 UTC: the record's timestamp unless EVENTTIME BY names another."""
        expr = self.select.event_time
        if expr is None:
            return RECORD_TIME
        bound = self.binder(scope, "EVENTTIME BY").bind(expr)
        if bound.type == DATE:
            bound = operators.convert(bound, TIMESTAMP)
        if bound.type != TIMESTAMP and not is_integer(bound.type):
            expected = "a long (milliseconds since 1970 UTC), a timestamp or a date"
            raise LsqlError("OPERAND_TYPE", expr.span, op="EVENTTIME BY", expected=expected, found=describe(bound.type))
        return operators.convert(bound, LONG)

    def stateless(
        self,
        source: BoundTopic | BoundSelect,
        scope: Scope,
        laterals: tuple[tuple[str, Expr], ...],
        where: Expr | None,
        key: Part | None,
        value: Part | None,
    ) -> BoundSelect:
        if value is None:
            raise LsqlError("VALUE_MISSING", self._list_span)
        facets = self.shape.facets if key is None else self.shape.facets - {"raw_key"}
        out = Shape(self._key_serde(key), self._value_serde(value), facets)
        return BoundSelect(source, laterals, where, None, self.event_time(scope), key or Whole(), value, out)

    def grouped(
        self,
        source: BoundTopic | BoundSelect,
        scope: Scope,
        laterals: tuple[tuple[str, Expr], ...],
        where: Expr | None,
        key: Part | None,
        value: Part | None,
    ) -> BoundSelect:
        select = self.select
        if key is not None:
            raise LsqlError("KEY_IN_AGGREGATE", self._list_span)
        if _is_aggregated(source):
            raise LsqlError(
                "FEATURE_UNSUPPORTED",
                select.place_of("GROUP BY"),
                feature="An aggregate of an aggregate",
                instead="write the first one to a topic, and aggregate that topic in a second processor",
            )
        keys = bind_group_keys(self.binder(scope, "GROUP BY"), select.group_by)
        if not keys and select.window is not None and self.shape.key.format.is_windowed:
            raise LsqlError(
                "FEATURE_UNSUPPORTED",
                select.window.span,
                feature=f"A window around a key that has one ({self.shape.key.format})",
                instead="GROUP BY _key, the key inside the window",
            )
        if not keys and "raw_key" not in self.shape.facets:
            keys = (("key", ColumnRef("key", (), self.shape.key.type)),)
        regrouping = Regrouping(keys)
        new_value = regrouping.part(value or Whole(), self._list_span)
        if not regrouping.calls:
            raise LsqlError("AGGREGATE_MISSING", select.place_of("GROUP BY"))
        window = window_spec(select.window)
        grace_ms = self.settings.grace_ms if select.grace is None else select.grace.milliseconds
        grouping = Grouping(keys, window, grace_ms, regrouping.slots())
        new_key, key_serde = self._group_key(keys)
        value_type = part_type(new_value, self.shape.value.type)
        out = Shape(
            grouped_key_serde(key_serde, window is not None),
            computed_serde(value_type, self.shape.value),
            ALL_FACETS & {"ts"},
        )
        return BoundSelect(source, laterals, where, grouping, self.event_time(scope), new_key, new_value, out)

    def _group_key(self, keys: tuple[tuple[str, Expr], ...]) -> tuple[Part, Serde]:
        """The key of the groups: the record's own, one value, or a struct of several."""
        columns = [(name, ColumnRef(group_column(name), (), expr.type, expr.nullable)) for name, expr in keys]
        if not columns:
            return Whole(), self.shape.key
        expr: Expr = columns[0][1] if len(columns) == 1 else Record(tuple(columns))
        form = default_format(expr.type)
        if not fits(expr.type, form):
            raise LsqlError(
                "FORMAT_MISFIT",
                self.select.place_of("GROUP BY"),
                part="The key",
                type=describe(expr.type),
                format=str(form),
                instead="JSON",
            )
        return Single(expr), Serde(form, expr.type)

    def _key_serde(self, key: Part | None) -> Serde:
        if key is None or isinstance(key, Whole):
            return self.shape.key
        kind = part_type(key, self.shape.key.type)
        return computed_serde(kind, self.shape.key)

    def _value_serde(self, value: Part) -> Serde:
        if isinstance(value, Whole):
            return self.shape.value
        if getattr(value, "extends", False) and not isinstance(self.shape.value.type, Struct):
            raise LsqlError("STAR_OF_SCALAR", self._list_span, name="_value", found=describe(self.shape.value.type))
        kind = part_type(value, self.shape.value.type)
        return computed_serde(kind, self.shape.value)
