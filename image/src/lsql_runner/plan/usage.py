"""The fields that expressions read. The engine decodes only these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from lsql_runner.bind.bound import Fields, keeps_source
from lsql_runner.bind.expr import ColumnRef, Expr, rewrite, walk
from lsql_runner.plan.nodes import Aggregate, Join, JoinSide, PlanNode, Project, ReadTopic
from lsql_runner.plan.number_types import has_numbers, with_numbers
from lsql_runner.plan.queries import Query, Write, WriteSink
from lsql_runner.plan.tree import inputs, node_exprs
from lsql_runner.types import Array, DataType, Field, Struct

Path = tuple[str | int, ...]


def paths_into(column: str, exprs: Iterable[Expr]) -> tuple[Path, ...]:
    """All paths that the expressions read in `column`, in order of first use."""
    paths = {
        part.path: None for expr in exprs for part in walk(expr) if isinstance(part, ColumnRef) and part.name == column
    }
    return tuple(paths)


def type_read(column: str, kind: DataType, exprs: Collection[Expr]) -> DataType | None:
    """The type with which the expressions read a column that is still encoded: only the fields that they read, and
    NUMBER in place of DOUBLE where they do; None if they do not read it."""
    paths = paths_into(column, exprs)
    if not paths:
        return None
    read = narrow_type(kind, paths)
    for part in (part for expr in exprs for part in walk(expr)):
        if isinstance(part, ColumnRef) and part.name == column and has_numbers(part.type):
            read = with_numbers(read, part.type, part.path)
    return read


def narrow_type(kind: DataType, paths: Iterable[Path]) -> DataType:
    """The type with only the fields at the paths, in the order of the type; an empty path keeps all fields."""
    kept_paths = list(paths)
    if () in kept_paths:
        return kind
    match kind:
        case Struct(fields):
            kept = []
            for member in fields:
                inside = [path[1:] for path in kept_paths if path[0] == member.name]
                if inside:
                    kept.append(Field(member.name, narrow_type(member.type, inside), member.nullable))
            return Struct(tuple(kept))
        case Array(element, nullable):
            return Array(narrow_type(element, [path[1:] for path in kept_paths]), nullable)
    return kind


def fields_read(query: Query) -> dict[str, DataType]:
    """By topic: the type of the fields that a query decodes of its value; an empty struct if it passes through."""
    kinds: dict[str, list[DataType]] = {}
    for write in query.writes:
        for read in _reads(write.input, _target_exprs(write)):
            schema = read.node.schema
            kinds.setdefault(schema.topic, []).append(narrow_type(schema.value.type, paths_into("value", read.exprs)))
    return {topic: _union(of_topic) for topic, of_topic in kinds.items()}


def parts_read(write: Write) -> dict[str, frozenset[str]]:
    """By topic: which of `key` and `value` an INSERT reads, with an expression or to add fields to them."""
    parts: dict[str, frozenset[str]] = {}
    for read in _reads(write.input, _target_exprs(write)):
        names = {name for name in ("key", "value") if paths_into(name, read.exprs)}
        topic = read.node.schema.topic
        parts[topic] = parts.get(topic, frozenset()) | read.extended | names
    return parts


def _target_exprs(write: Write) -> tuple[Expr, ...]:
    """The expressions of a target: a sink reads the whole value as columns; a topic may get its original bytes."""
    return (ColumnRef("value", (), write.input.value_type),) if isinstance(write, WriteSink) else ()


@dataclass(frozen=True, slots=True)
class _Read:
    """What an INSERT reads of the records of a topic."""

    node: ReadTopic
    exprs: tuple[Expr, ...]
    """Expressions over the columns of the topic."""
    extended: frozenset[str]
    """`key` and `value` if fields are added to them."""


def _reads(node: PlanNode, above: tuple[Expr, ...], extended: frozenset[str] = frozenset()) -> Iterator[_Read]:
    """What nodes read of each topic below a node. `above` are expressions over the columns of the node."""
    match node:
        case ReadTopic():
            yield _Read(node, above, extended)
        case Join():
            for side in (node.left, node.right):
                carried = tuple(
                    ColumnRef(side.names[name], path, kind)
                    for name, kind in side.carried
                    for path in _scalar_paths(kind)
                )
                keys = tuple(_to_input(key, side) for key in side.keys)
                yield from _reads(side.input, (*keys, *carried))
        case Aggregate():
            yield from _reads(node.input, node_exprs(node))
        case Project():
            parts = {"key": node.key, "value": node.value}
            kept = {name for name, part in parts.items() if keeps_source(part)}
            new = {name for name, part in parts.items() if isinstance(part, Fields) and part.extends}
            refs = (part for expr in above for part in walk(expr) if isinstance(part, ColumnRef) and part.name in kept)
            yield from _reads(node.input, (*refs, *node_exprs(node)), frozenset((extended & kept) | new))
        case _:
            yield from _reads(inputs(node)[0], (*above, *node_exprs(node)), extended)


def _scalar_paths(kind: DataType) -> tuple[Path, ...]:
    """The paths to all nested fields of a type that are not structs."""
    if not isinstance(kind, Struct) or not kind.fields:
        return ((),)
    return tuple((member.name, *path) for member in kind.fields for path in _scalar_paths(member.type))


def _to_input(expr: Expr, side: JoinSide) -> Expr:
    """An expression over the columns of a join, rewritten to the columns of one input."""
    if side.number is None:
        return expr

    def visit(part: Expr) -> Expr | None:
        return replace(part, source=None) if isinstance(part, ColumnRef) else None

    return rewrite(expr, visit)


def _union(kinds: list[DataType]) -> DataType:
    names: dict[str, Field] = {}
    for kind in kinds:
        if not isinstance(kind, Struct):
            return kind
        for member in kind.fields:
            known = names.get(member.name)
            names[member.name] = member if known is None else Field(member.name, _union([known.type, member.type]))
    return Struct(tuple(names.values()))
