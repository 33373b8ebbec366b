"""Runs a plan on records in memory: the same queries as on Kafka, one micro-batch at a time, without brokers.

Each query reads one memory stream with the records of all topics, so that all its sources read a batch at once.
Everything except the source is the same as in production: compiled plan, state stores, watermarks, checkpoints.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from lsql_runner.engine.codecs.avro import REGISTRY, register_schemas
from lsql_runner.engine.compile import compile_query, shared
from lsql_runner.engine.dead_letters import OutputContext
from lsql_runner.engine.emission import output_mode, tune_emission
from lsql_runner.engine.failures import classify
from lsql_runner.engine.locate import Span
from lsql_runner.engine.nodes import Reader
from lsql_runner.engine.progress import event_time_ms
from lsql_runner.engine.record_error import RangeReader, record_error
from lsql_runner.engine.rows import Headers, Rows, TopicRecord, as_bytes, headers_of
from lsql_runner.engine.session import SessionOptions, forget_jvm, open_session
from lsql_runner.engine.sink_rows import row_records
from lsql_runner.engine.ticks import advance, reset
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.plan.queries import Plan, Query

_POLLING_MS = 5
"""Every batch waits for this interval; polling a stream in memory costs nothing."""


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """A record that a plan wrote."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers
    batch: int
    """The number of the batch, from 0."""


@dataclass(frozen=True, slots=True)
class MemoryRun:
    """The result of a run."""

    records: tuple[OutputRecord, ...]
    """By batch, then by query in the plan's order."""
    error: LsqlError | None = None
    """The error that ended the run."""


class MemoryEngine:
    """Runs plans, one at a time, in one session.

    Args:
        jvm: the engine uses it alone, and ends it when the engine is closed.
        on_executed: called when a query stops, with its physical plan as Spark prints it.

    Raises:
        LsqlError: JVM_GONE when the session is first used.
    """

    def __init__(self, jvm: SparkJvm, on_executed: Callable[[str], None] | None = None) -> None:
        self._jvm = jvm
        self._on_executed = on_executed
        self._session: SparkSession | None = None

    def __enter__(self) -> MemoryEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def session(self) -> SparkSession:
        """The session. It is opened at the first use."""
        if self._session is None:
            self._jvm.connect()
            self._session = open_session(SessionOptions("memory", self._jvm.scratch, threads=1, polling_ms=_POLLING_MS))
        return self._session

    def run(
        self,
        plan: Plan,
        batches: Sequence[Sequence[TopicRecord]],
        schemas: Mapping[int, str] | None = None,
        restarts: Collection[int] = (),
        idle_ms: Mapping[int, int] | None = None,
        compacted: Collection[str] = (),
        checkpoints: Path | None = None,
        already_read: Sequence[Sequence[TopicRecord]] = (),
    ) -> MemoryRun:
        """Run a plan over micro-batches. All queries finish a batch before the next one is added.

        A record that the program cannot process ends the run: `error` is RECORD_MALFORMED, RECORD_REFUSED,
        GROUP_TOO_LARGE or QUERY_FAILED.

        Args:
            plan: with the ids of its output schemas.
            batches: the records in their order.
            schemas: schemas by id, in place of a schema registry: JSON of Avro, or the text of a `.proto` file.
            restarts: the numbers of batches, from 0, after which all queries restart from their checkpoints.
            idle_ms: by the number of a batch: how long no record arrives after it.
            compacted: target topics that accept no record without a key.
            checkpoints: the folder with one checkpoint per query; by default a temporary folder.
            already_read: the batches that the existing checkpoints have read.
        """
        with tempfile.TemporaryDirectory(dir=self._jvm.scratch) as scratch:
            folder = checkpoints or Path(scratch)
            context, pauses = OutputContext(compacted=frozenset(compacted)), idle_ms or {}
            running = _RunningQueries(self.session, context, self._on_executed)
            register_schemas(REGISTRY, schemas or {})
            reset(self.session)
            try:
                running.start(plan, folder, already_read)
                for number, batch in enumerate(batches):
                    cause = running.read(number, batch)
                    if cause is None and number in pauses:
                        cause = running.advance_time(number, pauses[number])
                    if cause is not None:
                        read = [record for earlier in batches[: number + 1] for record in earlier]
                        return MemoryRun(running.written(), self._error(plan, cause, read, context))
                    if number in restarts:
                        running.restart(plan, folder)
                return MemoryRun(running.written())
            except (PySparkException, Py4JError) as error:
                return MemoryRun((), LsqlError("QUERY_FAILED", reason=classify(error).reason))
            finally:
                running.stop()

    def reader(self, records: Sequence[TopicRecord]) -> Reader:
        """A reader of the records as one batch."""
        return _of_topic(Rows(self.session).frame(records))

    def _error(self, plan: Plan, cause: Exception, records: Sequence[TopicRecord], context: OutputContext) -> LsqlError:
        """The error that `SparkEngine.death` reports for the same cause."""
        failure = classify(cause)
        if failure.kind == "too-large":
            return LsqlError("GROUP_TOO_LARGE", reason=failure.reason)
        error = record_error(plan, _ranges(records), _range_reader(self.session, records), context)
        if failure.kind == "passing" or error is None:
            return LsqlError("QUERY_FAILED", reason=failure.reason)
        return error

    def close(self) -> None:
        """End session, JVM and temporary files."""
        if self._session is not None:
            with suppress(Exception):  # the JVM may have ended
                self._session.stop()
            forget_jvm()
        self._jvm.kill()  # an orderly end would only delete files that are in its scratch folder


class _RunningQueries:
    """The queries of a plan, with one memory stream for each query."""

    def __init__(
        self, session: SparkSession, context: OutputContext, on_executed: Callable[[str], None] | None
    ) -> None:
        self._session = session
        self._context = context
        self._on_executed = on_executed
        self._rows = Rows(session)
        self._queries: list[_RunningQuery] = []
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
            self._start(query, ended.stream, checkpoints / query.name)
            for query, ended in zip(plan.queries, self._queries, strict=True)
        ]

    def _start(self, query: Query, stream: JavaObject, checkpoint: Path) -> _RunningQuery:
        collected: list[Any] = []
        failed: list[Exception] = []

        def collect(frame: DataFrame, _: int) -> None:
            try:
                collected.extend(frame.collect())
            except Exception as error:
                failed.append(error)  # the JVM passes only its text on
                raise

        tune_emission(self._session, query)
        read = shared(_of_topic(self._rows.streamed(stream)))
        write = query.sink_write
        records = compile_query(query, read, self._context) if write is None else row_records(write, read)
        writer = records.writeStream.queryName(query.name).outputMode(output_mode(query))
        streaming = writer.option("checkpointLocation", str(checkpoint)).foreachBatch(collect).start()
        clocks = tuple(node.store for node in query.final_groups)
        return _RunningQuery(stream, streaming, collected, failed, clocks)

    def read(self, number: int, batch: Sequence[TopicRecord]) -> Exception | None:
        """Let every query read a batch; the exception of the first query that fails."""
        rows = self._rows.sequence(batch)
        for query in self._queries:
            query.stream.addData(rows)
        return self._process(number)

    def advance_time(self, number: int, idle_ms: int) -> Exception | None:
        """Advance the event time after a batch; the exception of the first query that fails."""
        for query in self._queries:
            newest = query.newest_ms()
            for clock in query.clocks:
                advance(self._session, clock, newest + idle_ms)
        return self._process(number)

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


@dataclass(frozen=True, slots=True)
class _RunningQuery:
    stream: JavaObject
    streaming: StreamingQuery
    collected: list[Any] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)
    """Exceptions of collecting a batch."""
    clocks: tuple[str, ...] = ()
    """The clocks of stores with final results."""

    def newest_ms(self) -> int:
        """The newest event time so far, in milliseconds since 1970 UTC."""
        times = [event_time_ms(progress.eventTime.get("max")) for progress in self.streaming.recentProgress]
        return max((time for time in times if time is not None), default=0)


def _of_topic(records: DataFrame) -> Reader:
    def read(schema: TopicSchema) -> DataFrame:
        return records.where(F.col("topic") == F.lit(schema.topic))

    return read


def _output(row: Any, batch: int) -> OutputRecord:
    key, value = as_bytes(row["key"]), as_bytes(row["value"])
    return OutputRecord(row["topic"], key, value, row["ts"], headers_of(row), batch)


def _ranges(records: Iterable[TopicRecord]) -> dict[Partition, Span]:
    found: dict[Partition, Span] = {}
    for record in records:
        partition = Partition(record.topic, record.partition)
        start, end = found.get(partition, (record.offset, record.offset + 1))
        found[partition] = (min(start, record.offset), max(end, record.offset + 1))
    return found


def _range_reader(session: SparkSession, records: Sequence[TopicRecord]) -> RangeReader:
    def reader(ranges: Mapping[Partition, Span]) -> Reader:
        inside = [
            record
            for record in records
            if (span := ranges.get(Partition(record.topic, record.partition))) and span[0] <= record.offset < span[1]
        ]
        return _of_topic(Rows(session).frame(inside))

    return reader
