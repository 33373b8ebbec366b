"""Numbers that pass from JSON to JSON or STRING keep their digits if they are not computed with: 55 stays 55."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lsql_runner.bind.bound import Fields, Part, UnnamedValue, keeps_source
from lsql_runner.bind.expr import Expr, StructValue
from lsql_runner.bind.projections import part_type
from lsql_runner.bind.scope import lateral_column
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT
from lsql_runner.plan.columns import ColumnTypes
from lsql_runner.plan.nodes import Filter, PlanNode, Project, Unnest, encoded_columns
from lsql_runner.plan.number_types import has_numbers, to_text_types, with_numbers
from lsql_runner.plan.numbers import computing, passed_numbers, passing_on
from lsql_runner.plan.queries import Plan, Write, WriteTopic
from lsql_runner.types import Array, DataType, Struct


def keep_numbers(plan: Plan) -> Plan:
    """Make a DOUBLE that passes from a JSON record to a value in JSON or STRING a NUMBER, where it is decoded.

    Values of stateful nodes are not changed: the columns of a state keep their types.
    """
    queries = (replace(query, writes=tuple(map(_write, query.writes))) for query in plan.queries)
    return Plan(tuple(queries))


def _write(write: Write) -> Write:
    if not isinstance(write, WriteTopic) or write.value_format not in (JSON_FORMAT, STRING_FORMAT):
        return write
    return replace(write, input=_project(write.input, to_text_types(write.input.value_type)))


def _node(node: PlanNode, wanted: ColumnTypes) -> PlanNode:
    """The node with NUMBERs in its columns.

    Args:
        node: the node.
        wanted: the types of the columns of which nodes above read NUMBERs.
    """
    match node:
        case Filter():
            below, columns = _input(node.input, (), wanted)
            return replace(node, input=below, condition=computing(node.condition, columns))
        case Unnest():
            return _unnest(node, wanted)
        case Project():
            return _project(node, wanted.get("value", node.value_type))
    return node


def _unnest(node: Unnest, wanted: ColumnTypes) -> Unnest:
    assert isinstance(node.array.type, Array)
    column = lateral_column(node.alias)
    array = replace(node.array.type, element=wanted.get(column, node.array.type.element))
    others = {name: kind for name, kind in wanted.items() if name != column}
    below, columns = _input(node.input, [(node.array, array)], others)
    return replace(node, input=below, array=passing_on(node.array, columns))


def _project(node: Project, value_type: DataType) -> Project:
    """The projection, whose value has NUMBERs where `value_type` has them."""
    extends_text = "value" in encoded_columns(node)
    if extends_text:  # the new fields become part of the JSON text, so their numbers keep their digits in any case
        value_type = to_text_types(node.value_type)
    below, columns = _input(node.input, _fields(node.value, value_type), _source(node, value_type))
    value = _set_kinds(node.value, value_type, columns)
    if not extends_text:
        source = columns["value"] if keeps_source(value) else node.value_type
        value_type = with_numbers(node.value_type, part_type(value, source))
    return replace(
        node,
        input=below,
        key=_set_kinds(node.key, node.key_type, columns),
        value=value,
        ts=computing(node.ts, columns),
        value_type=node.value_type if extends_text else value_type,
    )


def _fields(part: Part, kind: DataType) -> Iterator[tuple[Expr, DataType]]:
    """The expressions of a part of this type, each with its type."""
    match part, kind:
        case UnnamedValue(expr), _:
            yield expr, kind
        case Fields(fields), Struct(members):
            types = {member.name: member.type for member in members}
            yield from ((expr, types[name]) for name, expr in fields)


def _source(node: Project, value_type: DataType) -> ColumnTypes:
    """The type of the value of the input, with NUMBERs where they pass to a value of type `value_type`."""
    if not keeps_source(node.value) or "value" in encoded_columns(node.input):
        return {}
    if isinstance(node.value, Fields) and isinstance(value_type, Struct):
        new = {name for name, expr in node.value.fields if not isinstance(expr, StructValue)}
        value_type = Struct(tuple(member for member in value_type.fields if member.name not in new))
    return {"value": with_numbers(node.input.columns["value"], value_type)}


def _input(
    below: PlanNode, typed: Iterable[tuple[Expr, DataType]], wanted: ColumnTypes
) -> tuple[PlanNode, ColumnTypes]:
    """The input of a node with NUMBERs, and the types with which the node reads its columns.

    Args:
        below: the input.
        typed: expressions of the node, with NUMBER in their types where they are to pass on a number.
        wanted: the types of the columns of which nodes above read NUMBERs.
    """
    columns, read = below.columns, dict(wanted)
    for expr, kind in typed:
        for ref, numbers in passed_numbers(expr, kind):
            read[ref.name] = with_numbers(read.get(ref.name, columns[ref.name]), numbers, ref.path)
    texts = encoded_columns(below)
    new = _node(below, {name: kind for name, kind in read.items() if name not in texts})
    return new, {**new.columns, **{name: kind for name, kind in read.items() if name in texts}}


def _set_kinds(part: Part, kind: DataType, columns: ColumnTypes) -> Part:
    """The part over columns that may have NUMBER, with NUMBERs where its type has them."""

    def change(expr: Expr, wanted: DataType) -> Expr:
        return passing_on(expr, columns) if has_numbers(wanted) else computing(expr, columns)

    match part:
        case UnnamedValue(expr):
            return UnnamedValue(change(expr, kind))
        case Fields(fields, extends):
            typed = zip(fields, _fields(part, kind), strict=True)
            return Fields(tuple((name, change(expr, wanted)) for (name, expr), (_, wanted) in typed), extends)
    return part
