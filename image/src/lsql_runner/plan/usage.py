"""Which parts of a column a set of expressions looks at: the engine decodes those and no others."""

from __future__ import annotations

from collections.abc import Iterable

from lsql_runner.bind.bound import Fields, Whole, part_exprs
from lsql_runner.bind.expr import ColumnRef, Expr, walk
from lsql_runner.plan.nodes import Aggregate, Filter, Node, Project, Query, ReadTopic, Unnest, WriteSink, nodes
from lsql_runner.types import Array, DataType, Field, Struct

Path = tuple[str | int, ...]


def paths_into(column: str, exprs: Iterable[Expr]) -> tuple[Path, ...]:
    """Every path that the expressions follow into `column`, in order of first use."""
    found = {
        part.path: None
        for expr in exprs
        for part in walk(expr)
        if isinstance(part, ColumnRef) and part.column == column
    }
    return tuple(found)


def narrowed(kind: DataType, paths: Iterable[Path]) -> DataType:
    """The type with only the fields that the paths reach, in the type's own order; an empty path keeps all."""
    wanted = list(paths)
    if () in wanted:
        return kind
    match kind:
        case Struct(fields):
            kept = []
            for member in fields:
                inside = [path[1:] for path in wanted if path[0] == member.name]
                if inside:
                    kept.append(Field(member.name, narrowed(member.type, inside), member.nullable))
            return Struct(tuple(kept))
        case Array(element):
            return Array(narrowed(element, [path[1:] for path in wanted]))
    return kind


def node_exprs(node: Node) -> tuple[Expr, ...]:
    """The expressions that a node evaluates itself."""
    match node:
        case Filter(condition=condition):
            return (condition,)
        case Unnest(array=array):
            return (array,)
        case Aggregate():
            arguments = tuple(arg for _, _, arg, _ in node.calls if arg is not None)
            return (node.event_time, *(expr for _, expr in node.keys), *arguments)
        case Project():
            return (node.ts, *part_exprs(node.key), *part_exprs(node.value))
    return ()


def fields_read(query: Query, topic: str) -> DataType:
    """The part of a topic's value that a query decodes; an empty struct if it only passes it through."""
    kinds: list[DataType] = []
    for sink in query.sinks:
        for node in nodes(sink.input):
            if isinstance(node, ReadTopic) and node.schema.topic == topic:
                paths, passes = _paths_above(sink.input, node)
                # A record may pass as bytes; the columns of a row are taken out of it.
                rows = passes and isinstance(sink, WriteSink)
                kinds.append(node.schema.value.type if rows else narrowed(node.schema.value.type, paths))
    return _union(kinds)


def _paths_above(top: Node, read: ReadTopic) -> tuple[list[Path], bool]:
    """Paths into the source's value, up to the projection that makes a new one; whether there is none to the end."""
    chain = [node for node in nodes(top) if node is not read]
    found: list[Path] = []
    for node in reversed(chain):
        found += paths_into("value", node_exprs(node))
        makes_new_value = isinstance(node, Project) and not (
            isinstance(node.value, Whole) or (isinstance(node.value, Fields) and node.value.extends)
        )
        if isinstance(node, Aggregate) or makes_new_value:
            return found, False
    return found, True


def _union(kinds: list[DataType]) -> DataType:
    names: dict[str, Field] = {}
    for kind in kinds:
        if not isinstance(kind, Struct):
            return kind
        for member in kind.fields:
            known = names.get(member.name)
            names[member.name] = member if known is None else Field(member.name, _union([known.type, member.type]))
    return Struct(tuple(names.values()))
