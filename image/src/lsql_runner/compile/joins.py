"""Joins. Each side is reduced to the columns that later steps read, packed, and shuffled by its join keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.bind.expr import source_column
from lsql_runner.compile.codecs.table import canonical, canonical_serde, decode
from lsql_runner.compile.conditions import with_value
from lsql_runner.compile.event_time import (
    EVENT_TIME,
    READ_FROM,
    Times,
    late_watermark,
    require_window_range,
    with_watermark,
)
from lsql_runner.compile.expressions import column
from lsql_runner.compile.identity import RowIdentity
from lsql_runner.compile.late_rows import LATE_FOR, LATE_RECORD, interval, source_record
from lsql_runner.compile.packed import pack, unpack
from lsql_runner.compile.relation import Relation, Undecoded, Upsert
from lsql_runner.compile.schema import LONG, spark_type
from lsql_runner.compile.tables import (
    PairId,
    consolidate,
    current_rows,
    drop_rows_without_id,
    join_streams,
    join_tables,
    lookup_join,
    narrowed_column,
    order_columns,
    packed_key,
    track_changes,
)
from lsql_runner.plan.nodes import Join, JoinSide, key_serde
from lsql_runner.plan.stores import is_tracked
from lsql_runner.plan.tree import needs_consolidation
from lsql_runner.types import DOUBLE, FLOAT, DataType

_TIME_FIELD = "at"
"""The field of a packed row that contains the timestamp of its record, in milliseconds since 1970 UTC."""
_UNMATCHABLE = "without a key"
"""The first value of a join key that equals no other join key. It is part of states: do not change it."""


@dataclass(frozen=True, slots=True)
class _Input:
    """An input of a join, with its rows packed."""

    side: JoinSide
    relation: Relation
    join_key: Column
    """BINARY: the packed values of the join keys; null if one of them is null."""
    row: Column
    """BINARY: the packed row, with `schema`."""

    @property
    def schema(self) -> spark.StructType:
        fields = [spark.StructField(name, spark_type(kind)) for name, kind in self.side.carried]
        return spark.StructType([*fields, spark.StructField(_TIME_FIELD, LONG)])


def compile_join(node: Join, left: Relation, right: Relation) -> Relation:
    """The joined rows with the columns of the node, before its residual condition."""
    sides = _prepare(node, node.left, left), _prepare(node, node.right, right)
    if node.is_table:
        return _join_tables(node, *sides)
    if node.within_ms is None:
        return _join_stream_and_table(node, *sides)
    return _join_streams(node, *sides)


def _prepare(node: Join, side: JoinSide, relation: Relation) -> _Input:
    if not side.is_table:
        relation = with_value(relation)  # a record without a value is no event: Kafka Streams drops it, too
    named = relation if side.number is None else relation.renamed(source_column("", side.number))
    keys = named.columns_for(side.keys)
    values = [column(key, keys) for key in side.keys]
    has_all_keys = values[0].isNotNull()
    for value in values[1:]:
        has_all_keys &= value.isNotNull()
    carried = {name: _carried_column(named, side, name) for name, _ in side.carried}
    if node.is_table and node.raw_key in carried:
        # The key of a row of a table must not change its bytes while its value is the same.
        raw_id = canonical(carried[node.raw_key], key_serde(side.input))
        carried[node.raw_key] = carried[node.raw_key] if raw_id is None else raw_id
    row = pack({**carried, _TIME_FIELD: relation.decoded["ts"]})
    comparable = [_without_negative_zero(value, key.type) for value, key in zip(values, side.keys, strict=True)]
    return _Input(side, relation, F.when(has_all_keys, packed_key(comparable)), row)


def _without_negative_zero(value: Column, kind: DataType) -> Column:
    """The value with 0.0 in place of -0.0, which is equal but is packed to other bytes."""
    return F.when(value == F.lit(0), F.abs(value)).otherwise(value) if kind in (FLOAT, DOUBLE) else value


def _carried_column(named: Relation, side: JoinSide, name: str) -> Column:
    kind = dict(side.carried)[name]
    if name in named.undecoded:
        part = named.undecoded[name]
        return decode(part.raw, part.serde, kind)
    if name not in named.decoded:  # `raw_key` or `raw_value` of a key or value that a projection left encoded
        return named.undecoded[name.removeprefix("raw_")].raw
    return narrowed_column(named.decoded[name], side.columns[name], kind)


def _result(
    node: Join, frame: DataFrame, left: Column, right: Column, identity: RowIdentity, upsert: Upsert | None = None
) -> Relation:
    """The columns of the join over unpacked rows of both sides."""
    decoded = {name: left.getField(name) for name, _ in node.left.carried}
    decoded |= {name: right.getField(name) for name, _ in node.right.carried}
    decoded["ts"] = F.greatest(left.getField(_TIME_FIELD), right.getField(_TIME_FIELD))
    undecoded: dict[str, Undecoded] = {}
    if node.raw_key is not None:
        decoded["raw_key"] = decoded[node.raw_key]
        serde = key_serde(node)
        undecoded["key"] = Undecoded(decoded["raw_key"], canonical_serde(serde) if node.is_table else serde)
    decoded["key"] = column(node.key, decoded)
    return Relation(frame=frame, decoded=decoded, undecoded=undecoded, identity=identity, upsert=upsert)


def _join_streams(node: Join, left: _Input, right: _Input) -> Relation:
    """The joined rows of two streams. Joins below windows or other joins have Spark's operator."""
    assert node.within_ms is not None
    assert node.delay_ms is not None
    if node.in_spans:
        return _join_in_spans(node, left, right)
    frames = []
    for side, name, input_name in zip((left, right), ("l", "r"), node.input_names, strict=True):
        time = F.timestamp_millis(_watermark_time(side))
        # Spark matches null with null in full joins; in other joins it removes nulls before.
        join_key = _key_to_match(side, node.kind == "FULL", F.lit(name), *order_columns(side.relation))
        frame = side.relation.stateful_input(
            join_key.alias(f"{name}_id"),
            time.alias(f"{name}_time"),
            side.row.alias(f"{name}_row"),
            order_columns(side.relation)[1].alias(READ_FROM),
        )
        # `delay_ms` is the join window plus the grace: until then a record may match later ones.
        times = Times(column=f"{name}_time", input_name=input_name, clock=node.clock)
        frames.append(with_watermark(frame, times, node.delay_ms, side.side.input))
    within = F.make_dt_interval(secs=F.lit(node.within_ms / 1000))
    condition = (F.col("l_id") == F.col("r_id")) & F.col("l_time").between(
        F.col("r_time") - within, F.col("r_time") + within
    )
    joined = frames[0].join(frames[1], condition, node.kind.lower())
    identity = RowIdentity((pack({"left": F.col("l_row"), "right": F.col("r_row")}),))
    return _unpack_result(node, joined, left, right, ("l_row", "r_row"), identity)


def _key_to_match(side: _Input, keeps_unmatched: bool, *row: Column) -> Column:
    """The join key, BINARY; null if a row has none. If the result keeps such a row, it has a key that equals no other,
    of the columns `row` that identify it."""
    if not keeps_unmatched:
        return side.join_key
    return F.coalesce(side.join_key, packed_key([F.lit(_UNMATCHABLE), *row]))


def _join_in_spans(node: Join, left: _Input, right: _Input) -> Relation:
    assert node.within_ms is not None
    assert node.delay_ms is not None
    frames = []
    for side, name, keeps, input_name in zip((left, right), ("l", "r"), node.keeps, node.input_names, strict=True):
        frame = side.relation.stateful_input(
            _key_to_match(side, keeps, F.lit(name), *order_columns(side.relation)).alias("id"),
            *order_columns(side.relation),
            F.lit(side is left).alias("is_left"),
            side.row.alias("row"),
            F.timestamp_millis(_watermark_time(side)).alias(EVENT_TIME),
            order_columns(side.relation)[1].alias(READ_FROM),
        ).where(F.col("id").isNotNull())
        times = Times(column=EVENT_TIME, input_name=input_name, clock=node.clock)
        frames.append(with_watermark(frame, times, node.delay_ms, side.side.input))
    pairs = join_streams(frames[0].unionByName(frames[1]), node.within_ms, node.delay_ms, *node.keeps)
    identity = RowIdentity((pack({"left": F.col("left"), "right": F.col("right")}),))
    return _unpack_result(node, pairs, left, right, ("left", "right"), identity)


def records_late_for_join(node: Join, left: Relation, right: Relation) -> tuple[DataFrame, DataFrame]:
    """The records of a batch that are late for a join of streams, of both sides: LATE_RECORD and LATE_FOR."""
    assert node.within_ms is not None
    within = F.lit(node.within_ms)
    late = []
    prepared = (_prepare(node, node.left, left), _prepare(node, node.right, right))
    for side, unmatched in zip(prepared, node.keeps, strict=True):
        rows = side.relation.stateful_input(
            side.join_key.alias("id"), _watermark_time(side).alias("time"), source_record().alias(LATE_RECORD)
        ).where(F.col("time") <= late_watermark())
        if not unmatched:
            rows = rows.where(F.col("id").isNotNull())
        time = F.col("time") - F.lit(1)
        late.append(rows.select(LATE_RECORD, interval(time - within, time + within).alias(LATE_FOR)))
    return late[0], late[1]


def _watermark_time(side: _Input) -> Column:
    """The time of a record that is compared with the watermark, a LONG in milliseconds.

    Spark's first watermark is 0, and a row with the time of the watermark is late. So the times are 1 ms later.
    """
    return require_window_range(side.relation.decoded["ts"]) + F.lit(1)


def _unpack_result(
    node: Join, frame: DataFrame, left: _Input, right: _Input, rows: tuple[str, str], identity: RowIdentity
) -> Relation:
    """The joined rows, from the names of the columns with the packed rows of both sides."""
    left_row, right_row = (unpack(F.col(row), side.schema) for row, side in zip(rows, (left, right), strict=True))
    return _result(node, frame, left_row, right_row, identity)


def residual(node: Join, joined: Relation) -> Column | None:
    """The join condition without the join keys: a BOOLEAN over the joined rows; None if there is no other condition."""
    return None if node.residual is None else column(node.residual, joined.columns_for([node.residual]))


def _join_stream_and_table(node: Join, left: _Input, right: _Input) -> Relation:
    stream, table = (right, left) if node.left.is_table else (left, right)
    is_outer = node.kind != "INNER"
    join_key = _key_to_match(stream, is_outer, *order_columns(stream.relation))
    records = stream.relation.stateful_input(
        join_key.alias("id"),
        *order_columns(stream.relation),
        F.lit(False).alias("is_table"),
        F.lit(None).cast("binary").alias("row_id"),
        stream.row.alias("row"),
    ).where(F.col("id").isNotNull())
    upserts = _table_upserts(
        table,
        store_name=_store_name(node, table),
        flag="is_table",
        flag_value=True,
        keep_unmatched=False,
        every_change=True,
    )
    # The sides stay in their order, because Spark numbers the stateful operators below them in it.
    both = upserts.unionByName(records) if node.left.is_table else records.unionByName(upserts)
    rows = ("found", "streamed") if node.left.is_table else ("streamed", "found")
    # Records of an aggregate have no place of their own.
    identity = RowIdentity((F.col("partition"), F.col("offset"), F.col("streamed")))
    joined = _unpack_result(node, lookup_join(both, is_outer), left, right, rows, identity)
    # The joined row has the time of the stream's record: the table may be ahead of the stream.
    time = unpack(F.col("streamed"), stream.schema).getField(_TIME_FIELD)
    place = {name: F.col(name) for name in ("partition", "offset")}
    return replace(joined, decoded={**joined.decoded, **place, "ts": time})


def _store_name(node: Join, side: _Input) -> str:
    """The name of the operator that stores the rows of a side."""
    return f"{node.store}-{'left' if side.side is node.left else 'right'}"


def _table_upserts(
    side: _Input, *, store_name: str, flag: str, flag_value: bool, keep_unmatched: bool, every_change: bool = False
) -> DataFrame:
    """The upserts of a table: `id` (the join key), `ts`, `partition`, `offset`, the flag, `row_id`, `row` (null if the
    upsert deletes the row).

    Args:
        store_name: of the operator that stores the rows of the side.
        flag: the name of a column that has `flag_value` in every row.
        keep_unmatched: whether rows with a null join key are kept, with a join key that equals no other.
        every_change: whether a row that changes several times in a batch has several upserts; else it has one.
    """
    relation = side.relation
    assert relation.upsert is not None
    row_id = relation.upsert.row_id
    if not is_tracked(side.side):
        rows = relation.stateful_input(
            side.join_key.alias("id"),
            *order_columns(relation),
            F.lit(flag_value).alias(flag),
            row_id.alias("row_id"),
            F.when(relation.upsert.present, side.row).alias("row"),
        )
        return drop_rows_without_id(rows, "row_id", relation.upsert, store_name).where(F.col("id").isNotNull())
    join_key = _key_to_match(side, keep_unmatched, row_id)
    changes = track_changes(relation, store_name, {"id": join_key, "row": side.row}, every_change=every_change)
    schema = spark.StructType(
        [spark.StructField("id", spark.BinaryType()), spark.StructField("row", spark.BinaryType())]
    )
    before, after = unpack(F.col("before"), schema), unpack(F.col("after"), schema)
    changes_by_key = F.array(
        # Deletes the row under its previous join keys if they have changed.
        F.when(
            before["id"].isNotNull() & ~before["id"].eqNullSafe(after["id"]),
            F.struct(before["id"].alias("id"), F.lit(None).cast("binary").alias("row")),
        ),
        F.when(after["id"].isNotNull(), F.struct(after["id"].alias("id"), after["row"].alias("row"))),
    )
    rows = changes.select("id", "ts", "partition", "offset", F.explode(changes_by_key).alias("change"))
    return rows.where(F.col("change").isNotNull()).select(
        F.col("change.id").alias("id"),
        "ts",
        "partition",
        "offset",
        F.lit(flag_value).alias(flag),
        F.col("id").alias("row_id"),
        F.col("change.row").alias("row"),
    )


def _join_tables(node: Join, left: _Input, right: _Input) -> Relation:
    keeps_left, keeps_right = node.keeps
    upserts = _table_upserts(
        left, store_name=_store_name(node, left), flag="is_left", flag_value=True, keep_unmatched=keeps_left
    )
    upserts_of_right = _table_upserts(
        right, store_name=_store_name(node, right), flag="is_left", flag_value=False, keep_unmatched=keeps_right
    )
    both = upserts.unionByName(upserts_of_right)
    pairs = join_tables(both, keeps_left, keeps_right, _pair_id(node))
    schema = spark.StructType(
        [spark.StructField("left", spark.BinaryType()), spark.StructField("right", spark.BinaryType())]
    )
    changes = pairs.select(
        "id",
        "ts",
        F.lit(0).alias("partition"),
        F.lit(0).cast(LONG).alias("offset"),
        _pair("before").alias("before"),
        _pair("after").alias("after"),
    )
    frame, columns, present = current_rows(consolidate(changes) if needs_consolidation(node) else changes, schema)
    result = _result(
        node,
        frame,
        unpack(columns["left"], left.schema),
        unpack(columns["right"], right.schema),
        RowIdentity((F.col("id"),)),
        Upsert(F.col("id"), present, unchanged=F.col("unchanged")),
    )
    return result.with_column("ts", F.greatest(result.decoded["ts"], F.col("ts")))


def _pair_id(node: Join) -> PairId:
    """A row of a side has one pair if the other side is joined by its key. In a full join either row may be missing, so
    their ids are equal for equal keys, or the join key is taken."""
    if not needs_consolidation(node):
        if node.kind == "FULL" and key_serde(node.left.input).format != key_serde(node.right.input).format:
            return "JOIN_KEY"
        if node.kind == "RIGHT":
            return "RIGHT_ROW"
    return "LEFT_ROW" if node.right.by_key else "RIGHT_ROW"


def _pair(when: str) -> Column:
    """The packed rows of a pair `before` or `after` its change; null if there is none."""
    left, right = F.col(f"{when}_left"), F.col(f"{when}_right")
    return F.when(left.isNotNull() | right.isNotNull(), pack({"left": left, "right": right}))
