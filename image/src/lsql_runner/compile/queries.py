"""Queries to DataFrames of records: the nodes of an INSERT, the encoding of its records, and its dead letters."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.compile.attempts import accepted_time, limit_size
from lsql_runner.compile.codecs.spec import SchemaOutput
from lsql_runner.compile.codecs.table import Window, encode, replace_schema_id, windowed_key
from lsql_runner.compile.dead_letters import (
    ERROR_ACTION,
    OutputContext,
    count_failed_records,
    dead_letter_collector,
    ignore_failed_rows,
    insert_identity,
    late_dead_letters,
    origin_of_group,
    records_and_dead_letters,
    with_error_columns,
    with_late_records,
)
from lsql_runner.compile.groups import records_late_for_windows
from lsql_runner.compile.identity import of_dead_letter
from lsql_runner.compile.joins import records_late_for_join
from lsql_runner.compile.nodes import Reader, compile_node, source_of
from lsql_runner.compile.relation import Relation, Undecoded
from lsql_runner.compile.schema import BINARY, HEADERS
from lsql_runner.compile.tables import drop_rows_without_key
from lsql_runner.formats.catalog import Format, TopicSchema
from lsql_runner.formats.table import row_of
from lsql_runner.kafka.ports import TopicLimits
from lsql_runner.plan.late_records import compared_nodes
from lsql_runner.plan.nodes import Aggregate, Join
from lsql_runner.plan.queries import Query, WriteTopic
from lsql_runner.plan.tree import nodes
from lsql_runner.types import DataType


def compile_query(
    query: Query,
    read: Reader,
    context: OutputContext = OutputContext(),  # noqa: B008, it is frozen
) -> DataFrame:
    """All records that a query writes to topics: `topic`, `key`, `value` (binary), `ts` (LONG ms), `headers`."""
    result = compile_with_errors(query, read, context)
    return count_failed_records(result, query) if ERROR_ACTION in result.columns else result


def compile_with_errors(query: Query, read: Reader, context: OutputContext) -> DataFrame:
    """As `compile_query`, but failed records are not counted: if errors are handled, there are error columns."""
    source = share_frames(read)
    writes = [write for write in query.writes if isinstance(write, WriteTopic)]
    frames = [compile_write(write, source, context) for write in writes]
    late = [frame for write in writes for frame in _compile_late_records(write, source, context)]
    if late:
        frames = [*map(with_error_columns, frames), *late]
    for write in query.dead_letters_of:
        frames += _compile_dead_letters(write, source, context)
    result = frames[0]
    for frame in frames[1:]:
        result = result.unionByName(frame)
    return result


def _compile_dead_letters(write: WriteTopic, read: Reader, context: OutputContext) -> list[DataFrame]:
    """The dead letters of the records that are removed before a stateful operator, with error columns."""
    dead_letters: list[DataFrame] = []
    source = source_of(write, read, dead_letter_collector(write, context, dead_letters), run=context.run)
    compile_node(write.input, replace(source, group_rules=None))
    return dead_letters


def _compile_late_records(write: WriteTopic, read: Reader, context: OutputContext) -> list[DataFrame]:
    """The dead letters of records that are late for windows and joins of streams, with error columns.

    Spark drops late records within its operators. So the records of a batch are compared with its watermark a second
    time.
    """
    source = source_of(write, read, ignore_failed_rows, run=context.run)
    late: list[DataFrame] = []
    for node in compared_nodes(write):
        if isinstance(node, Join):
            late += records_late_for_join(node, *(compile_node(side.input, source) for side in (node.left, node.right)))
        else:
            late.append(records_late_for_windows(node, compile_node(node.input, source)))
    return [late_dead_letters(rows, write, context) for rows in late]


def share_frames(read: Reader) -> Reader:
    """A reader that returns the same DataFrame for the same topic, so that Spark treats it as one source."""
    frames: dict[str, DataFrame] = {}

    def reader(schema: TopicSchema) -> DataFrame:
        if schema.topic not in frames:
            frames[schema.topic] = read(schema)
        return frames[schema.topic]

    return reader


def compile_write(
    write: WriteTopic,
    read: Reader,
    context: OutputContext = OutputContext(),  # noqa: B008, it is frozen
) -> DataFrame:
    """The encoded records of one INSERT; with dead letters and error columns if errors are handled."""
    relation = compile_node(write.input, source_of(write, read, run=context.run))
    needs_key = write.topic in context.compacted
    if needs_key and write.input.of_table:
        relation = drop_rows_without_key(relation, write.topic, f"key-{write.insert}")
    window = _window(relation)
    key_schema, value_schema = _output(write.key_schema, write.key_id), _output(write.value_schema, write.value_id)
    key = _encode_part(relation, "key", write.key_format, write.input.key_type, window, key_schema)
    if needs_key and not write.input.of_table:
        key = F.coalesce(key, _missing_key_error(write.topic))
    value = _encode_part(relation, "value", write.value_format, write.input.value_type, None, value_schema)
    headers = relation.decoded.get("headers", F.lit(None).cast(HEADERS)).alias("headers")
    ts = accepted_time(relation.decoded["ts"], context.time_limits.get(write.topic, TopicLimits())).alias("ts")
    key, value = key.alias("key"), value.alias("value")
    identity = context.identities(relation.identity, insert_identity(write))
    keeps_errors = write.errors.handles_errors and not (write.stateful and write.errors.write == "fail")
    if not keeps_errors and relation.late is None:
        unchanged = None if relation.upsert is None or write.errors.late != "drop" else relation.upsert.unchanged
        marks = [] if unchanged is None or not identity else [unchanged.alias("unchanged")]
        return relation.frame.select(F.lit(write.topic).alias("topic"), key, value, ts, headers, *identity, *marks)
    origin = relation.origin
    if origin is None or origin.of_operator:
        origin = origin_of_group(write, relation, key)
    if relation.late is not None:
        origin = with_late_records(origin, relation.late)
    record = limit_size(
        F.struct(key, value, headers), context.size_limits.get(write.topic) if write.errors.write != "fail" else None
    )
    attempted, valid = replace(relation, origin=origin).attempt(F.struct(ts, record.alias("record")))
    assert attempted.origin is not None
    has_groups = any(isinstance(node, Aggregate) for node in nodes(write.input))
    of_failure = of_dead_letter(identity) if has_groups else identity
    return records_and_dead_letters(
        attempted.frame, write.errors, attempted.origin, context, write.topic, valid, identity, of_failure
    )


def _missing_key_error(topic: str) -> Column:
    """A BINARY that fails: a compacted topic accepts no record without a key."""
    return F.raise_error(F.lit(f"the record has no key, and the topic {topic} is compacted")).cast(BINARY)


def _output(schema: str | None, schema_id: int | None) -> SchemaOutput | None:
    return None if schema is None or schema_id is None else SchemaOutput(schema, schema_id)


def _window(relation: Relation) -> Window | None:
    start = relation.decoded.get("window_start")
    return None if start is None else Window(start, relation.decoded.get("window_end"))


def _encode_part(
    relation: Relation,
    name: str,
    form: Format,
    kind: DataType,
    window: Window | None,
    output: SchemaOutput | None,
) -> Column:
    """The bytes of a key or value: the source's bytes if they are valid in the target's format, else encoded."""
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
    """The part with its schema id removed or added; None for formats whose records always or never have one."""
    added = None if part.serde.has_schema_id else output
    raw = replace_schema_id(part.raw, part.serde, added)
    return None if raw is None else Undecoded(raw, replace(part.serde, has_schema_id=added is not None))
