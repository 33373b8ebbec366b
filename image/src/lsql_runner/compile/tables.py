"""Operators that store rows of tables: for aggregates over tables, HAVING, and joins. They run in the JVM.

Source: docs/decisions/0011-tables-and-joins.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.compile.codecs.table import canonical, decode, window_bounds
from lsql_runner.compile.metric_names import ERRORS_METRIC, failure_count_name
from lsql_runner.compile.packed import pack, unpack
from lsql_runner.compile.relation import Relation, Undecoded, Upsert
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import (
    CONSOLIDATE_CHANGES,
    LOOKUP,
    STREAM_JOIN,
    TABLE_GROUPS,
    TABLE_JOIN,
    TRACK_CHANGES,
)
from lsql_runner.types import Array, DataType, Struct

WITHOUT_KEY = "RECORD_WITHOUT_KEY"

PairId = Literal["JOIN_KEY", "LEFT_ROW", "RIGHT_ROW"]

_ROW = "row"


def track_changes(
    relation: Relation,
    store: str,
    row: Mapping[str, Column],
    condition: Column | None = None,
    *,
    every_change: bool = False,
    grouped: bool = False,
) -> DataFrame:
    """The changes of a table: columns `id`, `ts`, `partition`, `offset`, `before`, `after` (packed rows of `row`; null
    if the row does not exist).

    Args:
        store: the name of the state store.
        row: the columns of a row that are stored.
        condition: a BOOLEAN; a row for which it is not true does not exist.
        every_change: every upsert that changes a row is a change; else a row has one change in a batch.
        grouped: whether the changes are added to groups.
    """
    assert relation.upsert is not None
    present = relation.upsert.present
    if condition is not None:
        present &= F.coalesce(condition, F.lit(False))
    upserts = relation.stateful_input(
        relation.upsert.row_id.alias("id"),
        *order_columns(relation),
        F.when(present, pack(row)).alias(_ROW),
    )
    upserts = drop_rows_without_id(upserts, "id", relation.upsert, store)
    return _operator(upserts, TRACK_CHANGES, every_change, grouped)


def drop_rows_without_id(rows: DataFrame, column: str, upsert: Upsert, store: str) -> DataFrame:
    """The rows with a row id. Rows without one are records without a key; they are skipped and counted.

    Args:
        column: the name of the column with the row id of `upsert`.
        store: the name of the operator that reads the rows, unique in its query.
    """
    row_id = F.col(column)
    if upsert.topic is None:
        return rows.where(row_id.isNotNull())
    return _drop_null_keys(rows, row_id, upsert.topic, store)


def drop_rows_without_key(relation: Relation, topic: str, name: str) -> Relation:
    """The rows with a key, for a topic that accepts no others. Rows without a key are skipped and counted.

    Args:
        topic: the target topic.
        name: the name of the count, unique in its query.
    """
    part = relation.undecoded.get("key")
    key = relation.decoded["key"] if part is None else part.raw
    return replace(relation, frame=_drop_null_keys(relation.frame, key, topic, name))


def _drop_null_keys(rows: DataFrame, key: Column, topic: str, name: str) -> DataFrame:
    """The rows whose key is not null; the others are counted."""
    count = F.count(F.when(key.isNull(), F.lit(1))).alias(failure_count_name("skipped", WITHOUT_KEY, topic))
    return rows.observe(f"{ERRORS_METRIC}{name}", count).where(key.isNotNull())


def order_columns(relation: Relation) -> list[Column]:
    """The columns `ts`, `partition` and `offset`, by which records with the same key are in order. Rows of a stateful
    operator have no offset: they are in the order of their time."""
    ts = relation.decoded["ts"]
    return [
        ts.alias("ts"),
        relation.decoded.get("partition", F.lit(0)).alias("partition"),
        relation.decoded.get("offset", ts).alias("offset"),
    ]


def signed_rows(changes: DataFrame, schema: spark.StructType) -> DataFrame:
    """The input of the aggregates of `changed_groups`: `ts`, `sign` (1 for an added row, -1 for a removed row), and the
    columns of `schema`. This frame only defines the aggregates; it is not run."""
    rows = changes.select("ts", F.lit(1).alias("sign"), unpack(F.col("after"), schema).alias(_ROW))
    return rows.select("ts", "sign", *(F.col(f"{_ROW}.`{name}`").alias(name) for name in schema.names))


def changed_groups(changes: DataFrame, keys: spark.StructType, aggregated: DataFrame) -> DataFrame:
    """The changed groups: `id` has the packed columns of `keys`, `result` the columns of `aggregated`. A group without
    rows is returned once, in the batch that removed its last row, and is not stored.

    Args:
        keys: the group keys, which are the first columns of each row.
        aggregated: the aggregates over the result of `signed_rows`; the second one is the sum of the signs.
    """
    session = changes.sparkSession
    kind = session._jsparkSession.parseDataType(keys.json())
    return DataFrame(java_class(TABLE_GROUPS).of(changes._jdf, aggregated._jdf, kind), session)


def current_rows(changes: DataFrame, schema: spark.StructType) -> tuple[DataFrame, dict[str, Column], Column]:
    """The rows after their changes: a frame, its columns, and whether a row exists. A deleted row has its previous
    columns. `unchanged` of the frame is that of `Upsert`."""
    row = unpack(F.coalesce("after", "before"), schema)
    present, unchanged = F.col("after").isNotNull(), F.col("before").eqNullSafe(F.col("after"))
    frame = changes.select("id", "ts", row.alias(_ROW), present.alias("present"), unchanged.alias("unchanged"))
    return frame, {name: F.col(f"{_ROW}.`{name}`") for name in schema.names}, F.col("present")


def lookup_join(both: DataFrame, is_outer: bool) -> DataFrame:
    """Records of a stream joined with rows of a table: `id`, `partition`, `offset`; packed `streamed` (the record) and
    `found` (the row).

    Args:
        both: the records, and the upserts of the table, with the columns `id` (the join key), `ts`, `partition`,
            `offset`, `is_table`, `row_id` (null for a record), `row` (null for an upsert that deletes its row).
        is_outer: whether records without a row are returned, with null for `found`.
    """
    return _operator(both, LOOKUP, is_outer)


def join_streams(both: DataFrame, within_ms: int, delay_ms: int, keeps_left: bool, keeps_right: bool) -> DataFrame:
    """The pairs of rows of two streams with equal ids, whose times differ by at most `within_ms`: `left`, `right`; null
    for the missing row of a side.

    Args:
        both: the rows, with the columns `id` (the join key), `ts`, `partition`, `offset`, `is_left`, `row` (packed),
            and a column with a watermark, 1 ms later than `ts`.
        within_ms: in milliseconds.
        delay_ms: how far the watermark is behind the newest time, in milliseconds.
        keeps_left: whether rows of the left stream without a match are returned, when no later row can match them.
        keeps_right: the same for the right stream.
    """
    return _operator(both, STREAM_JOIN, within_ms, delay_ms, keeps_left, keeps_right)


def join_tables(both: DataFrame, keeps_left: bool, keeps_right: bool, pair_id: PairId) -> DataFrame:
    """The changes of joined pairs of two tables: `id`, which identifies the pair, `ts`; the packed rows before the
    change (`before_left`, `before_right`) and after it (`after_left`, `after_right`).

    Args:
        both: the upserts of both tables, with the columns `id` (the join key), `ts`, `partition`, `offset`, `is_left`,
            `row_id`, `row` (null for an upsert that deletes its row).
        keeps_left: whether rows of the left table without a match are returned.
        keeps_right: the same for the right table.
        pair_id: what identifies a pair: the join key, or the row id of a side, of the other one if it has no row.
    """
    return _operator(both, TABLE_JOIN, keeps_left, keeps_right, pair_id)


def consolidate(changes: DataFrame) -> DataFrame:
    """The changes with one change for each row, where several partitions may have changed it."""
    return _operator(changes, CONSOLIDATE_CHANGES)


def _operator(frame: DataFrame, name: str, *arguments: bool | int | str) -> DataFrame:
    session = frame.sparkSession
    return DataFrame(java_class(name).of(frame._jdf, *arguments), session)


def narrowed_column(value: Column, whole: DataType, wanted: DataType) -> Column:
    """A value with only the fields of a narrower type."""
    if whole == wanted:
        return value
    match whole, wanted:
        case Struct(), Struct(fields):
            inner = [
                narrowed_column(value.getField(f.name), _member(whole, f.name), f.type).alias(f.name) for f in fields
            ]
            return F.when(value.isNotNull(), F.struct(*inner))
        case Array(element), Array(narrow):
            return F.transform(value, lambda item: narrowed_column(item, element, narrow))
    raise TypeError(f"{wanted} is no part of {whole}")


def _member(kind: Struct, name: str) -> DataType:
    field = kind.field(name)
    assert field is not None
    return field.type


def key_row_id(key: Undecoded) -> Column:
    """The row id of a key (BINARY): equal for equal keys, even if their bytes differ; null for a null key."""
    row_id = canonical(key.raw, key.serde)
    if row_id is not None:
        return row_id
    form, value = key.serde.format, decode(key.raw, key.serde, key.serde.type)
    if not form.is_windowed:
        return F.when(key.raw.isNotNull(), packed_key([value]))
    window = window_bounds(key.raw, form)
    # A null key has no bytes before the window.
    return F.when(key.raw.isNotNull(), packed_key([F.when(key.raw != window, value), window]))


def packed_key(columns: Sequence[Column]) -> Column:
    """Values packed into one BINARY, as a row id or join key. Equal floating-point numbers give equal bytes."""
    return pack({f"k{number}": value for number, value in enumerate(columns)})
