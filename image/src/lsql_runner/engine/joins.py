"""Joins. Each side is reduced to the columns that later steps read, packed, and shuffled by its join keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.bind.expr import source_column
from lsql_runner.engine.codecs.table import decode
from lsql_runner.engine.event_time import require_window_range, with_watermark
from lsql_runner.engine.expressions import column
from lsql_runner.engine.packed import packed, unpacked
from lsql_runner.engine.relation import Relation, Undecoded, Upsert
from lsql_runner.engine.schema import LONG, spark_type
from lsql_runner.engine.tables import (
    arrival,
    consolidate,
    identity_of,
    join_tables,
    lookup,
    narrowed_column,
    newest,
    track,
    with_identity,
)
from lsql_runner.plan.nodes import Join, JoinSide
from lsql_runner.plan.stores import is_tracked
from lsql_runner.plan.tree import key_serde
from lsql_runner.types import DOUBLE, FLOAT, DataType

_AT = "at"
"""The field of a packed row with the time of its record."""
_ALONE = "without a key"
"""Marks the identity of a row that matches no other row."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One input of a join."""

    side: JoinSide
    relation: Relation
    identity: Column
    """BINARY: the join keys; null if a join key is null."""
    row: Column
    """BINARY: the packed row, with `schema`."""

    @property
    def schema(self) -> spark.StructType:
        fields = [spark.StructField(name, spark_type(kind)) for name, kind in self.side.carried]
        return spark.StructType([*fields, spark.StructField(_AT, LONG)])


def compile_join(node: Join, left: Relation, right: Relation) -> Relation:
    """The joined rows with the columns of the node, before its residual condition."""
    sides = _side(node.left, left), _side(node.right, right)
    if node.is_table:
        return _tables(node, *sides)
    if node.within_ms is None:
        return _stream_and_table(node, *sides)
    return _streams(node, *sides)


def _side(side: JoinSide, relation: Relation) -> _Side:
    named = relation if side.number is None else relation.renamed(source_column("", side.number))
    keys = named.columns_for(side.keys)
    values = [column(key, keys) for key in side.keys]
    has_all_keys = values[0].isNotNull()
    for value in values[1:]:
        has_all_keys &= value.isNotNull()
    carried = {name: _carried(named, side, name) for name, _ in side.carried}
    row = packed({**carried, _AT: relation.ready["ts"]})
    comparable = [_without_negative_zero(value, key.type) for value, key in zip(values, side.keys, strict=True)]
    return _Side(side, relation, F.when(has_all_keys, identity_of(comparable)), row)


def _without_negative_zero(value: Column, kind: DataType) -> Column:
    """The value with 0.0 in place of -0.0, which is equal but is packed to other bytes."""
    return F.when(value == F.lit(0), F.abs(value)).otherwise(value) if kind in (FLOAT, DOUBLE) else value


def _carried(named: Relation, side: JoinSide, name: str) -> Column:
    kind = dict(side.carried)[name]
    if name in named.undecoded:
        part = named.undecoded[name]
        return decode(part.raw, part.serde, kind)
    if name not in named.ready:  # `raw_key` or `raw_value` of a key or value that a projection left encoded
        return named.undecoded[name.removeprefix("raw_")].raw
    return narrowed_column(named.ready[name], side.columns[name], kind)


def _result(node: Join, frame: DataFrame, left: Column, right: Column, upsert: Upsert | None) -> Relation:
    """The columns of the join over unpacked rows of both sides."""
    ready = {name: left.getField(name) for name, _ in node.left.carried}
    ready |= {name: right.getField(name) for name, _ in node.right.carried}
    ready["ts"] = F.greatest(left.getField(_AT), right.getField(_AT))
    undecoded: dict[str, Undecoded] = {}
    if node.raw_key is not None:
        ready["raw_key"] = ready[node.raw_key]
        undecoded["key"] = Undecoded(ready["raw_key"], key_serde(node))
    ready["key"] = column(node.key, ready)
    return Relation(frame, ready, undecoded, upsert)


def _streams(node: Join, left: _Side, right: _Side) -> Relation:
    assert node.within_ms is not None
    assert node.delay_ms is not None
    frames = []
    for side, name in ((left, "l"), (right, "r")):
        time = F.timestamp_millis(require_window_range(side.relation.ready["ts"]))
        # Spark matches null with null in full joins; in other joins it removes nulls before.
        alone = identity_of([F.lit(_ALONE), F.lit(name), *arrival(side.relation)])
        identity = F.coalesce(side.identity, alone) if node.kind == "FULL" else side.identity
        frame = side.relation.stateful_input(
            identity.alias(f"{name}_id"), time.alias(f"{name}_time"), side.row.alias(f"{name}_row")
        )
        # `delay_ms` is the join window plus the grace: until then a record may match later ones.
        frames.append(with_watermark(frame, f"{name}_time", node.delay_ms, side.side.input, node.clock))
    within = F.make_dt_interval(secs=F.lit(node.within_ms / 1000))
    condition = (F.col("l_id") == F.col("r_id")) & F.col("l_time").between(
        F.col("r_time") - within, F.col("r_time") + within
    )
    joined = frames[0].join(frames[1], condition, node.kind.lower())
    return _unpacked(node, joined, left, right, "l_row", "r_row", None)


def _unpacked(
    node: Join, frame: DataFrame, left: _Side, right: _Side, left_row: str, right_row: str, upsert: Upsert | None
) -> Relation:
    return _result(
        node, frame, unpacked(F.col(left_row), left.schema), unpacked(F.col(right_row), right.schema), upsert
    )


def residual(node: Join, joined: Relation) -> Column | None:
    """The rest of the join condition, beside the join keys: a BOOLEAN over the joined rows; None if there is none."""
    return None if node.residual is None else column(node.residual, joined.columns_for([node.residual]))


def _stream_and_table(node: Join, left: _Side, right: _Side) -> Relation:
    stream, table = (right, left) if node.left.is_table else (left, right)
    is_outer = node.kind != "INNER"
    alone = identity_of([F.lit(_ALONE), *arrival(stream.relation)])
    identity = F.coalesce(stream.identity, alone) if is_outer else stream.identity
    records = stream.relation.stateful_input(
        identity.alias("id"),
        *arrival(stream.relation),
        F.lit(False).alias("is_table"),
        F.lit(None).cast("binary").alias("part"),
        stream.row.alias("row"),
    ).where(F.col("id").isNotNull())
    rows_of_table = _table_rows(table, _store(node, table), "is_table", True, False, every_change=True)
    # In the order of the sides: Spark numbers stateful operators in this order.
    both = rows_of_table.unionByName(records) if node.left.is_table else records.unionByName(rows_of_table)
    rows = "found", "streamed"
    names = rows if node.left.is_table else rows[::-1]
    joined = _unpacked(node, lookup(both, is_outer), left, right, *names, None)
    # The joined row has the time of the stream's record: the table may be ahead of the stream.
    time = unpacked(F.col("streamed"), stream.schema).getField(_AT)
    place = {name: F.col(name) for name in ("partition", "offset")}
    return replace(joined, ready={**joined.ready, **place, "ts": time})


def _store(node: Join, side: _Side) -> str:
    """The name of the operator that stores the rows of a side."""
    return f"{node.store}-{'left' if side.side is node.left else 'right'}"


def _table_rows(
    side: _Side, store: str, flag: str, value: bool, keep_unmatched: bool, every_change: bool = False
) -> DataFrame:
    """The upserts of a table: `id` (the join keys), `ts`, `partition`, `offset`, the flag, `part` (the row's identity
    in its table), `row`.

    Args:
        store: the name of the operator that stores the rows of the side.
        flag: the name of a column that has `value` in every row.
        keep_unmatched: whether rows with a null join key are kept, with an identity that matches no other row.
        every_change: whether a row that changes several times in a batch has several upserts; else it has one.
    """
    relation = side.relation
    assert relation.upsert is not None
    part = relation.upsert.identity
    if not is_tracked(side.side):
        rows = relation.stateful_input(
            side.identity.alias("id"),
            *arrival(relation),
            F.lit(value).alias(flag),
            part.alias("part"),
            F.when(relation.upsert.present, side.row).alias("row"),
        )
        return with_identity(rows, "part", relation.upsert, store).where(F.col("id").isNotNull())
    identity = F.coalesce(side.identity, identity_of([F.lit(_ALONE), part])) if keep_unmatched else side.identity
    changes = track(relation, store, {"id": identity, "row": side.row}, every_change=every_change)
    schema = spark.StructType(
        [spark.StructField("id", spark.BinaryType()), spark.StructField("row", spark.BinaryType())]
    )
    before, after = unpacked(F.col("before"), schema), unpacked(F.col("after"), schema)
    moves = F.array(
        # Deletes the row under its previous join keys if they have changed.
        F.when(
            before["id"].isNotNull() & ~before["id"].eqNullSafe(after["id"]),
            F.struct(before["id"].alias("id"), F.lit(None).cast("binary").alias("row")),
        ),
        F.when(after["id"].isNotNull(), F.struct(after["id"].alias("id"), after["row"].alias("row"))),
    )
    moved = changes.select("id", "ts", "partition", "offset", F.explode(moves).alias("move"))
    return moved.where(F.col("move").isNotNull()).select(
        F.col("move.id").alias("id"),
        "ts",
        "partition",
        "offset",
        F.lit(value).alias(flag),
        F.col("id").alias("part"),
        F.col("move.row").alias("row"),
    )


def _tables(node: Join, left: _Side, right: _Side) -> Relation:
    keeps_left, keeps_right = node.kind in ("LEFT", "FULL"), node.kind in ("RIGHT", "FULL")
    both = _table_rows(left, _store(node, left), "is_left", True, keeps_left).unionByName(
        _table_rows(right, _store(node, right), "is_left", False, keeps_right)
    )
    pairs = join_tables(both, keeps_left, keeps_right)
    part = F.coalesce("left_part", "right_part") if node.right.by_key else F.coalesce("right_part", "left_part")
    schema = spark.StructType(
        [spark.StructField("left", spark.BinaryType()), spark.StructField("right", spark.BinaryType())]
    )
    changes = pairs.select(
        part.alias("id"),
        "ts",
        F.lit(0).alias("partition"),
        F.lit(0).cast(LONG).alias("offset"),
        _pair("had").alias("before"),
        _pair("has").alias("after"),
    )
    frame, columns, present = newest(consolidate(changes) if node.moves_rows else changes, schema)
    result = _result(
        node,
        frame,
        unpacked(columns["left"], left.schema),
        unpacked(columns["right"], right.schema),
        Upsert(F.col("id"), present),
    )
    return result.with_ready("ts", F.greatest(result.ready["ts"], F.col("ts")))


def _pair(verb: str) -> Column:
    left, right = F.col(f"{verb}_left"), F.col(f"{verb}_right")
    return F.when(left.isNotNull() | right.isNotNull(), packed({"left": left, "right": right}))
