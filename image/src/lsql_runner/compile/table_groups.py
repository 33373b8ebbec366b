"""Aggregates over tables, and HAVING."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.compile.aggregates import can_overflow, exact_retracting_aggregate, retracting_aggregate
from lsql_runner.compile.attempts import RECORD_ERROR, attempt
from lsql_runner.compile.expressions import column
from lsql_runner.compile.groups import group_columns, raw_key_part
from lsql_runner.compile.identity import RowIdentity
from lsql_runner.compile.packed import unpack
from lsql_runner.compile.relation import Relation, Undecoded, Upsert
from lsql_runner.compile.schema import LONG, spark_type
from lsql_runner.compile.tables import changed_groups, current_rows, signed_rows, track_changes
from lsql_runner.plan.nodes import Aggregate, Having
from lsql_runner.plan.tree import node_exprs


def compile_table_aggregate(node: Aggregate, below: Relation, handles_errors: bool = False) -> Relation:
    """Groups from which a row is retracted when it changes or is deleted. A group without rows does not exist.

    Args:
        handles_errors: as for `compile_stream_aggregate`.
    """
    assert below.upsert is not None
    columns = below.columns_for(node_exprs(node))
    keys, types = group_columns(node, below, columns)
    row = dict(keys)
    for slot, call in node.calls:
        if call.arg is not None:
            row[f"arg_{slot}"] = column(call.arg, columns)
            types[f"arg_{slot}"] = spark_type(call.arg.type)
    order = _order_columns(node, below)
    row |= order
    types |= dict.fromkeys(order, LONG)
    changes = track_changes(below, f"{node.store}-rows", row, grouped=True)
    sums = [F.max("ts").alias("ts"), F.sum("sign").alias("rows")]
    results: dict[str, Column] = {}
    for slot, call in node.calls:
        value = None if call.arg is None else F.col(f"arg_{slot}")
        if handles_errors and value is not None and can_overflow(call, of_table=True):
            computed = exact_retracting_aggregate(call, value, F.col("sign"))
        else:
            computed = retracting_aggregate(call, value, [F.col(name) for name in order], F.col("sign"))
        names = [f"{slot}_{number}" for number in range(len(computed.aggregates))]
        sums += [aggregate.alias(name) for aggregate, name in zip(computed.aggregates, names, strict=True)]
        results[slot] = computed.result(*(F.col(f"sums.`{name}`") for name in names))
    aggregates = signed_rows(changes, _schema(types)).groupBy().agg(*sums)
    group = _schema({name: types[name] for name in keys})
    frame = changed_groups(changes, group, aggregates).select(
        "id",
        unpack(F.col("id"), group).alias("key_of"),
        unpack(F.col("result"), aggregates.schema).alias("sums"),
        "is_unchanged",
    )
    decoded = {name: F.col(f"key_of.`{name}`") for name in keys} | results | {"ts": F.col("sums.ts")}
    upsert = Upsert(F.col("id"), F.col("sums.rows") > 0, unchanged=F.col("is_unchanged"))
    return Relation(
        frame=frame,
        decoded=decoded,
        undecoded=raw_key_part(node, F.col("key_of.raw_key")),
        identity=RowIdentity((F.col("id"),)),
        upsert=upsert,
    )


def _schema(types: Mapping[str, spark.DataType]) -> spark.StructType:
    return spark.StructType([spark.StructField(name, kind) for name, kind in types.items()])


def _order_columns(node: Aggregate, below: Relation) -> dict[str, Column]:
    """The columns that order the rows of a group, if its aggregates use the order: LONGs, the time first."""
    if not node.order_columns:
        return {}
    return {
        "place_time": below.decoded["ts"],
        **{f"place_{name}": below.decoded[name].cast(LONG) for name in node.order_columns},
    }


def compile_having(node: Having, below: Relation) -> Relation:
    """The groups for which the condition is true. Only these are stored, so that a deletion is written once."""
    names = list(node.input.columns)
    kinds = [spark.StructField(name, spark_type(kind)) for name, kind in node.input.columns.items() if name != "ts"]
    condition = column(node.condition, below.columns_for([node.condition]))
    row = {name: below.decoded[name] for name in names if name != "ts"}
    if below.origin is not None:
        return _attempt_having(node, below, condition, spark.StructType(kinds))
    frame, columns, present = current_rows(track_changes(below, node.store, row, condition), spark.StructType(kinds))
    undecoded = {name: Undecoded(F.col("row.raw_key"), part.serde) for name, part in below.undecoded.items()}
    return Relation(
        frame=frame,
        decoded={**columns, "ts": F.col("ts")},
        undecoded=undecoded,
        identity=RowIdentity((F.col("id"),)),
        upsert=Upsert(F.col("id"), present, unchanged=F.col("unchanged")),
    )


def _attempt_having(node: Having, below: Relation, condition: Column, schema: spark.StructType) -> Relation:
    """HAVING if errors are handled. A group for which the condition fails, or whose results cannot be computed, counts
    as deleted; its row is written with the error, once for each change."""
    assert below.origin is not None
    assert below.upsert is not None
    # The condition does not apply to a deleted group: it may divide by the count.
    attempted, holds = below.attempt(F.when(below.upsert.present, condition))
    assert attempted.origin is not None
    assert attempted.origin.error is not None
    slots = [slot for slot, _ in node.input.calls]
    results = attempt(F.struct(*(below.decoded[slot].alias(slot) for slot in slots)), None, below.origin.rules)
    frame = attempted.frame.select("*", results.alias("results"))
    error = F.coalesce(attempted.origin.error, F.col("results.error"))
    row = {name: F.col(f"results.value.{name}") if name in slots else below.decoded[name] for name in schema.names}
    unfiltered = replace(attempted, frame=frame, origin=None, handle_failed_rows=None)
    is_stored = attempted.origin.error.isNotNull() | F.coalesce(holds, F.lit(False))
    changes = track_changes(unfiltered, node.store, {**row, _ERROR: error}, is_stored)
    stored = spark.StructType([*schema.fields, spark.StructField(_ERROR, RECORD_ERROR)])
    emitted = changes.select("id", "ts", F.explode(_output_rows(stored)).alias("emitted"))
    columns = {name: F.col(f"emitted.row.`{name}`") for name in schema.names}
    undecoded = {name: Undecoded(columns["raw_key"], part.serde) for name, part in below.undecoded.items()}
    origin = replace(attempted.origin, error=F.col(f"emitted.row.{_ERROR}"))
    upsert = Upsert(F.col("id"), F.col("emitted.present"))
    return Relation(
        frame=emitted,
        decoded={**columns, "ts": F.col("ts")},
        undecoded=undecoded,
        identity=RowIdentity((F.col("id"), F.col("emitted.present"))),
        upsert=upsert,
        origin=origin,
        handle_failed_rows=below.handle_failed_rows,
    )


_ERROR = "error"


def _output_rows(schema: spark.StructType) -> Column:
    """The output for a change of a group, as an array of `row` and `present`: the deletion of the previous row, and the
    new row, valid or with an error."""
    before, after = (unpack(F.col(image), schema) for image in ("before", "after"))
    was_valid = F.col("before").isNotNull() & before[_ERROR].isNull()
    is_valid = F.col("after").isNotNull() & after[_ERROR].isNull()
    deletion = F.when(was_valid & ~is_valid, F.struct(before.alias("row"), F.lit(False).alias("present")))
    new_row = F.when(F.col("after").isNotNull(), F.struct(after.alias("row"), F.lit(True).alias("present")))
    return F.filter(F.array(deletion, new_row), lambda row: row.isNotNull())
