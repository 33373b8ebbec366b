"""Rows for sinks: one column for each column of the table, in the types that the sink's client accepts."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lsql_runner.bind.bound import Fields
from lsql_runner.compile.codecs.table import encode
from lsql_runner.compile.expressions import column, convert
from lsql_runner.compile.nodes import Reader, compile_node, compile_project, source_of
from lsql_runner.compile.relation import Relation
from lsql_runner.compile.schema import HEADERS, INT, LONG, STRING
from lsql_runner.formats.catalog import JSON_FORMAT, STRING_FORMAT
from lsql_runner.plan.queries import WriteSink
from lsql_runner.plan.tree import node_exprs
from lsql_runner.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    JSON,
    NUMERIC,
    TIME,
    TIMESTAMP,
    DataType,
    Decimal,
    Scalar,
    Struct,
    describe,
)
from lsql_runner.types import INT as LSQL_INT
from lsql_runner.types import LONG as LSQL_LONG
from lsql_runner.types import STRING as LSQL_STRING

_SAME_TYPE = (LSQL_INT, LSQL_LONG, FLOAT, DOUBLE, LSQL_STRING, BOOLEAN, BYTES)
"""Types whose values the writer in the JVM accepts without a conversion."""

TableColumn = tuple[str, str, Column]
"""A column of a table: its name, its type in com.lsqlrunner.sink.SinkTable, its value."""


def sink_rows(write: WriteSink, read: Reader, run: str = "") -> DataFrame:
    """The rows of a sink: topic, partition, offset (null for results of an aggregate), deleted, then `row_columns`.

    Args:
        write: the INSERT.
        read: reads topics.
        run: the run id of the checkpoint of the query.
    """
    relation, values, deleted = _evaluate(write, read, run)
    record_id = [
        relation.decoded.get(name, F.lit(None).cast(kind)).alias(name)
        for name, kind in (("topic", STRING), ("partition", INT), ("offset", LONG))
    ]
    columns = [value.alias(f"c{number}") for number, (_, _, value) in enumerate(_columns(write, values))]
    return relation.frame.select(*record_id, deleted.alias("deleted"), *columns)


def row_columns(write: WriteSink) -> tuple[list[str], list[str]]:
    """Names and types of the table's columns."""
    target = write.target
    if target.kind == "redis":
        rest = ["value"] if target.store == "STRING" else [name for name, _ in target.columns]
        kinds = ["bytes" if target.store == "STRING" else "string" for _ in rest]
        return [*target.key, *rest], ["string" for _ in target.key] + kinds
    return [name for name, _ in target.columns], [_type_name(kind) for _, kind in target.columns]


def row_records(write: WriteSink, read: Reader) -> DataFrame:
    """The rows as records of `compile_query`, for cases: key and value in JSON; a deleted row has a null value."""
    relation, values, deleted = _evaluate(write, read)
    target = write.target
    key_struct = F.struct(*(values[name].alias(name) for name in target.key))
    key_type = Struct(tuple(f for f in _struct(write).fields if f.name in target.key))
    key = encode(key_struct, JSON_FORMAT, key_type) if target.key else F.lit(None).cast("binary")
    row = F.struct(*(values[name].alias(name) for name, _ in target.columns))
    value = F.when(~deleted, encode(row, JSON_FORMAT, _struct(write)))
    return relation.frame.select(
        F.lit(target.name).alias("topic"),
        key.alias("key"),
        value.alias("value"),
        relation.decoded["ts"].alias("ts"),
        F.lit(None).cast(HEADERS).alias("headers"),
    )


def _struct(write: WriteSink) -> Struct:
    kind = write.input.value_type
    assert isinstance(kind, Struct)
    return kind


def _evaluate(write: WriteSink, read: Reader, run: str = "") -> tuple[Relation, dict[str, Column], Column]:
    """The relation of the projection, its columns by name, and whether the row is deleted.

    The columns are computed one by one, not read from the projected value: that is null for a tombstone, a deleted row
    and a deleted group, but the columns of the table's key are still needed.
    """
    project = write.input
    below = compile_node(project.input, source_of(write, read, run=run))
    relation = compile_project(project, below)
    read_columns = below.columns_for(node_exprs(project))
    part = project.value
    own = dict(part.fields) if isinstance(part, Fields) else {}
    rest = [name for name, _ in write.target.columns if name not in own]
    whole = below.whole("value") if rest else None
    values: dict[str, Column] = {}
    for name, _ in write.target.columns:
        if name in own:
            values[name] = column(own[name], read_columns)
        else:
            assert whole is not None
            values[name] = whole.getField(name)
    if relation.upsert is not None:
        return relation, values, ~relation.upsert.present
    has_value = below.has_value()
    return relation, values, F.lit(False) if has_value is None else ~has_value


def _columns(write: WriteSink, values: dict[str, Column]) -> list[TableColumn]:
    target = write.target
    kinds = dict(target.columns)
    names, types = row_columns(write)
    if target.kind != "redis":
        return [(name, kind, _sql_value(values[name], kinds[name])) for name, kind in zip(names, types, strict=True)]
    key: list[TableColumn] = [(name, "string", _text(values[name], kinds[name])) for name in target.key]
    if target.store == "STRING":
        row = F.struct(*(values[name].alias(name) for name, _ in target.columns))
        return [*key, ("value", "bytes", encode(row, JSON_FORMAT, _struct(write)))]
    return [*key, *((name, "string", _text(values[name], kind)) for name, kind in target.columns)]


def _type_name(kind: DataType) -> str:
    if kind in _SAME_TYPE or kind in (DATE, TIME, TIMESTAMP, NUMERIC):
        assert isinstance(kind, Scalar)
        return kind.name
    return describe(kind) if isinstance(kind, Decimal) else "json"


def _sql_value(value: Column, kind: DataType) -> Column:
    """A value for the writer in the JVM: dates, times and timestamps are numbers, independent of time zones; structures
    are JSON."""
    if kind == DATE:
        return F.unix_date(value)
    if kind == TIME:
        return F.time_to_micros(value)
    if kind == TIMESTAMP:
        return F.unix_micros(value)
    if kind == NUMERIC:
        return convert(value, kind, LSQL_STRING)
    if kind in _SAME_TYPE or isinstance(kind, Decimal):
        return value
    return encode(value, JSON_FORMAT, kind).cast(STRING)


def _text(value: Column, kind: DataType) -> Column:
    """A value as text: as in a record with the format STRING; structures are JSON, bytes are base64."""
    if kind == BYTES:
        return F.base64(value)
    form = STRING_FORMAT if isinstance(kind, Scalar | Decimal) and kind != JSON else JSON_FORMAT
    return encode(value, form, kind).cast(STRING)
