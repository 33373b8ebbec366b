"""The record at which a plan failed, as an error for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lsql_runner.compile.codecs.table import decode
from lsql_runner.compile.dead_letters import OutputContext
from lsql_runner.compile.groups import aggregate_input
from lsql_runner.compile.nodes import Reader, compile_node, source_of
from lsql_runner.compile.queries import compile_write
from lsql_runner.compile.sink_rows import sink_rows
from lsql_runner.engine.failing_place import failing_place
from lsql_runner.engine.locate import BadRecord, Compute, OffsetRange, failure_of, locate
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import Format, TopicSchema
from lsql_runner.plan.nodes import Aggregate, Stateful
from lsql_runner.plan.queries import Plan, Write, WriteSink
from lsql_runner.plan.tree import nodes

Ranges = Mapping[Partition, OffsetRange]
RangeReader = Callable[[Ranges], Reader]
"""Returns a reader of the records in some ranges of offsets."""


def record_error(
    plan: Plan,
    ranges: Ranges,
    reader: RangeReader,
    context: OutputContext = OutputContext(),  # noqa: B008, it is frozen
) -> LsqlError | None:
    """RECORD_MALFORMED or RECORD_REFUSED for the first record in the ranges, by topic, partition and offset, that an
    INSERT of the plan cannot process; None if there is no such record. The reason of RECORD_REFUSED begins with the
    field or clause that fails.
    """
    bad = [
        (record, write)
        for write in plan.writes
        if (record := locate(_computation(write, reader, context), ranges)) is not None
    ]
    if not bad:
        return None
    first, write = min(bad, key=lambda pair: (*_position(pair[0].partition), pair[0].offset))
    place: dict[str, Any] = {
        "topic": first.partition.topic,
        "partition": first.partition.partition,
        "offset": first.offset,
        "reason": first.failure.reason,
    }
    schema = next(source for source in plan.sources if source.topic == first.partition.topic)
    malformed = _malformed_part(schema, first, reader) if first.failure.kind == "malformed" else None
    if malformed is None:
        failing = failing_place(write, reader({first.partition: (first.offset, first.offset + 1)}))
        reason = first.failure.reason if failing is None else f"{failing}: {first.failure.reason}"
        return LsqlError("RECORD_REFUSED", **(place | {"reason": reason}))
    part, form = malformed
    return LsqlError("RECORD_MALFORMED", **place, part=part, format=str(form))


def _position(partition: Partition) -> tuple[str, int]:
    return partition.topic, partition.partition


def _computation(write: Write, reader: RangeReader, context: OutputContext) -> Compute:
    def compute(ranges: Ranges) -> DataFrame:
        operators = [node for node in nodes(write.input) if isinstance(node, Stateful)]
        only = operators[0] if len(operators) == 1 else None
        # The input of an aggregate over a stream has a row for each record; its groups would hide the record.
        aggregate = only if isinstance(only, Aggregate) and not only.of_table else None
        rows = reader(ranges)
        if aggregate is not None:
            return aggregate_input(aggregate, compile_node(aggregate.input, source_of(write, rows)))[0]
        return sink_rows(write, rows) if isinstance(write, WriteSink) else compile_write(write, rows, context)

    return compute


def _malformed_part(schema: TopicSchema, record: BadRecord, reader: RangeReader) -> tuple[str, Format] | None:
    """`value` or `key`, and the format in which it is malformed; None if other bytes are, in an expression."""
    rows = reader({record.partition: (record.offset, record.offset + 1)})(schema)
    for name, serde in (("value", schema.value), ("key", schema.key)):
        if failure_of(rows.select(decode(F.col(name), serde, serde.type).alias("decoded"))) is not None:
            return name, serde.format
    return None
