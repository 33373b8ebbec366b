"""Names in a SELECT without joins.

The input has the columns `key`, `value`, `topic`, `partition`, `offset`, `ts` (milliseconds since 1970 UTC), `headers`,
and one column for each LATERAL alias. A name without a prefix is a field of the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from lsql_runner.bind.bound import Shape
from lsql_runner.bind.expr import ColumnRef, Expr, HeaderValue
from lsql_runner.bind.source_formats import FORMAT_PARTS
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import INT, JSON, LONG, STRING, Array, DataType, Field, Map, Struct, describe

_METADATA: dict[str, tuple[str, DataType]] = {
    "_topic": ("topic", STRING),
    "_partition": ("partition", INT),
    "_offset": ("offset", LONG),
    "_ts": ("ts", LONG),
}
_META_STEPS: dict[str, tuple[str, DataType]] = {
    "partition": ("partition", INT),
    "offset": ("offset", LONG),
    "timestamp": ("ts", LONG),
    "topic": ("topic", STRING),
}
RESERVED_NAMES = frozenset({"_key", "_value", "_meta", "_header", *_METADATA})
"""Names that are not fields of the value, unless they are quoted."""


SUBSELECT = "the subselect"
"""The name of a subselect without an alias, in error messages."""


def lateral_column(alias: str) -> str:
    """The name of the column with the elements of a LATERAL."""
    return f"lateral_{alias}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One source, its names, and the LATERAL aliases defined so far."""

    name: str
    shape: Shape
    aliases: frozenset[str]
    """The names that can be a prefix of its fields."""
    laterals: Mapping[str, ColumnRef] = field(default_factory=dict)
    """The elements, by alias."""
    not_null: frozenset[ColumnRef] = frozenset()
    """Fields that a condition excludes from being NULL."""

    def with_not_null(self, fields: frozenset[ColumnRef]) -> Scope:
        """The scope with more fields that cannot be NULL."""
        return replace(self, not_null=self.not_null | fields)

    def with_lateral(self, alias: str, element: ColumnRef) -> Scope:
        """The scope with another LATERAL alias."""
        return replace(self, laterals={**self.laterals, alias: element})

    def resolve(self, path: ast.NamePath) -> Expr:
        """The expression that a path names.

        Raises:
            LsqlError: FIELD_UNKNOWN, FIELD_NOT_NESTED, at the step that fails; HEADER_NAME_MISSING, FACET_UNAVAILABLE;
                FORMAT_CONDITION_MISPLACED.
        """
        expr = self._resolve(path)
        if isinstance(expr, ColumnRef) and expr in self.not_null:
            return replace(expr, nullable=False, present=True)
        return expr

    def _resolve(self, path: ast.NamePath) -> Expr:
        head = path.head.name
        if not path.head.quoted and head in RESERVED_NAMES:
            return self._resolve_reserved(path)
        if head in self.laterals:
            return resolve_lateral(self.laterals[head], path)
        if self.is_qualifier(path) and isinstance(path.steps[0], ast.Ident):
            return self.resolve(ast.NamePath(path.steps[0], path.steps[1:], path.span))
        if not path.head.quoted and head.lower() in FORMAT_PARTS and not self._is_field(head):
            raise LsqlError("FORMAT_CONDITION_MISPLACED", path.span, name=head.lower())
        return self._field_ref("value", self.shape.value.type, self._steps_in_value(path), self.name)

    def has_field(self, path: ast.NamePath) -> bool:
        """Whether the value has the field that a path begins with."""
        return self._is_field(path.head.name) or self._count_omitted(path) > 0

    def _steps_in_value(self, path: ast.NamePath) -> tuple[ast.Ident | ast.Index, ...]:
        steps = (path.head, *path.steps)
        return steps if self._is_field(path.head.name) else steps[self._count_omitted(path) :]

    def _count_omitted(self, path: ast.NamePath) -> int:
        """How many of the first steps of a path the WITH query left out, as in `address.country` for `country`."""
        steps = steps_of(path)
        lengths = (length for length in range(len(steps), 1, -1) if steps[:length] in self.shape.shortened)
        return next(lengths, 1) - 1

    def is_qualifier(self, path: ast.NamePath) -> bool:
        """Whether the first name of a path is the source and not a field, as in `payments.amount`."""
        head = path.head.name
        is_source = head in self.aliases and head not in self.laterals and not self._is_field(head)
        return is_source and bool(path.steps) and isinstance(path.steps[0], ast.Ident)

    def _is_field(self, name: str) -> bool:
        value = self.shape.value.type
        return isinstance(value, Struct) and value.field(name) is not None

    def _field_ref(self, column: str, kind: DataType, steps: tuple[ast.Ident | ast.Index, ...], name: str) -> ColumnRef:
        ref = _follow(_root(column, kind), steps, name)
        return replace(ref, undeclared=self.shape.is_undeclared(column, ref.path))

    def _resolve_reserved(self, path: ast.NamePath) -> Expr:
        head, steps = path.head.name, path.steps
        match head:
            case "_key":
                return self._field_ref("key", self.shape.key.type, steps, "_key")
            case "_value":
                return self._field_ref("value", self.shape.value.type, steps, "_value")
            case "_header":
                if len(steps) != 1 or not isinstance(steps[0], ast.Ident):
                    raise LsqlError("HEADER_NAME_MISSING", path.span, name=head)
                self._require("headers", path.span, head)
                return HeaderValue(steps[0].name, STRING)
            case "_meta":
                step = steps[0].name if len(steps) == 1 and isinstance(steps[0], ast.Ident) else ""
                if step not in _META_STEPS:
                    known = ", ".join(_META_STEPS)
                    raise LsqlError("FIELD_UNKNOWN", path.span, name=step or "_meta", source="_meta", known=known)
                column, kind = _META_STEPS[step]
            case _:
                column, kind = _METADATA[head]
                if steps:
                    first = steps[0].name if isinstance(steps[0], ast.Ident) else f"[{steps[0].position}]"
                    raise LsqlError("FIELD_NOT_NESTED", steps[0].span, name=head, type=describe(kind), step=first)
        self._require(column, path.span, head)
        return ColumnRef(column, (), kind, nullable=False, present=True)

    def _require(self, column: str, span: Span, name: str) -> None:
        """Check that a column of the metadata is available."""
        if column not in self.shape.metadata:
            available = [word for word, (other, _) in sorted(_METADATA.items()) if other in self.shape.metadata]
            known = ", ".join(["_key", "_value", *available])
            raise LsqlError("FACET_UNAVAILABLE", span, name=name, source=self.name, known=known)


def steps_of(path: ast.NamePath) -> tuple[str | int, ...]:
    """The names and array indexes of a path."""
    return tuple(step.name if isinstance(step, ast.Ident) else step.position for step in (path.head, *path.steps))


def _root(column: str, kind: DataType, undeclared: bool = False) -> ColumnRef:
    """A key, a value or an element of an array. It is not nullable, but its fields can be."""
    return ColumnRef(column, (), kind, nullable=False, undeclared=undeclared)


def lateral_element(alias: str, kind: DataType, undeclared: bool) -> ColumnRef:
    """The reference to the elements of a LATERAL.

    Args:
        alias: the alias of the elements.
        kind: the type of an element.
        undeclared: whether the fields of the elements are not declared.
    """
    return _root(lateral_column(alias), kind, undeclared)


def resolve_lateral(element: ColumnRef, path: ast.NamePath) -> ColumnRef:
    """The reference for a path whose first name is a LATERAL alias.

    Raises:
        LsqlError: FIELD_UNKNOWN or FIELD_NOT_NESTED, at the step that fails.
    """
    return _follow(element, path.steps, path.head.name)


def _follow(start: ColumnRef, steps: tuple[ast.Ident | ast.Index, ...], name: str) -> ColumnRef:
    ref = start
    for step in steps:
        ref = _step(ref, step, name)
        name = step.name if isinstance(step, ast.Ident) else f"{name}[{step.position}]"
    return ref


def _step(inside: ColumnRef, step: ast.Ident | ast.Index, name: str) -> ColumnRef:
    if inside.type == JSON:
        raise LsqlError("FIELD_TYPE_UNKNOWN", step.span, name=name)
    match inside.type, step:
        case Struct() as struct, ast.Ident(field_name):
            member = struct.field(field_name)
            if member is None:
                raise LsqlError(
                    "FIELD_UNKNOWN",
                    step.span,
                    name=field_name,
                    source=name,
                    known=_list_fields(field_name, struct),
                )
            return field_ref(inside, member)
        case Map(value), ast.Ident(key):
            return replace(inside, path=(*inside.path, key), type=value, nullable=True)
        case Array(element), ast.Index(position):
            return replace(inside, path=(*inside.path, position), type=element, nullable=True)
    step_name = step.name if isinstance(step, ast.Ident) else f"[{step.position}]"
    if inside.column == "value" and not inside.path:  # the value is not a struct
        source = f"{name} ({describe(inside.type)})"
        raise LsqlError("FIELD_UNKNOWN", step.span, name=step_name, source=source, known="_value, _key, _ts")
    raise LsqlError("FIELD_NOT_NESTED", step.span, name=name, type=describe(inside.type), step=step_name)


def field_ref(struct: ColumnRef, member: Field) -> ColumnRef:
    """The reference to a field of a struct."""
    nullable = struct.nullable or member.nullable
    return replace(struct, path=(*struct.path, member.name), type=member.type, nullable=nullable)


def _list_fields(name: str, struct: Struct) -> str:
    """The names of at most twelve fields for an error message; similar names are first."""
    near = get_close_matches(name, struct.names, n=3, cutoff=0.6)
    near += [n for n in struct.names if n.lower() == name.lower() and n not in near]
    rest = [n for n in struct.names if n not in near]
    shown = [*near, *rest][:12]
    return (", ".join(shown) + (", ..." if len(struct.names) > 12 else "")) or "none"
