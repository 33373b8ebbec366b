"""Aggregates over streams, with or without windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.bind.expr import AggregateCall
from lsql_runner.bind.grouping import group_column
from lsql_runner.compile.aggregates import aggregate_column, can_overflow, exact_sum, exact_sum_result
from lsql_runner.compile.codecs.table import canonical, canonical_serde
from lsql_runner.compile.conditions import with_value
from lsql_runner.compile.event_time import (
    EVENT_TIME,
    READ_FROM,
    WINDOW_END,
    Times,
    late_watermark,
    require_since_1970,
    require_window_range,
    window_ends,
    with_watermark,
    with_window_end,
)
from lsql_runner.compile.expressions import column
from lsql_runner.compile.identity import RowIdentity
from lsql_runner.compile.late_rows import LATE_FOR, LATE_RECORD, interval, source_record
from lsql_runner.compile.metric_names import LATE_METRIC
from lsql_runner.compile.packed import pack, unpack
from lsql_runner.compile.relation import LateRecord, Relation, Undecoded, Upsert
from lsql_runner.compile.schema import LONG, STRING, spark_type
from lsql_runner.compile.tables import order_columns, packed_key
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import SESSIONS
from lsql_runner.plan.nodes import Aggregate, key_serde
from lsql_runner.plan.tree import node_exprs


def compile_stream_aggregate(
    node: Aggregate, below: Relation, handles_errors: bool = False, keeps_late: bool = False
) -> Relation:
    """One row for each group, or group and window, that a batch changed.

    Args:
        handles_errors: whether errors of a group are handled after this operator; then the operator itself never fails.
        keeps_late: whether there is a row for each record that is late for a session.
    """
    if node.is_session:
        return _sessions(node, below, handles_errors, keeps_late)
    rows, keys = aggregate_input(node, below)
    aggregates = _aggregates(node, handles_errors)
    groups = [F.col(f"`{name}`") for name in keys]
    if node.window is not None:
        groups.append(F.col(WINDOW_END))
    # Packed, so that the state has all results, in this order. Spark drops results that no later step reads and orders
    # the others as they are read: after a change of the SELECT list, it would read the state in another layout.
    results = {
        "ts": F.max("ts"),
        **{slot: aggregate.value.cast(aggregate.kind) for slot, aggregate in aggregates.items()},
    }
    kinds = {"ts": LONG, **{slot: aggregate.kind for slot, aggregate in aggregates.items()}}
    grouped = rows.groupBy(*groups).agg(pack(results).alias("stored"))
    result = unpack(F.col("stored"), spark.StructType([spark.StructField(*kind) for kind in kinds.items()]))
    decoded = {name: F.col(f"`{name}`") for name in keys} | {"ts": result["ts"]}
    decoded |= {slot: aggregate.result(result[slot]) for slot, aggregate in aggregates.items()}
    if node.window is not None:
        decoded["window_start"] = F.unix_millis(F.col(WINDOW_END)) - F.lit(node.window.size_ms)
    group = [decoded[name] for name in (*keys, *(["window_start"] if node.window is not None else []))]
    row_id = packed_key(group)
    return Relation(
        frame=grouped,
        decoded=decoded,
        undecoded=raw_key_part(node, F.col("raw_key")),
        identity=RowIdentity((row_id,)),
        upsert=Upsert(row_id, F.lit(True)),
    )


def aggregate_input(
    node: Aggregate, below: Relation, with_record: bool = False
) -> tuple[DataFrame, dict[str, spark.DataType]]:
    """The input rows of an aggregate, and its group columns with their types. Records without a value are left out.

    Columns: the group columns, `arg_<name>` for the argument of each aggregate, `ts`, and `node.order_columns` (LONG);
    with a window EVENT_TIME, which has a watermark. A row occurs once for each of its windows, with WINDOW_END; with a
    session window it occurs once, with `at_partition` and `at_offset`.

    Args:
        with_record: whether there is a column LATE_RECORD with the record.
    """
    rows, types = _rows_before_watermark(node, below, with_record)
    if node.window is None:
        return rows, types
    times = Times(column=EVENT_TIME, input_name=node.store, clock=node.clock)
    rows = with_watermark(rows, times, node.grace_ms, node.input)
    return rows if node.is_session else with_window_end(rows, node.window, node.grace_ms), types


def records_late_for_windows(node: Aggregate, below: Relation) -> DataFrame:
    """The records of a batch that are late for one of their windows: LATE_RECORD and LATE_FOR. Not for sessions."""
    assert node.window is not None
    rows, _ = _rows_before_watermark(node, below, with_record=True)
    size = F.lit(node.window.size_ms)
    ended = F.filter(window_ends(F.col("ts"), node.window), lambda end: end <= late_watermark())
    intervals = F.transform(ended, lambda end: interval(end - size, end))
    return rows.where(F.size(ended) > 0).select(LATE_RECORD, F.array_join(intervals, ", ").alias(LATE_FOR))


def _rows_before_watermark(
    node: Aggregate, below: Relation, with_record: bool
) -> tuple[DataFrame, dict[str, spark.DataType]]:
    """As `aggregate_input`, but without a watermark and WINDOW_END."""
    below = with_value(below)
    columns = below.columns_for(node_exprs(node))
    time = column(node.event_time, columns)
    time = F.coalesce(time, F.raise_error(F.lit("the event time is null")).cast(LONG))
    time = require_since_1970(time) if node.window is None else require_window_range(time)
    keys, types = group_columns(node, below, columns)
    arguments = {f"arg_{slot}": column(call.arg, columns) for slot, call in node.calls if call.arg is not None}
    place = {name: below.decoded[name].cast(LONG) for name in node.order_columns}
    selected = {**keys, **arguments, **place, "ts": time}
    if node.window is not None:
        selected[EVENT_TIME] = F.timestamp_millis(time)
        _, partition, offset = order_columns(below)
        selected[READ_FROM] = partition
        if node.is_session:
            selected |= {"at_partition": partition, "at_offset": offset}
    if with_record:
        selected[LATE_RECORD] = source_record()
    return below.stateful_input(*(value.alias(name) for name, value in selected.items())), types


def group_columns(
    node: Aggregate, below: Relation, columns: Mapping[str, Column]
) -> tuple[dict[str, Column], dict[str, spark.DataType]]:
    """The group columns over the columns of the input: by name, the value, and its type."""
    types = {name: spark_type(kind) for name, kind in node.groups.items()}
    if node.keys:
        return {group_column(name): column(expr, columns) for name, expr in node.keys}, types
    if "raw_key" in types:
        raw = columns["raw_key"]
        key = canonical(raw, key_serde(node))
        return {"raw_key": raw if key is None else key}, types
    return {"key": below.whole("key")}, types


@dataclass(frozen=True, slots=True)
class _Aggregate:
    """An aggregate over the rows of `aggregate_input`."""

    call: AggregateCall
    value: Column
    kind: spark.DataType
    """The type of `value`."""
    is_exact: bool
    """Whether `value` is the text of an exact sum."""

    def result(self, stored: Column) -> Column:
        """The result in the type of the language, from the value that the operator stored."""
        return exact_sum_result(self.call, stored) if self.is_exact else stored


def _aggregates(node: Aggregate, handles_errors: bool) -> dict[str, _Aggregate]:
    """The aggregates by the names of their columns."""
    order = [F.col("ts"), *(F.col(name) for name in node.order_columns)]
    aggregates = {}
    for slot, call in node.calls:
        value = F.lit(1) if call.arg is None else F.col(f"arg_{slot}")
        if handles_errors and can_overflow(call, of_table=False):
            aggregates[slot] = _Aggregate(call, exact_sum(call, value), STRING, is_exact=True)
        else:
            aggregates[slot] = _Aggregate(
                call, aggregate_column(call, value, order), spark_type(call.type), is_exact=False
            )
    return aggregates


def raw_key_part(node: Aggregate, raw: Column) -> dict[str, Undecoded]:
    """The encoded key, if the records are grouped by the bytes of their keys, which are in `raw`; else empty."""
    return {"key": Undecoded(raw, canonical_serde(key_serde(node)))} if "raw_key" in node.groups else {}


def _sessions(node: Aggregate, below: Relation, handles_errors: bool, keeps_late: bool) -> Relation:
    """Session windows by our own operator: Spark's does not emit extended sessions, nor remove their old bounds."""
    assert node.window is not None
    rows, keys = aggregate_input(node, below, with_record=keeps_late)
    arguments = [name for name in rows.columns if name.startswith("arg_") or name in node.order_columns]
    aggregates = _aggregates(node, handles_errors)
    calls = [aggregate.value.alias(slot) for slot, aggregate in aggregates.items()]
    reduced = rows.select(F.col("ts"), *(F.col(name) for name in arguments)).groupBy().agg(*calls)
    records = rows.select(
        pack({name: F.col(f"`{name}`") for name in keys}).alias("id"),
        "ts",
        F.col("at_partition").alias("partition"),
        F.col("at_offset").alias("offset"),
        pack({name: F.col(name) for name in ("ts", *arguments)}).alias("row"),
        *([pack({LATE_RECORD: F.col(LATE_RECORD)}).alias(LATE_RECORD)] if keeps_late else []),
    )
    frame = _session_operator(records, reduced, 1 + len(arguments), node)
    if not keeps_late:
        frame = frame.where(~F.col("is_late"))
    key = spark.StructType([spark.StructField(name, kind) for name, kind in keys.items()])
    results = unpack(F.col("result"), reduced.schema)
    frame = frame.select(
        "id",
        "window_start",
        "window_end",
        "ts",
        "result",
        "is_unchanged",
        LATE_RECORD,
        unpack(F.col("id"), key).alias("key_of"),
        results.alias("r"),
    )
    late = None
    if keeps_late:
        record = unpack(F.col(LATE_RECORD), spark.StructType([rows.schema[LATE_RECORD]]))[LATE_RECORD]
        late = LateRecord(record, interval(F.col("ts"), F.col("ts") + F.lit(node.window.size_ms)))
    decoded = {name: F.col(f"key_of.`{name}`") for name in keys}
    decoded |= {
        slot: aggregate.result(F.col(f"r.{slot}").cast(aggregate.kind)) for slot, aggregate in aggregates.items()
    }
    decoded |= {name: F.col(name) for name in ("ts", "window_start", "window_end")}
    row_id = packed_key([F.col("id"), F.col("window_start"), F.col("window_end")])
    present = F.col("result").isNotNull()
    return Relation(
        frame=frame,
        decoded=decoded,
        undecoded=raw_key_part(node, F.col("key_of.raw_key")),
        identity=RowIdentity((row_id,)),
        upsert=Upsert(row_id, present, unchanged=F.col("is_unchanged")),
        late=late,
    )


def _session_operator(records: DataFrame, reduced: DataFrame, arguments: int, node: Aggregate) -> DataFrame:
    assert node.window is not None
    sessions = java_class(SESSIONS).of(records._jdf, reduced._jdf, arguments, node.window.size_ms, node.final)
    frame = DataFrame(sessions, records.sparkSession)
    late = F.count(F.when(F.col("is_late"), F.lit(1))).alias("records")
    return frame.observe(f"{LATE_METRIC}{node.store}", late)
