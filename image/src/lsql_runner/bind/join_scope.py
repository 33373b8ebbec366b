"""The meaning of names in a SELECT with joins: `payments.amount`, or `amount` if only one source has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lsql_runner.bind.bound import Shape
from lsql_runner.bind.expr import ColumnRef, Expr
from lsql_runner.bind.scope import FACET_WORDS, Scope, lateral_column, resolve_lateral
from lsql_runner.errors import LsqlError
from lsql_runner.sql import ast
from lsql_runner.types import DataType, Struct


@dataclass(frozen=True, slots=True)
class Side:
    """One source of a join, by its place in the FROM."""

    scope: Scope
    number: int
    optional: bool = False
    """In an outer join the source may have no matching record."""

    def resolve(self, path: ast.NamePath) -> Expr:
        found = self.scope.resolve(path)
        if not isinstance(found, ColumnRef):  # a header: they belong to one record
            raise LsqlError("HEADERS_IN_JOIN", path.span, source=self.scope.name)
        return replace(
            found,
            source=self.number,
            nullable=found.nullable or self.optional,
            present=found.present and not self.optional,
        )

    def has_field(self, name: str) -> bool:
        value = self.scope.shape.value.type
        return isinstance(value, Struct) and value.field(name) is not None

    def fields(self, place: ast.NamePath) -> tuple[tuple[str, Expr], ...]:
        """Every field of the value."""
        value = self.scope.shape.value.type
        names = value.names if isinstance(value, Struct) else ()
        return tuple(
            (name, self.resolve(ast.NamePath(ast.Ident(name, True, place.span), (), place.span))) for name in names
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinScope:
    """The sources of a join with their names, the joined record's own key and time, and the LATERAL aliases so far."""

    sides: tuple[Side, ...]
    shape: Shape
    laterals: Mapping[str, DataType] = field(default_factory=dict)
    known: frozenset[ColumnRef] = frozenset()
    """Fields that are not null here because a condition excludes it."""
    in_condition: bool = False
    """Names are those of an ON condition, where there is no joined record yet."""

    @property
    def name(self) -> str:
        return " and ".join(side.scope.name for side in self.sides)

    @property
    def aliases(self) -> frozenset[str]:
        return frozenset().union(*(side.scope.aliases for side in self.sides))

    def knowing(self, known: frozenset[ColumnRef]) -> JoinScope:
        """The same scope with more fields known not to be null."""
        return replace(self, known=self.known | known)

    def with_lateral(self, alias: str, element: DataType) -> JoinScope:
        return replace(self, laterals={**self.laterals, alias: element})

    def is_qualifier(self, path: ast.NamePath) -> bool:
        """Whether the first name of a path is a source's."""
        head = path.head.name
        return head in self.aliases and head not in self.laterals and bool(path.steps)

    def resolve(self, path: ast.NamePath) -> Expr:
        """The expression that a path stands for.

        Raises:
            LsqlError: FIELD_UNKNOWN, FIELD_AMBIGUOUS or FIELD_NOT_NESTED, at the step that fails.
        """
        found = self._resolve(path)
        if isinstance(found, ColumnRef) and found in self.known:
            return replace(found, nullable=False, present=True)
        return found

    def _resolve(self, path: ast.NamePath) -> Expr:
        head = path.head.name
        if head in self.laterals:
            return resolve_lateral(lateral_column(head), self.laterals[head], "value" in self.shape.exempt, path)
        if self.is_qualifier(path) and isinstance(path.steps[0], ast.Ident):
            side = next(side for side in self.sides if head in side.scope.aliases)
            return side.resolve(ast.NamePath(path.steps[0], path.steps[1:], path.span))
        if not path.head.quoted and head in FACET_WORDS:
            return self._own_facet(path)
        having = [side for side in self.sides if side.has_field(head)]
        if len(having) == 1:
            return having[0].resolve(path)
        if having:
            names = ", ".join(f"{side.scope.name}.{head}" for side in having)
            raise LsqlError("FIELD_AMBIGUOUS", path.span, name=head, known=names)
        known = sorted({name for side in self.sides for name, _ in side.fields(path)})
        raise LsqlError("FIELD_UNKNOWN", path.span, name=head, source=self.name, known=", ".join(known[:12]) or "none")

    def _own_facet(self, path: ast.NamePath) -> Expr:
        """`_key` and `_ts` of the joined record; all other facets belong to one source."""
        own = Scope(name=self.name, shape=self.shape, aliases=frozenset())
        if path.head.name in ("_key", "_ts") and not self.in_condition:
            return own.resolve(path)
        names = ", ".join(f"{side.scope.name}.{path.head.name}" for side in self.sides)
        raise LsqlError("FIELD_AMBIGUOUS", path.span, name=path.head.name, known=names)

    def starred(self, star: ast.Star) -> tuple[tuple[str, Expr], ...] | None:
        """The fields of `*` or of `payments.*`; None if the star has another qualifier."""
        place = star.qualifier or ast.NamePath(ast.Ident("*", True, star.span), (), star.span)
        if star.qualifier is None:
            return tuple(found for side in self.sides for found in side.fields(place))
        if star.qualifier.steps or star.qualifier.head.name in self.laterals:
            return None
        side = next((side for side in self.sides if star.qualifier.head.name in side.scope.aliases), None)
        return None if side is None else side.fields(place)
