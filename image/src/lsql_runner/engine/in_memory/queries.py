"""The running queries of a plan in the in-memory engine, with one memory stream for each query."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from lsql_runner.compile.dead_letters import OutputContext
from lsql_runner.compile.nodes import Reader
from lsql_runner.compile.queries import compile_query, share_frames
from lsql_runner.compile.sink_rows import row_records
from lsql_runner.compile.ticks import advance
from lsql_runner.engine.emission import output_mode, tune_emission
from lsql_runner.engine.progress import batch_ended
from lsql_runner.engine.rows import Headers, Rows, TopicRecord, as_bytes, headers_of
from lsql_runner.events.event_clock import EventClock
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.plan.clocks import QueryClock, clock_of
from lsql_runner.plan.queries import Plan, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRecord:
    """A record that a plan wrote."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers
    batch: int
    """The number of the batch, from 0."""


class MemoryQueries:
    """The queries of a plan, with one memory stream for each query."""

    def __init__(
        self, session: SparkSession, context: OutputContext, on_executed: Callable[[str], None] | None
    ) -> None:
        self._session = session
        self._context = context
        self._on_executed = on_executed
        self._rows = Rows(session)
        self._queries: list[_MemoryQuery] = []
        self._written: list[OutputRecord] = []

    def start(self, plan: Plan, checkpoints: Path, already_read: Sequence[Sequence[TopicRecord]] = ()) -> None:
        for query in plan.queries:
            stream = self._rows.stream()
            for batch in already_read:  # the offsets in a checkpoint are numbers of batches
                stream.addData(self._rows.sequence(batch))
            self._queries.append(self._start(query, stream, checkpoints / query.name))

    def restart(self, plan: Plan, checkpoints: Path) -> None:
        self.stop()
        self._queries = [
            self._start(query, ended.stream, checkpoints / query.name, ended.times)
            for query, ended in zip(plan.queries, self._queries, strict=True)
        ]

    def _start(
        self, query: Query, stream: JavaObject, checkpoint: Path, times: EventClock | None = None
    ) -> _MemoryQuery:
        collected: list[Any] = []
        failed: list[Exception] = []

        def collect(frame: DataFrame, _: int) -> None:
            try:
                collected.extend(frame.collect())
            except Exception as error:
                failed.append(error)  # the JVM passes only its text on
                raise

        tune_emission(self._session, query)
        read = share_frames(of_topic(self._rows.streamed(stream)))
        write = query.sink_write
        records = compile_query(query, read, self._context) if write is None else row_records(write, read)
        writer = records.writeStream.queryName(query.name).outputMode(output_mode(query))
        streaming = writer.option("checkpointLocation", str(checkpoint)).foreachBatch(collect).start()
        clock = clock_of(query)
        return _MemoryQuery(
            stream=stream,
            streaming=streaming,
            collected=collected,
            failed=failed,
            clock=clock,
            times=times or EventClock(topics={} if clock is None else clock.topics),
        )

    def read(self, number: int, batch: Sequence[TopicRecord]) -> Exception | None:
        """Let every query read a batch; the exception of the first query that fails."""
        rows = self._rows.sequence(batch)
        for query in self._queries:
            query.stream.addData(rows)
        return self._process(number) or self.advance_time(number, 0)

    def advance_time(self, number: int, idle_ms: int) -> Exception | None:
        """Advance the event time after a batch; the exception of the first query that fails."""
        advanced = [query.advance_clock(idle_ms) for query in self._queries]
        return self._process(number) if any(advanced) else None

    def _process(self, number: int) -> Exception | None:
        cause: Exception | None = None
        for query in self._queries:
            try:
                query.streaming.processAllAvailable()
            except StreamingQueryException as error:
                cause = cause or next(iter(query.failed), error)
        for query in self._queries:
            self._written += [_output(row, number) for row in query.collected]
            query.collected.clear()
        return cause

    def written(self) -> tuple[OutputRecord, ...]:
        return tuple(self._written)

    def stop(self) -> None:
        for query in self._queries:
            query.streaming.stop()
            if self._on_executed is not None:
                self._on_executed(str(query.streaming._jsq.explainInternal(False)))


@dataclass(slots=True, kw_only=True)
class _MemoryQuery:
    stream: JavaObject
    streaming: StreamingQuery
    collected: list[Any] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)
    """Exceptions of collecting a batch."""
    clock: QueryClock | None = None
    times: EventClock

    def advance_clock(self, idle_ms: int) -> bool:
        """Advance the event time of the inputs without new records. Returns whether it has been advanced.

        Args:
            idle_ms: how long no input has had records.
        """
        if self.clock is None:
            return False
        for report in self.streaming.recentProgress:
            ended = batch_ended(json.loads(report.json), ())
            self.times = self.times if ended is None else self.times.after(ended)
        time_ms, least_ms = self.times.time_ms(idle_ms), self.times.least_ms or 0
        if time_ms is None or time_ms - least_ms < (1 if idle_ms else self.clock.pace_ms):
            return False
        advance(self.clock.name, time_ms)
        return True


def of_topic(records: DataFrame) -> Reader:
    """A reader of the records of one topic among records of all topics."""

    def read(schema: TopicSchema) -> DataFrame:
        return records.where(F.col("topic") == F.lit(schema.topic))

    return read


def _output(row: Any, batch: int) -> OutputRecord:
    key, value = as_bytes(row["key"]), as_bytes(row["value"])
    return OutputRecord(
        topic=row["topic"], key=key, value=value, timestamp_ms=row["ts"], headers=headers_of(row), batch=batch
    )
