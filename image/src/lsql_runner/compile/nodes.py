"""Plan nodes to relations: one function for each type of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.bound import Fields, Part, Unchanged, UnnamedValue, extended_structs
from lsql_runner.bind.expr import ColumnRef, Expr, StructValue
from lsql_runner.bind.scope import lateral_column
from lsql_runner.compile.attempts import ORIGIN, Origin, rules
from lsql_runner.compile.codecs.table import check_unread, extend
from lsql_runner.compile.conditions import has_failed, where
from lsql_runner.compile.dead_letters import failed_group_filter, failed_row_filter, group_rules
from lsql_runner.compile.event_time import require_since_1970
from lsql_runner.compile.expressions import column
from lsql_runner.compile.groups import compile_stream_aggregate
from lsql_runner.compile.identity import RowIdentity
from lsql_runner.compile.joins import compile_join, residual
from lsql_runner.compile.relation import FailedRowHandler, Relation, Undecoded, Upsert
from lsql_runner.compile.schema import spark_type
from lsql_runner.compile.table_groups import compile_having, compile_table_aggregate
from lsql_runner.compile.tables import key_row_id, packed_key
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.plan.nodes import Aggregate, Filter, Having, Join, PlanNode, Project, ReadTopic, Unnest, passed_columns
from lsql_runner.plan.queries import Write, WriteSink
from lsql_runner.plan.tree import node_exprs
from lsql_runner.plan.usage import parts_read
from lsql_runner.types import Map, Struct

Reader = Callable[[TopicSchema], DataFrame]
"""Returns the records of a topic with the columns of TOPIC_SOURCE: key, value (binary), topic, partition, offset,
timestamp (LONG, milliseconds since 1970 UTC; -1 without one), headers. They are a stream, a range of offsets, or rows
in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The records of the topics that an INSERT reads, and how the errors of its rows are handled."""

    read: Reader
    parts_read: Mapping[str, frozenset[str]] | None = None
    """By topic: which of `key` and `value` the INSERT decodes. The others are checked; None checks nothing."""
    record_rules: str | None = None
    """The handled errors of records, a result of `attempts.rules`; None if they all stop the query."""
    handle_failed_records: FailedRowHandler | None = None
    group_rules: str | None = None
    """The handled errors of groups and joined pairs; None if they all stop the query."""
    handle_failed_groups: FailedRowHandler | None = None
    keeps_late: bool = False
    """Whether operators return late records in place of dropping them, where they can."""
    run: str = ""
    """The run id of the checkpoint of the query; empty without a checkpoint."""

    def after_operator(self, relation: Relation) -> Relation:
        """The result of a stateful operator: its rows are groups or joined pairs, no longer records."""
        if self.group_rules is None:
            return relation
        return replace(
            relation, origin=Origin(record={}, rules=self.group_rules), handle_failed_rows=self.handle_failed_groups
        )


def source_of(
    write: Write, read: Reader, handle_failed_records: FailedRowHandler | None = None, *, run: str = ""
) -> Source:
    """The source of an INSERT, with its error policies.

    Args:
        handle_failed_records: called before a stateful operator reads the records; `failed_row_filter` by default.
        run: the run id of the checkpoint of the query.
    """
    source = Source(read=read, parts_read=parts_read(write), run=run)
    if isinstance(write, WriteSink):
        return source
    policies = write.errors
    source = replace(source, keeps_late=policies.late == "dlq")
    if not write.stateful:
        record_rules = rules(read=policies.read != "fail", write=policies.write != "fail")
        return replace(source, record_rules=record_rules if policies.handles_errors else None)
    if policies.read != "fail":
        source = replace(
            source,
            record_rules=rules(read=True, write=False),
            handle_failed_records=handle_failed_records or failed_row_filter(write),
        )
    if policies.write != "fail":
        source = replace(source, group_rules=group_rules(), handle_failed_groups=failed_group_filter(write))
    return source


@singledispatch
def compile_node(node: PlanNode, source: Source) -> Relation:
    """The rows of a node."""
    raise TypeError(f"no such node: {type(node).__name__}")


@compile_node.register
def _(node: ReadTopic, source: Source) -> Relation:
    return _check_unread_parts(_records(node, source), node, source)


def _check_unread_parts(relation: Relation, node: ReadTopic, source: Source) -> Relation:
    """Records of a topic. A record fails if its key or value is malformed, although the INSERT does not read it."""
    if source.parts_read is None:
        return relation
    for name, part in relation.undecoded.items():
        is_read = name in source.parts_read[node.schema.topic]
        if not is_read and (is_valid := check_unread(part.raw, part.serde)) is not None:
            relation = where(relation, is_valid, of_table=False)
    return relation


def _records(node: ReadTopic, source: Source) -> Relation:
    frame = source.read(node.schema)
    decoded = {
        "raw_key": F.col("key"),
        "raw_value": F.col("value"),
        "topic": F.col("topic"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "ts": F.col("timestamp"),
        "headers": F.col("headers"),
    }
    undecoded = {
        "key": Undecoded(F.col("key"), node.schema.key),
        "value": Undecoded(F.col("value"), node.schema.value),
    }
    upsert = Upsert(key_row_id(undecoded["key"]), F.col("value").isNotNull(), node.schema.topic)
    record = {name: F.col(name) for name in ORIGIN if name != "ts"} | {"ts": decoded["ts"]}
    origin = None if source.record_rules is None else Origin(record=record, rules=source.record_rules)
    return Relation(
        frame=frame,
        decoded=decoded,
        undecoded=undecoded,
        identity=RowIdentity((F.col("partition"), F.col("offset")), of_record=True, run=source.run),
        upsert=upsert,
        origin=origin,
        handle_failed_rows=source.handle_failed_records,
    )


@compile_node.register
def _(node: Filter, source: Source) -> Relation:
    if isinstance(node.input, ReadTopic):
        # A record that the condition excludes is not checked, as one that is decoded above the condition.
        return _check_unread_parts(_filter(_records(node.input, source), node), node.input, source)
    return _filter(compile_node(node.input, source), node)


def _filter(below: Relation, node: Filter) -> Relation:
    return where(below, column(node.condition, below.columns_for([node.condition])), node.of_table)


@compile_node.register
def _(node: Unnest, source: Source) -> Relation:
    below = compile_node(node.input, source)
    array = column(node.array, below.columns_for([node.array]))
    if below.origin is not None:
        below, array = below.attempt(array)
        # One element keeps the row of a failed record: posexplode drops rows without elements.
        one_null = F.array(F.lit(None)).cast(spark_type(node.array.type))
        array = F.when(has_failed(below), one_null).otherwise(array)
    return below.unnested(F.posexplode(array), (node.position, lateral_column(node.alias)))


@compile_node.register
def _(node: Join, source: Source) -> Relation:
    sides = (node.left, node.right)
    left, right = (compile_node(side.input, source) for side in sides)
    joined = source.after_operator(compile_join(node, left, right))
    condition = residual(node, joined)
    return joined if condition is None else where(joined, condition, node.is_table)


@compile_node.register
def _(node: Having, source: Source) -> Relation:
    return compile_having(node, compile_node(node.input, source))


@compile_node.register
def _(node: Aggregate, source: Source) -> Relation:
    below = compile_node(node.input, source)
    handles_errors = source.group_rules is not None
    if node.of_table:
        return source.after_operator(compile_table_aggregate(node, below, handles_errors))
    return source.after_operator(compile_stream_aggregate(node, below, handles_errors, source.keeps_late))


@compile_node.register
def _(node: Project, source: Source) -> Relation:
    return compile_project(node, compile_node(node.input, source))


def compile_project(node: Project, below: Relation) -> Relation:
    """The rows of a projection over the rows of its input."""
    columns = below.columns_for(node_exprs(node))
    if node.keeps_tombstones:
        below, columns = _decode_once(below, columns)
    passed: dict[str, Column] = {name: below.decoded[name] for name in passed_columns(below.decoded)}
    decoded = {**passed, "ts": _time(node.ts, columns)}
    result = Relation(
        frame=below.frame,
        decoded=decoded,
        undecoded={},
        identity=below.identity,
        upsert=below.upsert if node.of_table else None,
        origin=below.origin,
        late=below.late,
        handle_failed_rows=below.handle_failed_rows,
    )
    for name, part in (("key", node.key), ("value", node.value)):
        result = _add_part(result, name, part, below, columns, node)
    if node.keeps_tombstones:
        has_value = below.has_value()
        assert has_value is not None
        result = result.with_column("value", F.when(has_value, result.decoded["value"]))
    if node.as_table:
        return replace(result, upsert=_newest(result, below))
    return _add_tombstones(result) if node.of_table else result


def _time(ts: Expr, columns: Mapping[str, Column]) -> Column:
    """The timestamp of a row. Only a record's timestamp may be -1, which means none."""
    time = column(ts, columns)
    return time if isinstance(ts, ColumnRef) and ts.name == "ts" else require_since_1970(time)


def _decode_once(below: Relation, columns: dict[str, Column]) -> tuple[Relation, dict[str, Column]]:
    """The same rows, with the value that expressions read as a column of the frame.

    In a CASE, Spark would decode it once for each field: it shares no subexpressions of conditional branches.
    """
    if "value" not in columns:
        return below, columns
    if below.origin is not None:
        below, value = below.attempt(columns["value"])
        return below, {**columns, "value": value}
    name = f"value_{len(below.frame.columns)}"
    frame = below.frame.select("*", columns["value"].alias(name))
    return replace(below, frame=frame), {**columns, "value": F.col(name)}


def _newest(result: Relation, below: Relation) -> Upsert:
    """The effect of the records of a stream on the table of the newest record of each key. A tombstone deletes its
    row."""
    part = result.undecoded.get("key")
    if part is not None:
        row_id = key_row_id(part)
    else:
        key = result.decoded["key"]
        row_id = F.when(key.isNotNull(), packed_key([key]))
    if below.upsert is None:
        return Upsert(row_id, F.lit(True))
    return replace(below.upsert, row_id=row_id)


def _add_tombstones(result: Relation) -> Relation:
    """The rows of a table, where a deleted row is a tombstone: it has a key and no value."""
    assert result.upsert is not None
    present = result.upsert.present
    part = result.undecoded.get("value")
    if part is not None:
        return result.with_undecoded("value", replace(part, raw=F.when(present, part.raw)))
    return result.with_column("value", F.when(present, result.decoded["value"]))


def _add_part(
    result: Relation, name: str, part: Part, below: Relation, columns: Mapping[str, Column], node: Project
) -> Relation:
    """The relation with its key or value: as the unchanged or extended bytes if possible, else as a typed column."""
    raw = below.undecoded.get(name)
    kind = node.columns[name]
    match part:
        case Unchanged() if raw is not None:
            return result.with_undecoded(name, raw)
        case Unchanged():
            return result.with_column(name, below.decoded[name])
        case UnnamedValue(expr):
            return result.with_column(name, column(expr, columns))
        case Fields(fields, extends):
            new = StructValue(fields)
            if not extends:
                return result.with_column(name, column(new, columns))
            source = node.input.columns[name]
            assert isinstance(source, Struct)
            extended = None
            if raw is not None:
                inside = extended_structs(source, fields)
                extended = extend(raw.raw, raw.serde, column(new, columns), new.type, inside)
            if extended is not None:
                return result.with_undecoded(name, Undecoded(extended[0], replace(extended[1], type=kind)))
            whole = below.whole(name)
            # In a CASE, Spark would decode the struct once for each field: it shares no subexpressions of conditional
            # branches.
            merged = F.array(_merge_struct(whole, source, fields, columns))
            return result.with_column(name, F.get(merged, F.when(whole.isNotNull(), F.lit(0))))


def _merge_map(
    whole: Column, kind: Map, entries: tuple[tuple[str, Expr], ...], columns: Mapping[str, Column]
) -> Column:
    """A map of type `kind` with entries added or replaced; NULL has only these."""
    names = [name for name, _ in entries]
    values = [column(value, columns) for _, value in entries]
    kept = F.map_filter(whole, lambda key, _: ~key.isin(names))
    added = F.map_from_arrays(F.array(*map(F.lit, names)), F.array(*values)).cast(spark_type(kind))
    return F.coalesce(F.map_concat(kept, added), added)


def _merge_struct(
    whole: Column, kind: Struct, fields: tuple[tuple[str, Expr], ...], columns: Mapping[str, Column]
) -> Column:
    """A struct of type `kind` with fields added or replaced; the fields of NULL are NULL."""
    new = {}
    for name, expr in fields:
        was = kind.field(name)
        match expr, None if was is None else was.type:
            case StructValue(inner), Struct() as inside:
                new[name] = _merge_struct(whole.getField(name), inside, inner, columns)
            case StructValue(inner), Map() as inside:
                new[name] = _merge_map(whole.getField(name), inside, inner, columns)
            case _:
                new[name] = column(expr, columns)
    kept = {name: whole.getField(name) for name in kind.names if name not in new}
    return F.struct(*(value.alias(name) for name, value in (kept | new).items()))
