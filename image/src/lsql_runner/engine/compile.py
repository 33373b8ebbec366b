"""Plan to DataFrames: the fourth stage of the line. One function for each kind of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import singledispatch

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.bound import Fields, Part, Single, Whole
from lsql_runner.bind.catalog import JSON_FORMAT, Format, Serde, TopicSchema
from lsql_runner.bind.grouping import group_column
from lsql_runner.bind.scope import lateral_column
from lsql_runner.engine.expressions import column
from lsql_runner.engine.relation import Relation, Undecoded
from lsql_runner.engine.schema import HEADERS, LONG, spark_type
from lsql_runner.engine.serde import AvroOutput, encode, extend_json, merged_struct, windowed_key
from lsql_runner.plan.nodes import (
    Aggregate,
    Filter,
    Node,
    Project,
    Query,
    ReadTopic,
    Unnest,
    WriteTopic,
    key_serde,
)
from lsql_runner.plan.usage import node_exprs
from lsql_runner.types import DataType, Struct

Reader = Callable[[TopicSchema], DataFrame]
"""Gives the records of a topic with the columns of Spark's Kafka source: key, value (binary), topic,
partition, offset, timestamp, headers. A stream, a range of offsets, or rows in memory."""


def compile_query(query: Query, read: Reader) -> DataFrame:
    """All records that a query writes to topics: `topic`, `key`, `value` (binary), `ts` (LONG ms), `headers`."""
    source = shared(read)
    frames = [compile_sink(sink, source) for sink in query.sinks if isinstance(sink, WriteTopic)]
    result = frames[0]
    for frame in frames[1:]:
        result = result.unionByName(frame)
    return result


def shared(read: Reader) -> Reader:
    """The same DataFrame for the same topic: Spark then reads, numbers and tracks it as one source."""
    frames: dict[str, DataFrame] = {}

    def reader(schema: TopicSchema) -> DataFrame:
        if schema.topic not in frames:
            frames[schema.topic] = read(schema)
        return frames[schema.topic]

    return reader


def compile_sink(sink: WriteTopic, read: Reader) -> DataFrame:
    """The records of one INSERT, encoded."""
    relation = compile_node(sink.input, read)
    window = relation.ready.get("window_start")
    key_out, value_out = _avro(sink.key_schema, sink.key_id), _avro(sink.value_schema, sink.value_id)
    key = _encoded(relation, "key", sink.key_format, sink.input.key_type, window, key_out)
    value = _encoded(relation, "value", sink.value_format, sink.input.value_type, None, value_out)
    headers = relation.ready.get("headers")
    return relation.frame.select(
        F.lit(sink.topic).alias("topic"),
        key.alias("key"),
        value.alias("value"),
        relation.ready["ts"].alias("ts"),
        (F.lit(None).cast(HEADERS) if headers is None else headers).alias("headers"),
    )


def _avro(schema: str | None, schema_id: int | None) -> AvroOutput | None:
    return None if schema is None or schema_id is None else AvroOutput(schema, schema_id)


def _encoded(
    relation: Relation,
    name: str,
    form: Format,
    kind: DataType,
    window_start: Column | None,
    avro: AvroOutput | None,
) -> Column:
    """A part as bytes: those that came, where they are still right in the format that is asked for."""
    part = relation.undecoded.get(name)
    if part is not None and part.serde.format == form:
        return part.raw
    if part is not None and window_start is not None and part.serde.format.name == form.inner:
        return windowed_key(part.raw, window_start)
    return encode(relation.whole(name), form, kind, window_start, avro)


@singledispatch
def compile_node(node: Node, read: Reader) -> Relation:
    """The relation that a node gives."""
    raise TypeError(f"no such node: {type(node).__name__}")


@compile_node.register
def _(node: ReadTopic, read: Reader) -> Relation:
    frame = read(node.schema)
    ready = {
        "raw_key": F.col("key"),
        "raw_value": F.col("value"),
        "topic": F.col("topic"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "ts": F.unix_millis("timestamp"),
        "headers": F.col("headers"),
    }
    undecoded = {
        "key": Undecoded(F.col("key"), node.schema.key),
        "value": Undecoded(F.col("value"), node.schema.value),
    }
    return Relation(frame, ready, undecoded)


@compile_node.register
def _(node: Filter, read: Reader) -> Relation:
    below = compile_node(node.input, read)
    condition = column(node.condition, below.columns_for([node.condition]))
    return replace(below, frame=below.frame.where(condition))


@compile_node.register
def _(node: Unnest, read: Reader) -> Relation:
    below = compile_node(node.input, read)
    element = F.explode(column(node.array, below.columns_for([node.array])))
    return below.materialized({lateral_column(node.alias): element})


_FUNCTIONS: dict[str, Callable[[Column], Column]] = {
    "COUNT": F.count,
    "SUM": F.sum,
    "AVG": F.avg,
    "MIN": F.min,
    "MAX": F.max,
}


@compile_node.register
def _(node: Aggregate, read: Reader) -> Relation:
    rows, keys = aggregate_input(node, read)
    results = [F.max("ts").alias("ts")]
    for slot, function, arg, kind in node.calls:
        value = F.lit(1) if arg is None else F.col(f"arg_{slot}")
        results.append(_FUNCTIONS[function](value).cast(spark_type(kind)).alias(slot))
    groups = [F.col(f"`{name}`") for name in keys]
    if node.window is not None:
        groups.append(window_of(node))
    grouped = rows.groupBy(*groups).agg(*results)
    ready = {name: F.col(f"`{name}`") for name in (*keys, "ts", *(slot for slot, *_ in node.calls))}
    undecoded: dict[str, Undecoded] = {}
    if not node.keys:
        undecoded["key"] = Undecoded(F.col("raw_key"), key_serde(node))
    if node.window is not None:
        ready["window_start"] = F.unix_millis(F.col("window.start"))
    return Relation(grouped, ready, undecoded)


def window_of(node: Aggregate) -> Column:
    """The windows of a row, by its column `event_time`."""
    assert node.window is not None
    return F.window(
        "event_time", f"{node.window.size_ms} milliseconds", f"{node.window.advance_ms} milliseconds"
    ).alias("window")


def aggregate_input(node: Aggregate, read: Reader) -> tuple[DataFrame, list[str]]:
    """The rows that an aggregate takes in and the names of its group columns.

    Columns: one for each group, `arg_<slot>` for each argument, `ts`, and with a window `event_time` under a watermark.
    """
    below = compile_node(node.input, read)
    columns = below.columns_for(node_exprs(node))
    time = column(node.event_time, columns)
    time = F.coalesce(time, F.raise_error(F.lit("the event time is null")).cast(LONG))
    keys = {group_column(name): column(expr, columns) for name, expr in node.keys} or {"raw_key": columns["raw_key"]}
    arguments = {f"arg_{slot}": column(arg, columns) for slot, _, arg, _ in node.calls if arg is not None}
    selected = {**keys, **arguments, "ts": time}
    if node.window is not None:
        selected["event_time"] = F.timestamp_millis(time)
    rows = below.frame.select(*(value.alias(name) for name, value in selected.items()))
    if node.window is not None:
        rows = rows.withWatermark("event_time", f"{node.grace_ms} milliseconds")
    return rows, list(keys)


@compile_node.register
def _(node: Project, read: Reader) -> Relation:
    below = compile_node(node.input, read)
    columns = below.columns_for(node_exprs(node))
    passed: dict[str, Column] = {
        name: below.ready[name]
        for name in ("topic", "partition", "offset", "headers", "window_start")
        if name in below.ready
    }
    result = Relation(below.frame, {**passed, "ts": column(node.ts, columns)}, {})
    for name, part in (("key", node.key), ("value", node.value)):
        result = _with_part(result, name, part, below, columns, node)
    return result


def _with_part(
    result: Relation, name: str, part: Part, below: Relation, columns: Mapping[str, Column], node: Project
) -> Relation:
    """The relation with its key or value: as bytes where they can stay bytes, else as a typed column."""
    raw = below.undecoded.get(name)
    kind = node.columns[name]
    match part:
        case Whole() if raw is not None:
            return result.with_undecoded(name, raw)
        case Whole():
            return result.with_ready(name, below.ready[name])
        case Single(expr):
            return result.with_ready(name, column(expr, columns))
        case Fields(fields, extends):
            new = [(field, column(expr, columns)) for field, expr in fields]
            if not extends:
                return result.with_ready(name, F.struct(*(value.alias(field) for field, value in new)))
            if raw is not None and raw.serde.format == JSON_FORMAT:
                return result.with_undecoded(name, Undecoded(extend_json(raw.raw, new), Serde(raw.serde.format, kind)))
            return result.with_ready(
                name, merged_struct(below.whole(name), _field_names(node.input.columns[name]), new)
            )


def _field_names(kind: DataType) -> list[str]:
    return list(kind.names) if isinstance(kind, Struct) else []
