"""What keeps rows of tables: aggregates over tables, HAVING, and the joins. The state is kept in the JVM.

Source: docs/decisions/0011-tables-and-joins.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.engine.call import java_class
from lsql_runner.engine.packed import packed, unpacked
from lsql_runner.engine.progress import ERRORS_METRIC, caught_as
from lsql_runner.engine.relation import Relation, Upsert
from lsql_runner.jvm.java_entries import CONSOLIDATE_CHANGES, LOOKUP, TABLE_GROUPS, TABLE_JOIN, TRACK_CHANGES
from lsql_runner.types import Array, DataType, Struct

WITHOUT_KEY = "RECORD_WITHOUT_KEY"

_ROW = "row"


def track(
    relation: Relation,
    store: str,
    row: Mapping[str, Column],
    wanted: Column | None = None,
    is_every: bool = False,
) -> DataFrame:
    """The changes of a table: columns `id`, `ts`, `partition`, `offset`, `before`, `after` (packed rows of `row`; null
    where there is none).

    Args:
        store: the name of what is remembered.
        row: what is remembered of each row.
        wanted: a row for which this does not hold is none.
        is_every: each upsert that changes a row is a change; else a row has one for each batch.
    """
    assert relation.upsert is not None
    present = relation.upsert.present if wanted is None else relation.upsert.present & F.coalesce(wanted, F.lit(False))
    upserts = relation.stateful_input(
        relation.upsert.identity.alias("id"),
        *arrival(relation),
        F.when(present, packed(row)).alias(_ROW),
    )
    return _operator(with_identity(upserts, "id", relation.upsert, store), TRACK_CHANGES, is_every)


def with_identity(rows: DataFrame, column: str, upsert: Upsert, store: str) -> DataFrame:
    """The rows that are some row of a table. Records without a key are none: they are left out, and counted.

    Args:
        column: has the identity of `upsert`.
        store: the name of what takes the rows in, another one for each place in a query where this is asked.
    """
    identity = F.col(column)
    return rows.where(identity.isNotNull()) if upsert.topic is None else _keyed(rows, identity, upsert.topic, store)


def with_keys(relation: Relation, topic: str, name: str) -> Relation:
    """The rows that have a key, for a topic that takes no others. A row without one is none of a table: it is left out,
    and counted.

    Args:
        topic: where the rows go.
        name: of the count, another one for each place in a query where this is asked.
    """
    part = relation.undecoded.get("key")
    key = relation.ready["key"] if part is None else part.raw
    return replace(relation, frame=_keyed(relation.frame, key, topic, name))


def _keyed(rows: DataFrame, key: Column, topic: str, name: str) -> DataFrame:
    """The rows whose key is not null; the others are counted."""
    count = F.count(F.when(key.isNull(), F.lit(1))).alias(caught_as("skipped", WITHOUT_KEY, topic))
    return rows.observe(f"{ERRORS_METRIC}{name}", count).where(key.isNotNull())


def arrival(relation: Relation) -> list[Column]:
    """`ts`, and `partition` and `offset` by which records of a key are in order. Rows that are no records are in the
    order of their time."""
    ts = relation.ready["ts"]
    return [
        ts.alias("ts"),
        relation.ready.get("partition", F.lit(0)).alias("partition"),
        relation.ready.get("offset", ts).alias("offset"),
    ]


def signed(changes: DataFrame, schema: spark.StructType) -> DataFrame:
    """What the aggregates of `groups` are over: `ts`, `sign` (1 for a row that comes, -1 for one that goes), and the
    columns of `schema`. To say what is to be computed, not to be run."""
    rows = changes.select("ts", F.lit(1).alias("sign"), unpacked(F.col("after"), schema).alias(_ROW))
    return rows.select("ts", "sign", *(F.col(f"{_ROW}.`{name}`").alias(name) for name in schema.names))


def groups(changes: DataFrame, keys: spark.StructType, aggregated: DataFrame) -> DataFrame:
    """The groups that changes of rows are in: `id` and `result`, the columns of `keys` and of `aggregated`, packed. One
    without rows is among them in the batch in which it lost the last, and is not remembered.

    Args:
        keys: what rows are grouped by, the first columns of each.
        aggregated: `agg` of what `signed` gave; the second result is the sum of the signs.
    """
    session = changes.sparkSession
    kind = session._jsparkSession.parseDataType(keys.json())
    return DataFrame(java_class(TABLE_GROUPS).of(changes._jdf, aggregated._jdf, kind), session)


def newest(changes: DataFrame, schema: spark.StructType) -> tuple[DataFrame, dict[str, Column], Column]:
    """The rows after their changes, those that are gone as they were: a frame, its columns, whether each is there."""
    row = unpacked(F.coalesce("after", "before"), schema)
    frame = changes.select("id", "ts", row.alias(_ROW), F.col("after").isNotNull().alias("present"))
    return frame, {name: F.col(f"{_ROW}.`{name}`") for name in schema.names}, F.col("present")


def lookup(both: DataFrame, is_outer: bool) -> DataFrame:
    """Records of a stream with rows of a table: `id`, `partition`, `offset`, and `streamed`, `found` (packed)."""
    return _operator(both, LOOKUP, is_outer)


def join_tables(both: DataFrame, keeps_left: bool, keeps_right: bool) -> DataFrame:
    """Pairs of rows of two tables: `left_part`, `right_part`, `ts`, and packed `had_left`, `had_right`, `has_...`."""
    return _operator(both, TABLE_JOIN, keeps_left, keeps_right)


def consolidate(changes: DataFrame) -> DataFrame:
    """Changes of the same row from several places, as one change."""
    return _operator(changes, CONSOLIDATE_CHANGES)


def _operator(frame: DataFrame, name: str, *arguments: bool) -> DataFrame:
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
    found = kind.field(name)
    assert found is not None
    return found.type


def identity_of(columns: Sequence[Column]) -> Column:
    """Values as one BINARY that rows are known by: floating point numbers that are equal are the same."""
    return packed({f"k{place}": value for place, value in enumerate(columns)})
