"""The in-memory engine runs a plan on given records, without brokers: the same queries, one micro-batch at a time.

Each query reads one memory stream with the records of all topics, so that all its sources read a batch at once.
Everything except the source is the same as in production: compiled plan, state stores, watermarks, checkpoints.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lsql_runner.compile.codecs.avro import REGISTRY, register_schemas
from lsql_runner.compile.dead_letters import OutputContext
from lsql_runner.compile.nodes import Reader
from lsql_runner.compile.ticks import reset
from lsql_runner.engine.in_memory.queries import MemoryQueries, OutputRecord, of_topic
from lsql_runner.engine.locate import OffsetRange
from lsql_runner.engine.record_error import RangeReader, record_error
from lsql_runner.engine.rows import Rows, TopicRecord
from lsql_runner.engine.session import SessionOptions, forget_jvm, open_session
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.jvm.failures import OF_A_RECORD, classify, query_error
from lsql_runner.jvm.spark_jvm import SparkJvm
from lsql_runner.plan.queries import Plan

_POLLING_MS = 5
"""Every batch waits for this interval; polling a stream in memory costs nothing."""


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
        small_batches: see SessionOptions.

    Raises:
        LsqlError: JVM_GONE when the session is first used.
    """

    def __init__(
        self, jvm: SparkJvm, on_executed: Callable[[str], None] | None = None, small_batches: bool = False
    ) -> None:
        self._jvm = jvm
        self._small_batches = small_batches
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
            self._session = open_session(
                SessionOptions(
                    app_id="memory",
                    scratch=self._jvm.scratch,
                    threads=1,
                    polling_ms=_POLLING_MS,
                    small_batches=self._small_batches,
                )
            )
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
        GROUP_TOO_LARGE, FUNCTION_UNUSABLE or QUERY_FAILED.

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
            running = MemoryQueries(self.session, context, self._on_executed)
            register_schemas(REGISTRY, schemas or {})
            reset()
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
                return MemoryRun((), query_error(classify(error)))
            finally:
                running.stop()

    def reader(self, records: Sequence[TopicRecord]) -> Reader:
        """A reader of the records as one batch."""
        return of_topic(Rows(self.session).frame(records))

    def _error(self, plan: Plan, cause: Exception, records: Sequence[TopicRecord], context: OutputContext) -> LsqlError:
        """The error that `SparkEngine.death` reports for the same cause."""
        failure = classify(cause)
        if failure.kind not in OF_A_RECORD:
            return query_error(failure)
        error = record_error(plan, _ranges(records), _range_reader(self.session, records), context)
        return error or LsqlError("QUERY_FAILED", reason=failure.reason)

    def close(self) -> None:
        """End JVM, session and temporary files."""
        # An orderly end takes half a second, and would only delete files that are in the scratch folder.
        self._jvm.kill()
        if self._session is not None:
            forget_jvm()


def _ranges(records: Iterable[TopicRecord]) -> dict[Partition, OffsetRange]:
    ranges: dict[Partition, OffsetRange] = {}
    for record in records:
        partition = Partition(record.topic, record.partition)
        start, end = ranges.get(partition, (record.offset, record.offset + 1))
        ranges[partition] = (min(start, record.offset), max(end, record.offset + 1))
    return ranges


def _range_reader(session: SparkSession, records: Sequence[TopicRecord]) -> RangeReader:
    def reader(ranges: Mapping[Partition, OffsetRange]) -> Reader:
        inside = [
            record
            for record in records
            if (offsets := ranges.get(Partition(record.topic, record.partition)))
            and offsets[0] <= record.offset < offsets[1]
        ]
        return of_topic(Rows(session).frame(inside))

    return reader
