"""A plan on rows in memory: the same queries as on Kafka, one micro-batch at a time, without brokers.

Each query reads one memory stream that holds the records of all topics, so that a batch reaches all of
its sources at once. Everything behind the source is what runs in production: compiled plan, state
stores, watermarks, checkpoints.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
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

from lsql_runner.batches import Partition
from lsql_runner.bind.catalog import TopicSchema
from lsql_runner.engine.compile import Reader, compile_query, shared
from lsql_runner.engine.culprit import RangeReader, record_error
from lsql_runner.engine.failures import classify
from lsql_runner.engine.jvm import JvmOptions, SparkJvm
from lsql_runner.engine.locate import Span
from lsql_runner.engine.rows import row_records
from lsql_runner.engine.session import SessionOptions, forget_jvm, open_session
from lsql_runner.errors import LsqlError
from lsql_runner.plan.nodes import Plan, Query

Headers = tuple[tuple[str, bytes | None], ...]

# Short runs: starting and compiling quickly is worth more than running fast in the long run.
_QUICK_JVM = ("-XX:TieredStopAtLevel=1",)

_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset int, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>"
)
"""The columns of Spark's Kafka source, headers included. Its offset is a LONG: Python's bridge makes no small ones."""


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A record as a topic would hold it."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    partition: int = 0
    offset: int = 0
    headers: Headers = ()


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
    """One JVM and one session for any number of runs, one at a time. The JVM starts with the object.

    Raises:
        LsqlError: JAVA_MISSING, JARS_MISSING; JVM_GONE when the session is first used.
    """

    def __init__(self, jars: Path, class_archive: Path | None = None, heap_mib: int = 768) -> None:
        self._jvm = SparkJvm(JvmOptions(jars, heap_mib, java_options=_QUICK_JVM, class_archive=class_archive))
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
            self._session = open_session(SessionOptions("memory", self._jvm.scratch, threads=1))
        return self._session

    def run(self, plan: Plan, batches: Sequence[Sequence[MemoryRecord]]) -> MemoryRun:
        """Run a plan over micro-batches, each read as a whole before the next.

        A record that the program fails on ends the run: `error` is RECORD_MALFORMED, RECORD_REFUSED or QUERY_FAILED.
        """
        with tempfile.TemporaryDirectory(dir=self._jvm.scratch) as checkpoints:
            running = _Running(self.session)
            try:
                running.start(plan, Path(checkpoints))
                for number, batch in enumerate(batches):
                    cause = running.feed(number, batch)
                    if cause is not None:
                        read = [record for earlier in batches[: number + 1] for record in earlier]
                        return MemoryRun(running.written(), self._death(plan, str(cause), read))
                return MemoryRun(running.written())
            except (PySparkException, Py4JError) as error:
                return MemoryRun((), LsqlError("QUERY_FAILED", reason=classify(str(error)).reason))
            finally:
                running.stop()

    def reader(self, records: Sequence[MemoryRecord]) -> Reader:
        """Reads the records as one batch."""
        return _of_topic(_Rows(self.session).frame(records))

    def _death(self, plan: Plan, cause: str, records: Sequence[MemoryRecord]) -> LsqlError:
        """What production says of the same death: the record, found by running ranges again."""
        failure = classify(cause)
        error = record_error(plan, _ranges(records), _range_reader(self.session, records))
        if failure.kind == "passing" or error is None:
            return LsqlError("QUERY_FAILED", reason=failure.reason)
        return error

    def close(self) -> None:
        """End session, JVM and temporary files."""
        if self._session is None:
            self._jvm.kill()
        else:
            with suppress(Exception):  # a JVM that died has nothing left to end
                self._session.stop()
            self._jvm.close()
            forget_jvm()


class _Running:
    """The queries of a plan, each over a stream of its own."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._rows = _Rows(session)
        self._queries: list[_RunningQuery] = []
        self._written: list[OutputRecord] = []

    def start(self, plan: Plan, checkpoints: Path) -> None:
        for query in plan.queries:
            self._queries.append(_start(self._session, query, self._rows.stream(), checkpoints / query.name))

    def feed(self, number: int, batch: Sequence[MemoryRecord]) -> StreamingQueryException | None:
        """Let every query read a batch; what the first that died of it says."""
        rows = self._rows.sequence(batch)
        for query in self._queries:
            query.stream.addData(rows)
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


@dataclass(frozen=True, slots=True)
class _RunningQuery:
    stream: JavaObject
    streaming: StreamingQuery
    collected: list[Any] = field(default_factory=list)


def _start(session: SparkSession, query: Query, stream: JavaObject, checkpoint: Path) -> _RunningQuery:
    source = DataFrame(stream.toDF(), session)
    collected: list[Any] = []

    def collect(frame: DataFrame, _: int) -> None:
        collected.extend(frame.collect())

    read = shared(_of_topic(source))
    sink = query.row_sink
    records = compile_query(query, read) if sink is None else row_records(sink, read)
    writer = records.writeStream.queryName(query.name).outputMode("update")
    streaming = writer.option("checkpointLocation", str(checkpoint)).foreachBatch(collect).start()
    return _RunningQuery(stream, streaming, collected)


def _of_topic(rows: DataFrame) -> Reader:
    records = rows.withColumn("offset", F.col("offset").cast("bigint"))

    def read(schema: TopicSchema) -> DataFrame:
        return records.where(F.col("topic") == F.lit(schema.topic))

    return read


def _output(row: Any, batch: int) -> OutputRecord:
    headers = tuple((header["key"], _bytes(header["value"])) for header in row["headers"] or ())
    return OutputRecord(row["topic"], _bytes(row["key"]), _bytes(row["value"]), row["ts"], headers, batch)


def _bytes(value: bytes | bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)


class _Rows:
    """Records as Spark's rows, made in the JVM: no Spark job is needed for them, which takes seconds the first time."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        jvm: Any = session._jvm
        self._jvm: Any = jvm
        self._gateway: Any = session.sparkContext._gateway
        self._schema: Any = jvm.org.apache.spark.sql.types.StructType.fromDDL(_SCHEMA)

    def stream(self) -> JavaObject:
        """An empty Spark MemoryStream of such rows."""
        module = "org.apache.spark.sql.execution.streaming.runtime.MemoryStream$"
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        companion = self._jvm.java.lang.Class.forName(module, True, loader).getField("MODULE$").get(None)
        encoder = self._jvm.org.apache.spark.sql.Encoders.row(self._schema)
        return companion.apply(encoder, self._session._jsparkSession)

    def sequence(self, records: Iterable[MemoryRecord]) -> JavaObject:
        """The records as a Scala sequence."""
        return self._scala(self._list(self._row(record) for record in records))

    def frame(self, records: Iterable[MemoryRecord]) -> DataFrame:
        """The records as a batch."""
        rows = self._list(self._row(record) for record in records)
        return DataFrame(self._session._jsparkSession.createDataFrame(rows, self._schema), self._session)

    def _row(self, record: MemoryRecord) -> JavaObject:
        headers = self._scala(self._list(self._of(name, value) for name, value in record.headers))
        return self._of(
            record.key,
            record.value,
            record.topic,
            record.partition,
            record.offset,
            self._jvm.java.sql.Timestamp(record.timestamp_ms),
            headers if record.headers else None,
        )

    def _of(self, *values: Any) -> JavaObject:
        cells = self._gateway.new_array(self._jvm.java.lang.Object, len(values))
        for place, value in enumerate(values):
            cells[place] = value
        return self._jvm.org.apache.spark.sql.RowFactory.create(cells)

    def _list(self, items: Iterable[Any]) -> JavaObject:
        found = self._jvm.java.util.ArrayList()
        for item in items:
            found.add(item)
        return found

    def _scala(self, items: JavaObject) -> JavaObject:
        return self._jvm.scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq()


def _ranges(records: Iterable[MemoryRecord]) -> dict[Partition, Span]:
    found: dict[Partition, Span] = {}
    for record in records:
        partition = Partition(record.topic, record.partition)
        start, end = found.get(partition, (record.offset, record.offset + 1))
        found[partition] = (min(start, record.offset), max(end, record.offset + 1))
    return found


def _range_reader(session: SparkSession, records: Sequence[MemoryRecord]) -> RangeReader:
    def reader(ranges: Mapping[Partition, Span]) -> Reader:
        inside = [
            record
            for record in records
            if (span := ranges.get(Partition(record.topic, record.partition))) and span[0] <= record.offset < span[1]
        ]
        return _of_topic(_Rows(session).frame(inside))

    return reader
