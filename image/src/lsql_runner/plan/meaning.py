"""The meaning of expressions in a canonical form: expressions with the same meaning are equal JSON values.

A column that a projection computes is replaced by the expression of the projection, down to the columns of topics.
Aliases, names of WITH queries and the order of a SELECT list therefore have no effect. The values are stored beside
checkpoints; a change of their form needs another `fingerprint.VERSION`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, TypeAlias

from lsql_runner.bind.bound import Fields, Part, UnnamedValue
from lsql_runner.bind.expr import (
    AggregateCall,
    CaseWhen,
    ColumnRef,
    Const,
    Convert,
    Expr,
    FunctionCall,
    HeaderValue,
    OperatorCall,
    StructValue,
)
from lsql_runner.bind.grouping import group_column
from lsql_runner.bind.scope import lateral_column
from lsql_runner.plan.nodes import Aggregate, Join, JoinSide, PlanNode, Project, ReadTopic, Unnest
from lsql_runner.types import describe

Value: TypeAlias = Any
"""A JSON value: a string, a number, null, or a list whose first item names its type, such as `field`."""


@dataclass(frozen=True, slots=True)
class BaseColumn:
    """A column that no projection computes, or a field of it. Its value has no type; each reference to it adds path and
    type."""

    value: Value
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StructFields:
    """The meaning of the fields of a struct. `rest` is the struct that has all other fields; None without others."""

    fields: Mapping[str, Meaning]
    rest: BaseColumn | None = None

    def field(self, name: str) -> Meaning:
        """The meaning of a field; None if the struct does not have it."""
        if name in self.fields or self.rest is None:
            return self.fields.get(name)
        return replace(self.rest, path=(*self.rest.path, name))


Meaning: TypeAlias = Any
"""A Value, BaseColumn or StructFields."""

ColumnMeanings = Mapping[str, Meaning]
"""The meaning of columns by name; a missing name is a column of the topic."""


def meaning(expr: Expr, columns: ColumnMeanings) -> Value:
    """The meaning of an expression over these columns."""
    return _meaning(expr, columns)


def condition_meanings(expr: Expr, columns: ColumnMeanings) -> list[Value]:
    """The meaning of each condition that AND connects, sorted and without duplicates."""
    conditions = expr.args if isinstance(expr, OperatorCall) and expr.op == "AND" else (expr,)
    return in_order([_meaning(condition, columns) for condition in conditions])


def in_order(values: list[Value]) -> list[Value]:
    """The values sorted by their JSON text, without duplicates."""
    return [value for _, value in sorted({canonical(value): value for value in values}.items())]


def canonical(value: Value) -> str:
    """The JSON text of a value; equal values have the same text."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=True)


Calls = tuple[tuple[str, AggregateCall], ...]


def in_stored_order(calls: Calls, below: PlanNode) -> Calls:
    """The aggregates of a group in the order of the state, which does not depend on the order of the SELECT list.

    Args:
        calls: the aggregates with their output columns.
        below: the node with the columns that they read.
    """
    columns = column_meanings(below)
    return tuple(sorted(calls, key=lambda call: canonical(_meaning(call[1], columns))))


def column_meanings(node: PlanNode) -> ColumnMeanings:
    """The meaning of the output columns of a node."""
    match node:
        case ReadTopic():
            return {}
        case Unnest():
            # The same array may be unnested twice: the column with the index distinguishes the elements.
            element = BaseColumn(["element", node.position])
            return {**column_meanings(node.input), lateral_column(node.alias): element}
        case Aggregate():
            below = column_meanings(node.input)
            keys = {group_column(name): ["group", _meaning(expr, below)] for name, expr in node.keys}
            return keys | {slot: ["result", _meaning(call, below)] for slot, call in node.calls}
        case Join(left=left, right=right):
            both = {**_side(left, "left"), **_side(right, "right")}
            return both | {"key": _meaning(node.key, both)}
        case Project():
            return _project(node, column_meanings(node.input))
    return column_meanings(node.input)


def _project(node: Project, below: ColumnMeanings) -> ColumnMeanings:
    meanings = {name: value for name, value in below.items() if name in node.columns and name not in ("key", "value")}
    meanings["ts"] = _meaning(node.ts, below)
    for name, part in (("key", node.key), ("value", node.value)):
        value = _part(part, name, below)
        if value is not None:
            meanings[name] = value
    return meanings


def _part(part: Part, name: str, below: ColumnMeanings) -> Meaning:
    """The meaning of a key or value; None if the topic's key or value is unchanged."""
    match part:
        case UnnamedValue(expr):
            return _meaning(expr, below)
        case Fields(fields, extends):
            if extends:
                return _extend(_column(name, below), fields, below)
            return StructFields({field: _meaning(expr, below) for field, expr in fields})
    return below.get(name)


def _extend(base: Meaning, fields: tuple[tuple[str, Expr], ...], columns: ColumnMeanings) -> StructFields:
    """The meaning of a struct after `fields` are added or replaced. `base` is None if the enclosing struct does not
    have this field."""
    match base:
        case StructFields():
            struct = base
        case BaseColumn() | None:
            struct = StructFields({}, base)
        case _:
            struct = StructFields({}, BaseColumn(base))
    new = {
        name: _extend(struct.field(name), expr.fields, columns)
        if isinstance(expr, StructValue)
        else _meaning(expr, columns)
        for name, expr in fields
    }
    return replace(struct, fields={**struct.fields, **new})


def _column(name: str, columns: ColumnMeanings) -> Meaning:
    return columns.get(name, BaseColumn(["column", name]))


def _side(side: JoinSide, which: str) -> ColumnMeanings:
    below = column_meanings(side.input)
    if side.number is None:
        return below  # the names of its columns already contain the source
    return {name: _of_side(_column(own, below), which) for name, own in side.names.items()}


def _of_side(value: Meaning, which: str) -> Meaning:
    match value:
        case BaseColumn(inner, path):
            return BaseColumn([which, inner], path)
        case StructFields(fields, rest):
            return StructFields(
                {name: _of_side(each, which) for name, each in fields.items()},
                None if rest is None else BaseColumn([which, rest.value], rest.path),
            )
    return [which, value]


def _whole(value: Meaning) -> Value:
    match value:
        case StructFields(fields, rest):
            return ["struct", [[name, _whole(each)] for name, each in sorted(fields.items())], _whole(rest)]
        case BaseColumn(inner, path):
            return ["field", inner, list(path)] if path else inner
    return value


@singledispatch
def _meaning(expr: Expr, columns: ColumnMeanings) -> Value:
    raise TypeError(f"no such expression: {expr!r}")


@_meaning.register
def _(expr: ColumnRef, columns: ColumnMeanings) -> Value:
    value, path = _column(expr.name, columns), list(expr.path)
    while isinstance(value, StructFields):
        if path and path[0] in value.fields:
            value = value.fields[str(path.pop(0))]
        elif path and value.rest is not None:
            value = value.rest
        else:
            value = _whole(value)
    if isinstance(value, BaseColumn):
        return ["field", value.value, [*value.path, *path], describe(expr.type)]
    return ["field", value, path, describe(expr.type)] if path else value


@_meaning.register
def _(expr: Const, columns: ColumnMeanings) -> Value:
    return ["constant", expr.value, describe(expr.type)]


@_meaning.register
def _(expr: OperatorCall, columns: ColumnMeanings) -> Value:
    args = [_meaning(arg, columns) for arg in expr.args]
    return [expr.op, *(in_order(args) if expr.op in ("AND", "OR") else args)]


@_meaning.register
def _(expr: FunctionCall, columns: ColumnMeanings) -> Value:
    args = [["header", a.name] if isinstance(a, HeaderValue) else _meaning(a, columns) for a in expr.written_args]
    return ["call", expr.function, args, describe(expr.type)]


@_meaning.register
def _(expr: Convert, columns: ColumnMeanings) -> Value:
    return ["cast", _meaning(expr.operand, columns), describe(expr.type)]


@_meaning.register
def _(expr: CaseWhen, columns: ColumnMeanings) -> Value:
    branches = [[_meaning(when, columns), _meaning(then, columns)] for when, then in expr.branches]
    return ["case", branches, _meaning(expr.otherwise, columns)]


@_meaning.register
def _(expr: StructValue, columns: ColumnMeanings) -> Value:
    return ["record", [[name, _meaning(value, columns)] for name, value in expr.fields]]


@_meaning.register
def _(expr: HeaderValue, columns: ColumnMeanings) -> Value:
    return ["cast", ["header", expr.name], describe(expr.type)]


@_meaning.register
def _(expr: AggregateCall, columns: ColumnMeanings) -> Value:
    arg = None if expr.arg is None else _meaning(expr.arg, columns)
    return ["aggregate", expr.function, arg, expr.limit, describe(expr.type)]
