"""Names in a SELECT with joins: `payments.amount`, or `amount` if only one source has this field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lsql_runner.bind.bound import Shape
from lsql_runner.bind.expr import ColumnRef, Expr
from lsql_runner.bind.scope import RESERVED_NAMES, Scope, resolve_lateral
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.sql.printer import print_expression
from lsql_runner.types import Struct


@dataclass(frozen=True, slots=True)
class JoinSource:
    """One source of a join."""

    scope: Scope
    number: int
    """The position of the source in the FROM, counted from 0."""
    optional: bool = False
    """Whether a joined record can be without a record of this source, because the join is an outer join."""

    def resolve(self, path: ast.NamePath) -> Expr:
        """The expression that a path in this source names.

        Raises:
            LsqlError: HEADERS_IN_JOIN; as `Scope.resolve`.
        """
        expr = self.scope.resolve(path)
        if not isinstance(expr, ColumnRef):  # a header
            raise LsqlError("HEADERS_IN_JOIN", path.span, source=self.scope.name)
        return replace(
            expr,
            source=self.number,
            nullable=expr.nullable or self.optional,
            present=expr.present and not self.optional,
        )

    def fields(self, path: ast.NamePath) -> tuple[tuple[str, Expr], ...]:
        """All fields of the value, by name. `path` has the span for errors."""
        value = self.scope.shape.value.type
        names = value.names if isinstance(value, Struct) else ()
        return tuple(
            (name, self.resolve(ast.NamePath(ast.Ident(name, True, path.span), (), path.span))) for name in names
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinScope:
    """The sources of a join, the key and time of the joined record, and the LATERAL aliases defined so far."""

    sources: tuple[JoinSource, ...]
    shape: Shape
    """The joined record."""
    laterals: Mapping[str, ColumnRef] = field(default_factory=dict)
    """The elements, by alias."""
    not_null: frozenset[ColumnRef] = frozenset()
    """Fields that a condition excludes from being NULL."""
    in_condition: bool = False
    """Whether the names are in an ON condition. There is no joined record yet, so `_key` and `_ts` need a source."""

    @property
    def name(self) -> str:
        """The names of the sources, for error messages."""
        return " and ".join(source.scope.name for source in self.sources)

    @property
    def aliases(self) -> frozenset[str]:
        """The names that can be a prefix of a field."""
        return frozenset().union(*(source.scope.aliases for source in self.sources))

    def with_not_null(self, fields: frozenset[ColumnRef]) -> JoinScope:
        """The scope with more fields that cannot be NULL."""
        return replace(self, not_null=self.not_null | fields)

    def with_lateral(self, alias: str, element: ColumnRef) -> JoinScope:
        """The scope with another LATERAL alias."""
        return replace(self, laterals={**self.laterals, alias: element})

    def is_qualifier(self, path: ast.NamePath) -> bool:
        """Whether the first name of a path is a source."""
        head = path.head.name
        return head in self.aliases and head not in self.laterals and bool(path.steps)

    def resolve(self, path: ast.NamePath) -> Expr:
        """The expression that a path names.

        Raises:
            LsqlError: FIELD_UNKNOWN, FIELD_AMBIGUOUS or FIELD_NOT_NESTED, at the step that fails; HEADERS_IN_JOIN.
        """
        expr = self._resolve(path)
        if isinstance(expr, ColumnRef) and expr in self.not_null:
            return replace(expr, nullable=False, present=True)
        return expr

    def _resolve(self, path: ast.NamePath) -> Expr:
        head = path.head.name
        if head in self.laterals:
            return resolve_lateral(self.laterals[head], path)
        if self.is_qualifier(path) and isinstance(path.steps[0], ast.Ident):
            source = next(source for source in self.sources if head in source.scope.aliases)
            return source.resolve(ast.NamePath(path.steps[0], path.steps[1:], path.span))
        if not path.head.quoted and head in RESERVED_NAMES:
            return self._resolve_reserved(path)
        with_field = [source for source in self.sources if source.scope.has_field(path)]
        if len(with_field) == 1:
            return with_field[0].resolve(path)
        if with_field:
            written = print_expression(path)
            names = ", ".join(f"{source.scope.name}.{written}" for source in with_field)
            raise LsqlError("FIELD_AMBIGUOUS", path.span, name=written, known=names)
        known = sorted({name for source in self.sources for name, _ in source.fields(path)})
        raise LsqlError("FIELD_UNKNOWN", path.span, name=head, source=self.name, known=", ".join(known[:12]) or "none")

    def _resolve_reserved(self, path: ast.NamePath) -> Expr:
        """`_key` or `_ts` of the joined record; other metadata belong to one source."""
        if path.head.name in ("_key", "_ts") and not self.in_condition:
            return Scope(name=self.name, shape=self.shape, aliases=frozenset()).resolve(path)
        names = ", ".join(f"{source.scope.name}.{path.head.name}" for source in self.sources)
        raise LsqlError("FIELD_AMBIGUOUS", path.span, name=path.head.name, known=names)

    def expand_star(self, star: ast.Star) -> tuple[tuple[str, Expr], ...] | None:
        """The fields of `*` or `payments.*`; None if the qualifier of the star is not a source."""
        path = star.qualifier or ast.NamePath(ast.Ident("*", True, star.span), (), star.span)
        sources = self.sources_of(star)
        return None if sources is None else tuple(member for source in sources for member in source.fields(path))

    def sources_of(self, star: ast.Star) -> tuple[JoinSource, ...] | None:
        """The sources that `*` or `payments.*` names; None if its qualifier is not a source."""
        if star.qualifier is None:
            return self.sources
        qualifier = star.qualifier.head.name
        if star.qualifier.steps or qualifier in self.laterals:
            return None
        return tuple(source for source in self.sources if qualifier in source.scope.aliases) or None
