"""Groups of a table's rows, and HAVING."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.engine.aggregates import retracted
from lsql_runner.engine.expressions import column
from lsql_runner.engine.groups import group_columns, raw_key_part
from lsql_runner.engine.packed import unpacked
from lsql_runner.engine.relation import Relation, Undecoded, Upsert
from lsql_runner.engine.schema import LONG, spark_type
from lsql_runner.engine.tables import groups, newest, signed, track
from lsql_runner.plan.nodes import Aggregate, Having
from lsql_runner.plan.usage import node_exprs


def compile_table_aggregate(node: Aggregate, below: Relation) -> Relation:
    """Groups that a row leaves again when it changes or goes. A group without rows is not there."""
    assert below.upsert is not None
    columns = below.columns_for(node_exprs(node))
    keys, types = group_columns(node, columns)
    row = dict(keys)
    for slot, call in node.calls:
        if call.arg is not None:
            row[f"arg_{slot}"] = column(call.arg, columns)
            types[f"arg_{slot}"] = spark_type(call.arg.type)
    place = place_of(node, below)
    row |= place
    types |= dict.fromkeys(place, LONG)
    changes = track(below, f"{node.store}-rows", row)
    sums = [F.max("ts").alias("ts"), F.sum("sign").alias("rows")]
    results: dict[str, Column] = {}
    for slot, call in node.calls:
        value = None if call.arg is None else F.col(f"arg_{slot}")
        wanted = retracted(call, value, [F.col(name) for name in place], F.col("sign"))
        names = [f"{slot}_{number}" for number in range(len(wanted.sums))]
        sums += [part.alias(name) for part, name in zip(wanted.sums, names, strict=True)]
        results[slot] = wanted.result(*(F.col(f"sums.`{name}`") for name in names))
    added_up = signed(changes, _schema(types)).groupBy().agg(*sums)
    group = _schema({name: types[name] for name in keys})
    frame = groups(changes, group, added_up).select(
        "id",
        unpacked(F.col("id"), group).alias("key_of"),
        unpacked(F.col("result"), added_up.schema).alias("sums"),
    )
    ready = {name: F.col(f"key_of.`{name}`") for name in keys} | results | {"ts": F.col("sums.ts")}
    upsert = Upsert(F.col("id"), F.col("sums.rows") > 0)
    return Relation(frame, ready, raw_key_part(node, F.col("key_of.raw_key")), upsert)


def _schema(types: Mapping[str, spark.DataType]) -> spark.StructType:
    return spark.StructType([spark.StructField(name, kind) for name, kind in types.items()])


def place_of(node: Aggregate, below: Relation) -> dict[str, Column]:
    """What orders the rows of a group, where its aggregates go by it: LONGs, the time first."""
    if not node.place:
        return {}
    return {"place_time": below.ready["ts"], **{f"place_{name}": below.ready[name].cast(LONG) for name in node.place}}


def compile_having(node: Having, below: Relation) -> Relation:
    """The groups that the condition holds for. Only these are remembered, so that one that goes is told once."""
    names = list(node.input.columns)
    kinds = [spark.StructField(name, spark_type(kind)) for name, kind in node.input.columns.items() if name != "ts"]
    condition = column(node.condition, below.columns_for([node.condition]))
    row = {name: below.ready[name] for name in names if name != "ts"}
    frame, columns, present = newest(track(below, node.store, row, condition), spark.StructType(kinds))
    undecoded = {name: Undecoded(F.col("row.raw_key"), part.serde) for name, part in below.undecoded.items()}
    return Relation(frame, {**columns, "ts": F.col("ts")}, undecoded, Upsert(F.col("id"), present))
