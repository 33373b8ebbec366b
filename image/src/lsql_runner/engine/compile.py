"""Plan to DataFrames: the fourth stage of the line. One function for each kind of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.bound import Fields, Part, Unchanged, UnnamedValue
from lsql_runner.bind.scope import lateral_column
from lsql_runner.engine.attempts import ORIGIN, Origin, limit_size, rules
from lsql_runner.engine.codecs.spec import SchemaOutput
from lsql_runner.engine.codecs.table import Window, encode, extend, merged_struct, replace_schema_id, windowed_key
from lsql_runner.engine.conditions import failed, where
from lsql_runner.engine.dead_letters import (
    Outlet,
    collect_dead_letters,
    counted,
    failed_group_filter,
    failed_row_filter,
    origin_of_row,
    outcome,
    rules_of_rows,
)
from lsql_runner.engine.event_time import since_1970
from lsql_runner.engine.expressions import column
from lsql_runner.engine.groups import compile_stream_aggregate
from lsql_runner.engine.joins import compile_join, residual
from lsql_runner.engine.relation import FailedRowFilter, Relation, Undecoded, Upsert
from lsql_runner.engine.schema import BINARY, HEADERS, spark_type
from lsql_runner.engine.table_groups import compile_having, compile_table_aggregate
from lsql_runner.engine.tables import with_keys
from lsql_runner.formats.catalog import Format, TopicSchema
from lsql_runner.formats.table import row_of
from lsql_runner.plan.nodes import Aggregate, Filter, Having, Join, PlanNode, Project, ReadTopic, Unnest, passed_through
from lsql_runner.plan.queries import Query, Write, WriteSink, WriteTopic
from lsql_runner.plan.usage import node_exprs
from lsql_runner.types import DataType, Struct

Reader = Callable[[TopicSchema], DataFrame]
"""Gives the records of a topic with the columns of Spark's Kafka source: key, value (binary), topic,
partition, offset, timestamp, headers. A stream, a range of offsets, or rows in memory."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a sink reads, and how faults of its records are caught."""

    read: Reader
    rules: str | None = None
    """What `attempts.rules` gave; None where a fault stops the query."""
    drop_failed_rows: FailedRowFilter | None = None
    rules_of_rows: str | None = None
    """The same for what operators make of the records, groups and pairs."""
    drop_failed_groups: FailedRowFilter | None = None

    @property
    def catches_rows(self) -> bool:
        return self.rules_of_rows is not None

    def above(self, relation: Relation) -> Relation:
        """What an operator gives, whose rows are no records any more."""
        if self.rules_of_rows is None:
            return relation
        return replace(relation, origin=Origin({}, self.rules_of_rows), drop_failed_rows=self.drop_failed_groups)


def source_of(sink: Write, read: Reader, drop_failed_rows: FailedRowFilter | None = None) -> Source:
    """The source of a sink, which catches faults as its policies say.

    Args:
        drop_failed_rows: how failed records are removed before a stateful operator; by default as the policy says.
    """
    if isinstance(sink, WriteSink):
        return Source(read)
    if not sink.stateful:
        by = rules(read=sink.errors.read != "fail", write=sink.errors.write != "fail")
        return Source(read, by if sink.errors.continues_on_error else None, None)
    found = Source(read)
    if sink.errors.read != "fail":
        found = replace(
            found, rules=rules(read=True, write=False), drop_failed_rows=drop_failed_rows or failed_row_filter(sink)
        )
    if sink.errors.write != "fail":
        found = replace(found, rules_of_rows=rules_of_rows(), drop_failed_groups=failed_group_filter(sink))
    return found


def compile_query(query: Query, read: Reader, outlet: Outlet = Outlet()) -> DataFrame:  # noqa: B008, it is frozen
    """All records that a query writes to topics: `topic`, `key`, `value` (binary), `ts` (LONG ms), `headers`."""
    source = shared(read)
    frames = [
        compile_sink(sink, source, outlet, place)
        for place, sink in enumerate(query.sinks)
        if isinstance(sink, WriteTopic)
    ]
    for sink in query.dead_letters_of:
        frames += compile_letters(sink, source, outlet)
    result = frames[0]
    for frame in frames[1:]:
        result = result.unionByName(frame)
    return counted(result, query) if "fate" in result.columns else result


def compile_letters(sink: WriteTopic, read: Reader, outlet: Outlet) -> list[DataFrame]:
    """The dead letters of the records that a stateful sink leaves out, with their outcome."""
    found: list[DataFrame] = []
    source = source_of(sink, read, collect_dead_letters(sink, outlet, found))
    compile_node(sink.input, replace(source, rules_of_rows=None))
    return found


def shared(read: Reader) -> Reader:
    """The same DataFrame for the same topic: Spark then reads, numbers and tracks it as one source."""
    frames: dict[str, DataFrame] = {}

    def reader(schema: TopicSchema) -> DataFrame:
        if schema.topic not in frames:
            frames[schema.topic] = read(schema)
        return frames[schema.topic]

    return reader


def compile_sink(
    sink: WriteTopic,
    read: Reader,
    outlet: Outlet = Outlet(),  # noqa: B008, it is frozen
    place: int = 0,
) -> DataFrame:
    """The records of one INSERT, encoded; with their outcome where it catches faults.

    Args:
        place: of the INSERT in its query.
    """
    relation = compile_node(sink.input, source_of(sink, read))
    is_keyed = sink.topic in outlet.keyed
    if is_keyed and sink.input.of_table:
        relation = with_keys(relation, sink.topic, f"key-{place}")
    window = _window(relation)
    key_out, value_out = _output(sink.key_schema, sink.key_id), _output(sink.value_schema, sink.value_id)
    key = _encoded(relation, "key", sink.key_format, sink.input.key_type, window, key_out)
    if is_keyed and not sink.input.of_table:
        key = F.coalesce(key, _no_key(sink.topic))
    value = _encoded(relation, "value", sink.value_format, sink.input.value_type, None, value_out)
    headers = relation.ready.get("headers", F.lit(None).cast(HEADERS)).alias("headers")
    ts, key, value = since_1970(relation.ready["ts"]).alias("ts"), key.alias("key"), value.alias("value")
    if not sink.errors.continues_on_error or (sink.stateful and sink.errors.write == "fail"):
        return relation.frame.select(F.lit(sink.topic).alias("topic"), key, value, ts, headers)
    origin = relation.origin
    if origin is None or origin.of_operator:
        origin = origin_of_row(sink, relation, key)
    record = limit_size(
        F.struct(key, value, headers), outlet.size_limits.get(sink.topic) if sink.errors.write != "fail" else None
    )
    attempted, written = replace(relation, origin=origin).attempt(F.struct(ts, record.alias("record")))
    assert attempted.origin is not None
    return outcome(attempted.frame, sink.errors, attempted.origin, outlet, sink.topic, written)


def _no_key(topic: str) -> Column:
    """The error of a record that its topic would not take: a BINARY."""
    return F.raise_error(F.lit(f"a record without a key, and {topic} is compacted")).cast(BINARY)


def _output(schema: str | None, schema_id: int | None) -> SchemaOutput | None:
    return None if schema is None or schema_id is None else SchemaOutput(schema, schema_id)


def _window(relation: Relation) -> Window | None:
    start = relation.ready.get("window_start")
    return None if start is None else Window(start, relation.ready.get("window_end"))


def _encoded(
    relation: Relation,
    name: str,
    form: Format,
    kind: DataType,
    window: Window | None,
    output: SchemaOutput | None,
) -> Column:
    """A part as bytes: those that came, where they are still right in the format that is asked for."""
    part = relation.undecoded.get(name)
    needs_id = output is not None and row_of(form).may_have_schema_id
    if part is not None and part.serde.has_schema_id != needs_id:
        part = _with_or_without_schema_id(part, output)
    if part is not None and part.serde.format == form:
        return part.raw
    if part is not None and window is not None and part.serde.format == form.bare:
        return windowed_key(part.raw, form, window)
    return encode(relation.whole(name), form, kind, window, output)


def _with_or_without_schema_id(part: Undecoded, output: SchemaOutput | None) -> Undecoded | None:
    """The part with its schema id removed or added; None for formats where that is no choice."""
    added = None if part.serde.has_schema_id else output
    raw = replace_schema_id(part.raw, part.serde, added)
    return None if raw is None else Undecoded(raw, replace(part.serde, has_schema_id=added is not None))


@singledispatch
def compile_node(node: PlanNode, source: Source) -> Relation:
    """The relation that a node gives."""
    raise TypeError(f"no such node: {type(node).__name__}")


@compile_node.register
def _(node: ReadTopic, source: Source) -> Relation:
    frame = source.read(node.schema)
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
    upsert = Upsert(F.col("key"), F.col("value").isNotNull(), node.schema.topic)
    record = {name: F.col(name) for name in ORIGIN if name != "ts"} | {"ts": ready["ts"]}
    origin = None if source.rules is None else Origin(record, source.rules)
    return Relation(frame, ready, undecoded, upsert, origin, source.drop_failed_rows)


@compile_node.register
def _(node: Filter, source: Source) -> Relation:
    below = compile_node(node.input, source)
    condition = column(node.condition, below.columns_for([node.condition]))
    return where(below, condition, node.of_table)


@compile_node.register
def _(node: Unnest, source: Source) -> Relation:
    below = compile_node(node.input, source)
    array = column(node.array, below.columns_for([node.array]))
    if below.origin is not None:
        below, array = below.attempt(array)
        lost = F.array(F.lit(None)).cast(spark_type(node.array.type))  # one element, or its row would be gone
        array = F.when(failed(below), lost).otherwise(array)
    return below.unnested(F.posexplode(array), (node.position, lateral_column(node.alias)))


@compile_node.register
def _(node: Join, source: Source) -> Relation:
    sides = (node.left, node.right)
    left, right = (compile_node(side.input, source) for side in sides)
    joined = source.above(compile_join(node, left, right))
    condition = residual(node, joined)
    return joined if condition is None else where(joined, condition, node.is_table)


@compile_node.register
def _(node: Having, source: Source) -> Relation:
    return compile_having(node, compile_node(node.input, source))


@compile_node.register
def _(node: Aggregate, source: Source) -> Relation:
    compiled = compile_table_aggregate if node.of_table else compile_stream_aggregate
    return source.above(compiled(node, compile_node(node.input, source), source.catches_rows))


@compile_node.register
def _(node: Project, source: Source) -> Relation:
    return compile_project(node, compile_node(node.input, source))


def compile_project(node: Project, below: Relation) -> Relation:
    """The relation that a projection makes of the one below it."""
    columns = below.columns_for(node_exprs(node))
    passed: dict[str, Column] = {name: below.ready[name] for name in passed_through(below.ready)}
    ready = {**passed, "ts": column(node.ts, columns)}
    result = Relation(below.frame, ready, {}, _upsert(node, below), below.origin, below.drop_failed_rows)
    for name, part in (("key", node.key), ("value", node.value)):
        result = _with_part(result, name, part, below, columns, node)
    return result if not node.of_table else _without_absent(result)


def _upsert(node: Project, below: Relation) -> Upsert | None:
    """What the projected rows are to a table: what those below are, or, of a stream's records, what their key says."""
    return below.upsert if node.of_table else None


def _without_absent(result: Relation) -> Relation:
    """A row that is not there has a key, and no value: a tombstone."""
    assert result.upsert is not None
    present = result.upsert.present
    part = result.undecoded.get("value")
    if part is not None:
        return result.with_undecoded("value", replace(part, raw=F.when(present, part.raw)))
    return result.with_ready("value", F.when(present, result.ready["value"]))


def _with_part(
    result: Relation, name: str, part: Part, below: Relation, columns: Mapping[str, Column], node: Project
) -> Relation:
    """The relation with its key or value: as bytes where they can stay bytes, else as a typed column."""
    raw = below.undecoded.get(name)
    kind = node.columns[name]
    match part:
        case Unchanged() if raw is not None:
            return result.with_undecoded(name, raw)
        case Unchanged():
            return result.with_ready(name, below.ready[name])
        case UnnamedValue(expr):
            return result.with_ready(name, column(expr, columns))
        case Fields(fields, extends):
            new = [(field, column(expr, columns)) for field, expr in fields]
            if not extends:
                return result.with_ready(name, F.struct(*(value.alias(field) for field, value in new)))
            extended = None if raw is None else extend(raw.raw, raw.serde, new)
            if extended is not None:
                return result.with_undecoded(name, Undecoded(extended[0], replace(extended[1], type=kind)))
            return result.with_ready(
                name, merged_struct(below.whole(name), _field_names(node.input.columns[name]), new)
            )


def _field_names(kind: DataType) -> list[str]:
    return list(kind.names) if isinstance(kind, Struct) else []
