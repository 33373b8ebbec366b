"""A plan on rows in memory: the same queries as on Kafka, one micro-batch at a time, without brokers.

Each query reads one memory stream that holds the records of all topics, so that a batch reaches all of
its sources at once. Everything behind the source is what runs in production: compiled plan, state
stores, watermarks, checkpoints.
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

from lsql_runner.engine.avro import REGISTRY, give_schemas
from lsql_runner.engine.compile import Reader, compile_query, shared
from lsql_runner.engine.culprit import RangeReader, record_error
from lsql_runner.engine.dead_letters import Outlet
from lsql_runner.engine.emission import output_mode, tune_emission
from lsql_runner.engine.failures import classify
from lsql_runner.engine.locate import Span
from lsql_runner.engine.progress import event_time_ms
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
"""A stream in memory is asked at no cost, and every batch waits for it."""


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """A record that a plan wrote. `batch` counts from 0."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers
    batch: int


@dataclass(frozen=True, slots=True)
class MemoryRun:
    """What a plan wrote: batch by batch, in each the queries in the plan's order. `error` is what it died of."""

    records: tuple[OutputRecord, ...]
    error: LsqlError | None = None


class MemoryEngine:
    """One session for any number of runs, one at a time, in a JVM that is its own from now on.

    Args:
        jvm: ends when the engine is closed.
        on_executed: is called with the physical plan of each query of a run, as Spark prints it, when the query stops.

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
        """The session, opened now if it is not yet."""
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
        keyed: Collection[str] = (),
        checkpoints: Path | None = None,
        already_read: Sequence[Sequence[TopicRecord]] = (),
    ) -> MemoryRun:
        """Run a plan over micro-batches, each read as a whole before the next.

        A record that the program fails on ends the run: `error` is RECORD_MALFORMED, RECORD_REFUSED, GROUP_TOO_LARGE
        or QUERY_FAILED.

        Args:
            plan: with the ids of the schemas that it writes in AVRO.
            batches: each in the order of its records.
            schemas: by id, those that records in AVRO may name, in place of a schema registry.
            restarts: behind these batches, counted from 0, all queries end and go on from their checkpoints.
            idle_ms: behind these batches no record comes for so long.
            keyed: targets that take no record without a key.
            checkpoints: where the queries keep their checkpoints, each in a folder with its name; None for a folder
                that goes with the run.
            already_read: the batches that the checkpoints there have read.
        """
        with tempfile.TemporaryDirectory(dir=self._jvm.scratch) as scratch:
            folder = checkpoints or Path(scratch)
            outlet, pauses = Outlet(keyed=frozenset(keyed)), idle_ms or {}
            running = _Running(self.session, outlet, self._on_executed)
            give_schemas(REGISTRY, schemas or {})
            reset(self.session)
            try:
                running.start(plan, folder, already_read)
                for number, batch in enumerate(batches):
                    cause = running.feed(number, batch)
                    if cause is None and number in pauses:
                        cause = running.pass_time(number, pauses[number])
                    if cause is not None:
                        read = [record for earlier in batches[: number + 1] for record in earlier]
                        return MemoryRun(running.written(), self._death(plan, str(cause), read, outlet))
                    if number in restarts:
                        running.restart(plan, folder)
                return MemoryRun(running.written())
            except (PySparkException, Py4JError) as error:
                return MemoryRun((), LsqlError("QUERY_FAILED", reason=classify(str(error)).reason))
            finally:
                running.stop()

    def reader(self, records: Sequence[TopicRecord]) -> Reader:
        """Reads the records as one batch."""
        return _of_topic(Rows(self.session).frame(records))

    def _death(self, plan: Plan, cause: str, records: Sequence[TopicRecord], outlet: Outlet) -> LsqlError:
        """What production says of the same death: the record, found by running ranges again."""
        failure = classify(cause)
        if failure.kind == "too-large":
            return LsqlError("GROUP_TOO_LARGE", reason=failure.reason)
        error = record_error(plan, _ranges(records), _range_reader(self.session, records), outlet)
        if failure.kind == "passing" or error is None:
            return LsqlError("QUERY_FAILED", reason=failure.reason)
        return error

    def close(self) -> None:
        """End session, JVM and temporary files."""
        if self._session is not None:
            with suppress(Exception):  # a JVM that died has nothing left to end
                self._session.stop()
            forget_jvm()
        self._jvm.kill()  # what it would tidy up goes with its scratch folder


class _Running:
    """The queries of a plan, each over a stream of its own."""

    def __init__(self, session: SparkSession, outlet: Outlet, on_executed: Callable[[str], None] | None) -> None:
        self._session = session
        self._outlet = outlet
        self._on_executed = on_executed
        self._rows = Rows(session)
        self._queries: list[_RunningQuery] = []
        self._written: list[OutputRecord] = []

    def start(self, plan: Plan, checkpoints: Path, already_read: Sequence[Sequence[TopicRecord]] = ()) -> None:
        for query in plan.queries:
            stream = self._rows.stream()
            for batch in already_read:  # the stream counts its batches: these are the offsets in a checkpoint
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

        def collect(frame: DataFrame, _: int) -> None:
            collected.extend(frame.collect())

        tune_emission(self._session, query)
        read = shared(_of_topic(self._rows.streamed(stream)))
        sink = query.row_sink
        records = compile_query(query, read, self._outlet) if sink is None else row_records(sink, read)
        writer = records.writeStream.queryName(query.name).outputMode(output_mode(query))
        streaming = writer.option("checkpointLocation", str(checkpoint)).foreachBatch(collect).start()
        clocks = tuple(node.store for node in query.final_groups)
        return _RunningQuery(stream, streaming, collected, clocks)

    def feed(self, number: int, batch: Sequence[TopicRecord]) -> StreamingQueryException | None:
        """Let every query read a batch; what the first that died of it says."""
        rows = self._rows.sequence(batch)
        for query in self._queries:
            query.stream.addData(rows)
        return self._read(number)

    def pass_time(self, number: int, idle_ms: int) -> StreamingQueryException | None:
        """Let every query see that time goes on behind a batch; what the first that died of it says."""
        for query in self._queries:
            newest = query.newest_ms()
            for clock in query.clocks:
                advance(self._session, clock, newest + idle_ms)
        return self._read(number)

    def _read(self, number: int) -> StreamingQueryException | None:
        cause: StreamingQueryException | None = None
        for query in self._queries:
            try:
                query.streaming.processAllAvailable()
            except StreamingQueryException as error:
                cause = cause or error
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
    clocks: tuple[str, ...] = ()
    """Of stores with final results."""

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
