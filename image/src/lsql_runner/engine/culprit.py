"""The record that a plan died of, as an error for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lsql_runner.engine.compile import Reader, compile_node, compile_sink, source_of
from lsql_runner.engine.dead_letters import Outlet
from lsql_runner.engine.groups import aggregate_input
from lsql_runner.engine.locate import Attempt, Culprit, Span, failure_of, locate
from lsql_runner.engine.serde import decode
from lsql_runner.engine.sink_rows import sink_rows
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import Format, TopicSchema
from lsql_runner.plan.nodes import Aggregate, Stateful
from lsql_runner.plan.queries import Plan, Write, WriteSink
from lsql_runner.plan.tree import nodes

Ranges = Mapping[Partition, Span]
RangeReader = Callable[[Ranges], Reader]
"""Gives a reader of the records in some ranges of offsets."""


def record_error(
    plan: Plan,
    ranges: Ranges,
    reader: RangeReader,
    outlet: Outlet = Outlet(),  # noqa: B008, it is frozen
) -> LsqlError | None:
    """RECORD_MALFORMED or RECORD_REFUSED for the first record in the ranges, by topic, partition and offset, that some
    INSERT of the plan cannot take; None if all are taken.
    """
    found = [culprit for sink in plan.sinks if (culprit := locate(_attempt(sink, reader, outlet), ranges)) is not None]
    if not found:
        return None
    first = min(found, key=lambda c: (c.partition.topic, c.partition.partition, c.offset))
    place: dict[str, Any] = {
        "topic": first.partition.topic,
        "partition": first.partition.partition,
        "offset": first.offset,
        "reason": first.failure.reason,
    }
    if first.failure.kind != "malformed":
        return LsqlError("RECORD_REFUSED", **place)
    schema = next(source for source in plan.sources if source.topic == first.partition.topic)
    part, form = _part_at_fault(schema, first, reader)
    return LsqlError("RECORD_MALFORMED", **place, part=part, format=str(form))


def _attempt(sink: Write, reader: RangeReader, outlet: Outlet) -> Attempt:
    """What a sink computes for the records of some ranges, before anything is kept or written."""

    def run(ranges: Ranges) -> DataFrame:
        kept = [node for node in nodes(sink.input) if isinstance(node, Stateful)]
        # What only an aggregate of a stream keeps can be had before it: the groups would hide which record it was.
        only = kept[0] if len(kept) == 1 else None
        stateful = only if isinstance(only, Aggregate) and not only.of_table else None
        rows = reader(ranges)
        if stateful is not None:
            return aggregate_input(stateful, compile_node(stateful.input, source_of(sink, rows)))[0]
        return sink_rows(sink, rows) if isinstance(sink, WriteSink) else compile_sink(sink, rows, outlet)

    return run


def _part_at_fault(schema: TopicSchema, culprit: Culprit, reader: RangeReader) -> tuple[str, Format]:
    """Key or value, with the format that it is not in."""
    rows = reader({culprit.partition: (culprit.offset, culprit.offset + 1)})(schema)
    value = decode(F.col("value"), schema.value, schema.value.type)
    if failure_of(rows.select(value.alias("decoded"))) is None:
        return "key", schema.key.format
    return "value", schema.value.format
