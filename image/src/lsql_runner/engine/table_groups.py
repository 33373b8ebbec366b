"""Groups of a table's rows, and HAVING."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lsql_runner.engine.aggregates import retracted
from lsql_runner.engine.expressions import column
from lsql_runner.engine.groups import group_columns, raw_key_part
from lsql_runner.engine.relation import Relation, Undecoded, Upsert
from lsql_runner.engine.schema import LONG, spark_type
from lsql_runner.engine.tables import identity_of, newest, signed, track
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
    rows = signed(
        track(below, f"{node.store}-rows", row),
        spark.StructType([spark.StructField(name, kind) for name, kind in types.items()]),
    )
    results = [F.max("ts").alias("ts"), F.sum("sign").alias("rows")]
    for slot, call in node.calls:
        value = None if call.arg is None else F.col(f"arg_{slot}")
        results.append(retracted(call, value, [F.col(name) for name in place], F.col("sign")).alias(slot))
    grouped = rows.groupBy(*(F.col(f"`{name}`") for name in keys)).agg(*results)
    ready = {name: F.col(f"`{name}`") for name in (*keys, "ts", *(slot for slot, *_ in node.calls))}
    upsert = Upsert(identity_of([ready[name] for name in keys]), F.col("rows") > 0)
    return Relation(grouped, ready, raw_key_part(node, F.col("raw_key")), upsert)


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
