"""The meaning of names in a SELECT.

The relation below offers columns: `key`, `value`, `topic`, `partition`, `offset`, `ts` (milliseconds),
`headers`, and one column for each LATERAL alias. A bare name is a field of the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from lsql_runner.bind.bound import Shape
from lsql_runner.bind.expr import ColumnRef, Convert, Expr, HeaderValue
from lsql_runner.errors import LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast
from lsql_runner.types import INT, LONG, STRING, Array, DataType, Field, Map, Struct, describe

_FACETS: dict[str, tuple[str, DataType]] = {
    "_topic": ("topic", STRING),
    "_partition": ("partition", INT),
    "_offset": ("offset", LONG),
    "_ts": ("ts", LONG),
}
_META: dict[str, tuple[str, DataType]] = {
    "partition": ("partition", INT),
    "offset": ("offset", LONG),
    "timestamp": ("ts", LONG),
    "topic": ("topic", STRING),
}
FACET_WORDS = frozenset({"_key", "_value", "_meta", "_header", *_FACETS})


def lateral_column(alias: str) -> str:
    """The name of the column with the element of a LATERAL."""
    return f"lateral_{alias}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One source with its names, and the LATERAL aliases defined so far."""

    name: str
    shape: Shape
    aliases: frozenset[str]
    laterals: Mapping[str, DataType] = field(default_factory=dict)
    known: frozenset[ColumnRef] = frozenset()
    """Fields that are not null here because a condition excludes it."""

    def knowing(self, known: frozenset[ColumnRef]) -> Scope:
        """The same scope with more fields known not to be null."""
        return replace(self, known=self.known | known)

    def with_lateral(self, alias: str, element: DataType) -> Scope:
        return replace(self, laterals={**self.laterals, alias: element})

    def resolve(self, path: ast.NamePath) -> Expr:
        """The expression that a path stands for.

        Raises:
            LsqlError: FIELD_UNKNOWN or FIELD_NOT_NESTED, at the step that fails.
        """
        found = self._resolve(path)
        if isinstance(found, ColumnRef) and found in self.known:
            return replace(found, nullable=False, present=True)
        return found

    def _resolve(self, path: ast.NamePath) -> Expr:
        head = path.head.name
        if not path.head.quoted and head in FACET_WORDS:
            return self._resolve_facet(path)
        if head in self.laterals:
            return resolve_lateral(lateral_column(head), self.laterals[head], "value" in self.shape.exempt, path)
        if self.is_qualifier(path) and isinstance(path.steps[0], ast.Ident):
            return self.resolve(ast.NamePath(path.steps[0], path.steps[1:], path.span))
        return _inside(self._whole_value(path.span), (path.head, *path.steps), self.name)

    def is_qualifier(self, path: ast.NamePath) -> bool:
        """Whether the first name of a path is that of the source, and not of a field: `payments.amount`."""
        head = path.head.name
        named = head in self.aliases and head not in self.laterals and not self._is_field(head)
        return named and bool(path.steps) and isinstance(path.steps[0], ast.Ident)

    def _is_field(self, name: str) -> bool:
        value = self.shape.value.type
        return isinstance(value, Struct) and value.field(name) is not None

    def _whole_value(self, span: Span) -> ColumnRef:
        return _root("value", self.shape.value.type, "value" in self.shape.exempt)

    def _resolve_facet(self, path: ast.NamePath) -> Expr:
        head, steps = path.head.name, path.steps
        match head:
            case "_key":
                return _inside(_root("key", self.shape.key.type, "key" in self.shape.exempt), steps, "_key")
            case "_value":
                return _inside(self._whole_value(path.span), steps, "_value")
            case "_header":
                if len(steps) != 1 or not isinstance(steps[0], ast.Ident):
                    raise LsqlError("HEADER_NAME_MISSING", path.span, name=head)
                self._need("headers", path.span, head)
                return Convert(HeaderValue(steps[0].name), STRING)
            case "_meta":
                step = steps[0].name if len(steps) == 1 and isinstance(steps[0], ast.Ident) else ""
                if step not in _META:
                    raise LsqlError(
                        "FIELD_UNKNOWN",
                        path.span,
                        name=step or "_meta",
                        source="_meta",
                        known=", ".join(_META),
                    )
                column, kind = _META[step]
            case _:
                column, kind = _FACETS[head]
                if steps:
                    first = steps[0].name if isinstance(steps[0], ast.Ident) else f"[{steps[0].position}]"
                    raise LsqlError("FIELD_NOT_NESTED", steps[0].span, name=head, type=describe(kind), step=first)
        self._need(column, path.span, head)
        return ColumnRef(column, (), kind, nullable=False, present=True)

    def _need(self, facet: str, span: Span, name: str) -> None:
        if facet not in self.shape.facets:
            known = ", ".join(
                [
                    "_key",
                    "_value",
                    *(f"_{f}" for f in sorted(self.shape.facets) if f in ("topic", "partition", "offset", "ts")),
                ]
            )
            raise LsqlError("FACET_UNAVAILABLE", span, name=name, source=self.name, known=known)


def _root(column: str, kind: DataType, exempt: bool) -> ColumnRef:
    """A whole key, value or element of an array: it counts as not null, whatever is null inside."""
    return ColumnRef(column, (), kind, nullable=False, exempt=exempt)


def resolve_lateral(column: str, element: DataType, exempt: bool, path: ast.NamePath) -> ColumnRef:
    """What a path into the element of a LATERAL stands for; `exempt` as that of `ColumnRef`.

    Raises:
        LsqlError: FIELD_UNKNOWN or FIELD_NOT_NESTED, at the step that fails.
    """
    return _inside(_root(column, element, exempt), path.steps, path.head.name)


def _inside(start: ColumnRef, steps: tuple[ast.Ident | ast.Index, ...], name: str) -> ColumnRef:
    found = start
    for step in steps:
        found = _step(found, step, name)
        name = step.name if isinstance(step, ast.Ident) else f"{name}[{step.position}]"
    return found


def _step(inside: ColumnRef, step: ast.Ident | ast.Index, name: str) -> ColumnRef:
    match inside.type, step:
        case Struct() as struct, ast.Ident(field_name):
            member = struct.field(field_name)
            if member is None:
                raise LsqlError(
                    "FIELD_UNKNOWN",
                    step.span,
                    name=field_name,
                    source=name,
                    known=_known(field_name, struct),
                )
            return member_ref(inside, member)
        case Map(value), ast.Ident(key):
            return replace(inside, path=(*inside.path, key), type=value, nullable=True)
        case Array(element), ast.Index(position):
            return replace(inside, path=(*inside.path, position), type=element, nullable=True)
    wanted = step.name if isinstance(step, ast.Ident) else f"[{step.position}]"
    if inside.column == "value" and not inside.path:  # a bare name, and the value has no fields
        raise LsqlError(
            "FIELD_UNKNOWN",
            step.span,
            name=wanted,
            source=f"{name} ({describe(inside.type)})",
            known="_value, _key, _ts",
        )
    raise LsqlError("FIELD_NOT_NESTED", step.span, name=name, type=describe(inside.type), step=wanted)


def member_ref(struct: ColumnRef, member: Field) -> ColumnRef:
    """A field of a struct."""
    nullable = struct.nullable or member.nullable
    return replace(struct, path=(*struct.path, member.name), type=member.type, nullable=nullable)


def _known(name: str, struct: Struct) -> str:
    """The fields of a struct for a message: near names first, at most twelve."""
    near = get_close_matches(name, struct.names, n=3, cutoff=0.6)
    near += [n for n in struct.names if n.lower() == name.lower() and n not in near]
    rest = [n for n in struct.names if n not in near]
    shown = [*near, *rest][:12]
    return (", ".join(shown) + (", ..." if len(struct.names) > 12 else "")) or "none"
