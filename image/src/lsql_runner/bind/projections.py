"""The SELECT list: the key and value of the output record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lsql_runner.bind.bound import Fields, Part, Unchanged, UnnamedValue
from lsql_runner.bind.expr import ColumnRef, Expr, StructValue
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.operators import DURATION, convert
from lsql_runner.bind.scope import RESERVED_NAMES, Scope
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import LONG, NULL, STRING, DataType, Struct, describe

FieldTree = dict[str, "FieldTree | Expr"]
"""Fields by name. A nested struct is a FieldTree."""


@dataclass(slots=True)
class _PartBuilder:
    """Collects the projections of one part."""

    name: str
    """`_key` or `_value`."""
    unnamed: Expr | None = None
    has_star: bool = False
    fields: FieldTree = field(default_factory=dict)

    def set_unnamed(self, expr: Expr, span: Span) -> None:
        if self.unnamed is not None:
            raise LsqlError("PROJECTION_DUPLICATE", span, name=self.name)
        if self.fields or self.has_star:
            raise LsqlError("PROJECTION_CONFLICT", span, name=self.name)
        self.unnamed = expr

    def set_field(self, path: tuple[str, ...], expr: Expr, span: Span) -> None:
        if self.unnamed is not None:
            raise LsqlError("PROJECTION_CONFLICT", span, name=self.name)
        inside = self.fields
        for step in path[:-1]:
            below = inside.setdefault(step, {})
            if not isinstance(below, dict):
                raise LsqlError("PROJECTION_CONFLICT", span, name=step)
            inside = below
        last = path[-1]
        if last in inside:
            code = "PROJECTION_CONFLICT" if isinstance(inside[last], dict) else "PROJECTION_DUPLICATE"
            raise LsqlError(code, span, name=".".join(path))
        inside[last] = expr

    def set_star(self, span: Span) -> None:
        if self.unnamed is not None:
            raise LsqlError("PROJECTION_CONFLICT", span, name=self.name)
        self.has_star = True

    def build(self) -> Part | None:
        """The part; None if the SELECT list does not mention it."""
        if self.unnamed is not None:
            return UnnamedValue(self.unnamed)
        if self.fields:
            return Fields(
                tuple((name, _expression(value)) for name, value in self.fields.items()), extends=self.has_star
            )
        return Unchanged() if self.has_star else None


def _expression(value: FieldTree | Expr) -> Expr:
    if isinstance(value, dict):
        return StructValue(tuple((name, _expression(inner)) for name, inner in value.items()))
    return value


def bind_projections(binder: Binder, items: tuple[ast.Projection, ...]) -> tuple[Part | None, Part | None]:
    """The key and the value as the SELECT list sets them; None for a part that it does not set.

    Raises:
        LsqlError: PROJECTION_DUPLICATE, PROJECTION_CONFLICT, PROJECTION_TARGET_INVALID, STAR_OF_SCALAR, and what Binder
            raises.
    """
    key, value = _PartBuilder("_key"), _PartBuilder("_value")
    for item in items:
        if isinstance(item.expr, ast.Star):
            _add_star(binder, item.expr, item, value)
            continue
        expr = _with_writable_type(binder.bind(item.expr))
        path = _output_path(item, binder.scope)
        part = key if path[0] == "_key" else value
        if path in (("_key",), ("_value",)):
            part.set_unnamed(expr, item.span)
        else:
            part.set_field(path[1:] if path[0] in ("_key", "_value") else path, expr, item.span)
    return key.build(), value.build()


def _with_writable_type(expr: Expr) -> Expr:
    """The expression with a type that can be written: a string for NULL, milliseconds for a duration."""
    if expr.type == NULL:
        return convert(expr, STRING)
    return convert(expr, LONG) if expr.type == DURATION else expr


def _add_star(binder: Binder, star: ast.Star, item: ast.Projection, value: _PartBuilder) -> None:
    if item.alias is not None:
        raise LsqlError("STAR_MISPLACED", item.span)
    scope, qualifier = binder.scope, star.qualifier
    if isinstance(scope, JoinScope) and (fields := scope.expand_star(star)) is not None:
        for name, expr in fields:
            value.set_field((name,), expr, item.span)
        return
    names_value = qualifier is None or (
        not qualifier.steps
        and (
            qualifier.head.name == "_value"
            or (qualifier.head.name in scope.aliases and qualifier.head.name not in scope.laterals)
        )
    )
    if names_value:
        value.set_star(item.span)
        return
    assert qualifier is not None
    inside = scope.resolve(qualifier)
    if not isinstance(inside, ColumnRef) or not isinstance(inside.type, Struct):
        raise LsqlError("STAR_OF_SCALAR", item.span, name=item.text.removesuffix(".*"), found=describe(inside.type))
    for name in inside.type.names:
        path = replace(qualifier, steps=(*qualifier.steps, ast.Ident(name, True, item.span)))
        value.set_field((name,), scope.resolve(path), item.span)


def _output_path(item: ast.Projection, scope: Scope | JoinScope) -> tuple[str, ...]:
    """The names of the output field that a projection sets, beginning with `_key` or `_value`; `_value` can be absent.

    Without an alias, a field keeps its name; the name of another expression is its text.
    """
    if item.alias is None:
        return _default_path(item, scope)
    steps: list[str] = []
    for step in (item.alias.head, *item.alias.steps):
        if isinstance(step, ast.Index):
            raise LsqlError("PROJECTION_TARGET_INVALID", step.span, name=f"[{step.position}]")
        steps.append(step.name)
    head = item.alias.head
    if not head.quoted and head.name in RESERVED_NAMES - {"_key", "_value"}:
        raise LsqlError("PROJECTION_TARGET_INVALID", item.alias.span, name=head.name)
    return ("_value", *steps) if head.quoted else tuple(steps)


def _default_path(item: ast.Projection, scope: Scope | JoinScope) -> tuple[str, ...]:
    match item.expr:
        case ast.NamePath(head, steps) if all(isinstance(step, ast.Ident) for step in steps):
            names = (head.name, *(step.name for step in steps if isinstance(step, ast.Ident)))
            if head.name in RESERVED_NAMES and not head.quoted:
                return ("_value", names[-1])  # `_key.id` sets the field `id`; only an alias can set the key
            return ("_value", *(names[1:] if scope.is_qualifier(item.expr) else names))
    return ("_value", item.text)


def part_type(part: Part, source_type: DataType) -> DataType:
    """The type of an output part.

    Args:
        part: the part.
        source_type: the type of the same part in the source.
    """
    match part:
        case Unchanged():
            return source_type
        case UnnamedValue(expr):
            return expr.type
        case Fields(fields, extends):
            new = StructValue(fields).type.fields
            if not extends:
                return Struct(new)
            assert isinstance(source_type, Struct)
            names = {f.name for f in new}
            return Struct((*(f for f in source_type.fields if f.name not in names), *new))
