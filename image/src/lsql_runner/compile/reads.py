"""How the state of an aggregate is read: its groups as rows for people, and the keys that they ask for as groups.

The state of a group is that of Spark's aggregation, or of an operator of ours: for sessions, and groups of a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.grouping import group_column
from lsql_runner.compile.codecs.table import canonical, canonical_serde, decode, encode
from lsql_runner.compile.nodes import Reader, compile_node, source_of
from lsql_runner.compile.packed import pack
from lsql_runner.compile.relation import Relation
from lsql_runner.compile.schema import LONG
from lsql_runner.formats.catalog import JSON_FORMAT, Serde
from lsql_runner.formats.table import row_of
from lsql_runner.plan.nodes import Aggregate, Having, PlanNode, Project, ReadTopic, key_serde
from lsql_runner.plan.queries import Write
from lsql_runner.plan.tree import nodes
from lsql_runner.types import DataType, Field, Struct


@dataclass(frozen=True, slots=True)
class GroupReads:
    """Frames over the records of a topic, which are not run: the JVM takes their expressions."""

    shown_key: DataFrame
    """`key` as it is shown, from `key` (BINARY, JSON)."""
    group: DataFrame | None
    """The columns of the group of `key`, and of the window that ends at `timestamp` (LONG, milliseconds since 1970
    UTC); None if the key's bytes in the state cannot be made from JSON."""
    places: DataFrame
    """The operator: `key` (BINARY, JSON), `window_start`, `window_end` (LONG, milliseconds since 1970 UTC; null without
    a window; for a session the times of its first and its last record)."""
    values: DataFrame
    """The operator: `value` (BINARY, JSON)."""


def group_reads(write: Write, node: Aggregate, read: Reader) -> GroupReads:
    """The reads of an aggregate, with values of the target; or of the aggregate itself, if there is another operator
    above it than HAVING."""
    source = replace(source_of(write, read), keeps_late=False)
    top = _projections(write.input, node)
    groups = compile_node(node, source)
    if top is None:
        relation = groups
        value = F.struct(*(relation.decoded[slot].alias(name) for slot, name in _names(node)))
        kind: DataType = Struct(tuple(Field(name, dict(node.calls)[slot].type) for slot, name in _names(node)))
    else:
        relation = compile_node(top, source)
        value, kind = relation.whole("value"), top.value_type
    start, end = _window(node, groups)
    records = read(next(each for each in nodes(node) if isinstance(each, ReadTopic)).schema)
    asked = decode(F.col("key"), Serde(JSON_FORMAT, key_type(node)), key_type(node))
    return GroupReads(
        shown_key=records.select(_json(asked, key_type(node)).alias("key")),
        group=_group(node, asked, records),
        places=groups.frame.select(
            _json(_shown_key(node, groups.decoded), key_type(node)).alias("key"),
            start.cast(LONG).alias("window_start"),
            end.cast(LONG).alias("window_end"),
        ),
        values=relation.frame.select(_json(value, kind).alias("value")),
    )


def key_type(node: Aggregate) -> DataType:
    """The type of a shown key: that of the only expression of GROUP BY, a struct of several, or the type of the record
    keys."""
    if not node.keys:
        return key_serde(node.input).type
    if len(node.keys) == 1:
        return node.keys[0][1].type
    return Struct(tuple(Field(name, expr.type) for name, expr in node.keys))


def _names(node: Aggregate) -> list[tuple[str, str]]:
    """The output columns of the aggregates, and their names for people."""
    return [(slot, f"{call.function.lower()}_{number}") for number, (slot, call) in enumerate(node.calls, start=1)]


def _projections(top: PlanNode, node: Aggregate) -> Project | None:
    """The projections above an aggregate, without HAVING; None if there is another operator between."""
    if not isinstance(top, Project):
        return None
    if top.input is node:
        return top
    if isinstance(top.input, Having) and top.input.input is node:
        return replace(top, input=node)
    below = _projections(top.input, node)
    return None if below is None else replace(top, input=below)


def _window(node: Aggregate, groups: Relation) -> tuple[Column, Column]:
    """The start and the end of the window of a group; null without one."""
    if node.window is None:
        return F.lit(None), F.lit(None)
    start = groups.decoded["window_start"]
    return start, groups.decoded["window_end"] if node.is_session else start + F.lit(node.window.size_ms)


def _json(value: Column, kind: DataType) -> Column:
    return encode(value, JSON_FORMAT, kind)


def _shown_key(node: Aggregate, stored: Mapping[str, Column]) -> Column:
    """The key of a group, from its columns."""
    if "raw_key" in stored:
        serde = canonical_serde(key_serde(node.input))
        return decode(stored["raw_key"], serde, serde.type)
    if not node.keys:
        return stored["key"]
    columns = {name: stored[group_column(name)] for name, _ in node.keys}
    return next(iter(columns.values())) if len(columns) == 1 else F.struct(*(c.alias(n) for n, c in columns.items()))


def _group(node: Aggregate, asked: Column, records: DataFrame) -> DataFrame | None:
    """The columns of a group in the state, from its shown key."""
    if "raw_key" in node.groups:
        serde = canonical_serde(key_serde(node.input))
        if serde.format.is_windowed or not row_of(serde.format).is_written:
            return None
        raw = encode(asked, serde.format, serde.type)
        equal = canonical(raw, serde)
        columns = [raw if equal is None else equal]
    elif len(node.keys) > 1:
        columns = [asked[name] for name, _ in node.keys]
    else:
        columns = [asked]
    if node.of_table or node.is_session:
        columns = [pack(dict(zip(node.groups, columns, strict=True)))]
    elif node.window is not None:
        columns.append(F.timestamp_millis(F.col("timestamp")))
    return records.select(*(column.alias(f"c{number}") for number, column in enumerate(columns)))
