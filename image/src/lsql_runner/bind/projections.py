"""The SELECT list: the key and value of the output record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lsql_runner.bind.bound import Fields, Part, Unchanged, UnnamedValue, extended_type, type_inside
from lsql_runner.bind.casts import instead_of
from lsql_runner.bind.expr import ColumnRef, Expr, StructValue
from lsql_runner.bind.expressions import Binder
from lsql_runner.bind.join_scope import JoinScope
from lsql_runner.bind.operators import DURATION, convert
from lsql_runner.bind.scope import RESERVED_NAMES, Scope, steps_of
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import LONG, NULL, STRING, DataType, Map, Struct, common_type, describe

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
    spans: dict[tuple[str, ...], Span] = field(default_factory=dict, kw_only=True)
    """The projections by the path of the field that they set."""

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
            if isinstance(inside[last], dict):
                raise LsqlError("PROJECTION_CONFLICT", span, name=".".join(path))
            raise LsqlError("PROJECTION_DUPLICATE", span, [("the first", self.spans[path])], name=".".join(path))
        inside[last], self.spans[path] = expr, span

    def set_star(self, span: Span) -> None:
        if self.unnamed is not None:
            raise LsqlError("PROJECTION_CONFLICT", span, name=self.name)
        self.has_star = True

    def build(self, source: DataType) -> Part | None:
        """The part; None if the SELECT list does not mention it.

        Args:
            source: the type of the value that a star names.

        Raises:
            LsqlError: ENTRY_TYPE.
        """
        if self.unnamed is not None:
            return UnnamedValue(self.unnamed)
        if self.fields:
            whole = self._expression(self.fields, source if self.has_star else None, ())
            assert isinstance(whole, StructValue)
            return Fields(whole.fields, extends=self.has_star)
        return Unchanged() if self.has_star else None

    def _expression(self, value: FieldTree | Expr, known: DataType | None, path: tuple[str, ...]) -> Expr:
        """The expression of a field, whose type in the source is `known`, with the types of the entries of maps."""
        if not isinstance(value, dict):
            return value
        return StructValue(tuple((name, self._member(name, inner, known, path)) for name, inner in value.items()))

    def _member(self, name: str, value: FieldTree | Expr, outer: DataType | None, path: tuple[str, ...]) -> Expr:
        known = None if outer is None else type_inside(outer, name)
        expr = self._expression(value, known, (*path, name))
        if not isinstance(outer, Map) or known is None:
            return expr
        if common_type(known, expr.type) != known:
            place = next(span for at, span in self.spans.items() if at[: len(path) + 1] == (*path, name))
            instead = instead_of(expr.type, (known,))
            raise LsqlError(
                "ENTRY_TYPE",
                place,
                name=".".join(path),
                found=describe(expr.type),
                expected=describe(known),
                instead=instead,
            )
        return convert(expr, known)


def bind_projections(binder: Binder, items: tuple[ast.Projection, ...]) -> tuple[Part | None, Part | None]:
    """The key and the value as the SELECT list sets them; None for a part that it does not set.

    Raises:
        LsqlError: PROJECTION_DUPLICATE, PROJECTION_CONFLICT, PROJECTION_TARGET_INVALID, STAR_OF_SCALAR, ENTRY_TYPE, and
            what Binder raises.
    """
    key, value = _PartBuilder("_key"), _PartBuilder("_value")
    for item in items:
        if isinstance(item.expr, ast.Star):
            _add_star(binder, item.expr, item, value)
            continue
        expr = _with_writable_type(binder.bind_unread(item.expr))
        path = _output_path(item)
        part = key if path[0] == "_key" else value
        if path in (("_key",), ("_value",)):
            part.set_unnamed(expr, item.span)
        else:
            part.set_field(path[1:] if path[0] in ("_key", "_value") else path, expr, item.span)
    scope = binder.scope
    source = NULL if isinstance(scope, JoinScope) else scope.shape.value.type
    return key.build(NULL), value.build(source)


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
    if _is_whole_value(star, scope):
        value.set_star(item.span)
        return
    assert qualifier is not None
    inside = scope.resolve(qualifier)
    if not isinstance(inside, ColumnRef) or not isinstance(inside.type, Struct):
        raise LsqlError("STAR_OF_SCALAR", item.span, name=item.text.removesuffix(".*"), found=describe(inside.type))
    for name in inside.type.names:
        path = replace(qualifier, steps=(*qualifier.steps, ast.Ident(name, True, item.span)))
        value.set_field((name,), scope.resolve(path), item.span)


def _is_whole_value(star: ast.Star, scope: Scope | JoinScope) -> bool:
    """Whether a star names all fields of the value, and not of a struct: `*`, `_value.*`, `payments.*`."""
    qualifier = star.qualifier
    if qualifier is None:
        return True
    head = qualifier.head.name
    return not qualifier.steps and (head == "_value" or (head in scope.aliases and head not in scope.laterals))


def _output_path(item: ast.Projection) -> tuple[str, ...]:
    """The names of the output field that a projection sets, beginning with `_key` or `_value`; `_value` is optional."""
    if item.alias is None:
        return ("_value", default_name(item))
    steps: list[str] = []
    for step in (item.alias.head, *item.alias.steps):
        if isinstance(step, ast.Index):
            raise LsqlError("PROJECTION_TARGET_INVALID", step.span, name=f"[{step.position}]")
        steps.append(step.name)
    head = item.alias.head
    if not head.quoted and head.name in RESERVED_NAMES - {"_key", "_value"}:
        raise LsqlError("PROJECTION_TARGET_INVALID", item.alias.span, name=head.name)
    return ("_value", *steps) if head.quoted else tuple(steps)


def default_name(item: ast.Projection) -> str:
    """The name of a field without an alias: the last name of a path, the text of another expression."""
    match item.expr:
        case ast.NamePath(head, steps):
            last = steps[-1] if steps else head
            if isinstance(last, ast.Ident):
                return last.name
    return item.text


def shortened_paths(items: tuple[ast.Projection, ...], scope: Scope | JoinScope) -> frozenset[tuple[str | int, ...]]:
    """`Shape.shortened` of a result.

    Args:
        items: the SELECT list.
        scope: the names in it.
    """
    paths: set[tuple[str | int, ...]] = set()
    replaced: set[str] = set()
    for item in items:
        match item:
            case ast.Projection(expr=ast.Star()):
                continue
            case ast.Projection(expr=ast.NamePath() as path, alias=None):
                steps = steps_of(path)[1 if scope.is_qualifier(path) else 0 :]
                if len(steps) > 1 and isinstance(steps[-1], str) and steps[0] not in RESERVED_NAMES:
                    paths.add(steps)
        replaced.add(_output_path(item)[-1])
    stars = [item.expr for item in items if isinstance(item.expr, ast.Star)]
    kept = {path for star in stars for path in _shortened_paths_of(star, scope) if path[-1] not in replaced}
    return frozenset(paths | kept)


def _shortened_paths_of(star: ast.Star, scope: Scope | JoinScope) -> frozenset[tuple[str | int, ...]]:
    if isinstance(scope, JoinScope):
        return frozenset().union(*(source.scope.shape.shortened for source in scope.sources_of(star) or ()))
    return scope.shape.shortened if _is_whole_value(star, scope) else frozenset()


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
            if not extends:
                return StructValue(fields).type
            assert isinstance(source_type, Struct)
            return extended_type(source_type, fields)
