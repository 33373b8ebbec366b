"""A query that processes each record when it arrives. Its tasks run until it is stopped.

In Java it is `topic.ContinuousQuery`. A thread saves the progress: positions whose records the brokers have
acknowledged. Each saved progress has the number of a batch, and is in the logs of the checkpoint as if a batch had
ended.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace
from threading import Event as Flag
from threading import Thread
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lsql_runner.compile.nodes import Reader
from lsql_runner.compile.queries import compile_with_errors
from lsql_runner.engine.port import Job, qualified_name
from lsql_runner.engine.progress import failure_counts
from lsql_runner.engine.retention import kept_entries
from lsql_runner.engine.run_all import run_all
from lsql_runner.engine.session import CONTINUOUS_TASKS
from lsql_runner.engine.source import continuous_settings
from lsql_runner.engine.topic_output import open_output
from lsql_runner.engine.topic_writer import continuous_writer_options, output_context
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import BatchEnded, Partition
from lsql_runner.formats.catalog import TopicSchema
from lsql_runner.jvm.call import java_class
from lsql_runner.jvm.java_entries import CONTINUOUS_QUERY, TOPIC_SINK, TOPIC_SOURCE
from lsql_runner.jvm.java_error import JavaErrors
from lsql_runner.jvm.java_errors import errors_of
from lsql_runner.plan.queries import Query
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import (
    append_committed,
    delete_old_batches,
    first_batch,
    next_batch_id,
    run_id,
)

SAVE_S = 1.0
"""How often progress is saved. After a kill, at most the records of this time are written again."""

_CANCEL_MS = 10_000
"""The time within which canceled tasks have to end."""


class ContinuousQuery:
    """A running query. The constructor starts it. See `running_query.RunningQuery` for the methods."""

    def __init__(self, spark: SparkSession, query: Query, job: Job) -> None:
        self.name = qualified_name(job.source.app_id, query.name)
        self._log = _ProgressLog(query.name, job)
        self._failure: Exception | None = None
        self._stopped = Flag()
        run = run_id(job.checkpoints / query.name)
        options = continuous_writer_options(query.name, job.output, run, self._log.batch_id)
        self._output = open_output(query, job, options, spark.sparkContext.defaultParallelism)
        self._java = java_class(CONTINUOUS_QUERY).open(self.name)
        try:
            context = replace(output_context(job.output), run=run)
            records = compile_with_errors(query, self._reader(spark, query, job), context)
            self._java.start(records._jdf, TOPIC_SINK, options)
        except (Py4JError, PySparkException) as error:  # `death` reports it, as an error of a batch
            self._failure = error
        self._saver = Thread(target=self._save_until_stopped, name=f"save {query.name}", daemon=True)
        self._saver.start()

    def _reader(self, spark: SparkSession, query: Query, job: Job) -> Reader:
        # All tasks of the query run at the same time.
        tasks = min(spark.sparkContext.defaultParallelism, CONTINUOUS_TASKS // query.read_count)

        def read(schema: TopicSchema) -> DataFrame:
            settings = continuous_settings(schema.topic, job.source, query.name)
            source = self._log.add_source(schema.topic)
            self._java.addTopic(schema.topic, settings, str(source), self._log.position(schema.topic), tasks)
            reader = spark.read.format(TOPIC_SOURCE).options(**settings)
            return reader.options(continuous=self.name).load()

        return read

    def _save_until_stopped(self) -> None:
        while not self._stopped.wait(SAVE_S) and self._failure is None:
            self._save()

    def _save(self) -> None:
        try:
            progress = self._java.progress(self._log.batch_id)
            if progress is not None:
                self._log.save(json.loads(progress))
        except Exception as error:  # the JVM has ended, the volume is full: nothing would be saved any more
            self._failure = self._failure or error  # after the first one, `stop` tries once more
            with suppress(Exception):
                self._java.stop()

    def death(self) -> JavaErrors | LsqlError | None:
        if self._failure is not None:
            return self._failure if isinstance(self._failure, LsqlError) else errors_of(self._failure)
        error = self._java.error()
        return None if error is None else errors_of(error)

    def is_replaced(self) -> bool:
        return bool(self._output.isReplaced())

    def transaction_limit_ms(self) -> int:
        return int(self._output.transactionLimitMs())

    def request_stop(self, *, drain: bool) -> None:
        self._java.stop()

    def wait_for_stop(self, deadline_s: float) -> None:
        self._java.awaitEnd(max(0, round((deadline_s - time.monotonic()) * 1000)))

    def stop(self) -> None:
        self._stopped.set()
        run_all([self._cancel, self._saver.join, self._save, self._java.close, self._output.close])

    def _cancel(self) -> None:
        self._java.cancel()
        self._java.awaitEnd(_CANCEL_MS)


class _ProgressLog:
    """The logs of a checkpoint, and the events of its batches."""

    def __init__(self, query: str, job: Job) -> None:
        self._query = query
        self._checkpoint = job.checkpoints / query
        self._on_batch = job.on_batch
        self._kept = kept_entries(job.retention, round(SAVE_S * 1000))
        self._positions = first_batch(self._checkpoint).positions
        self.batch_id = next_batch_id(self._checkpoint)
        self._topics: list[str] = []
        self._saved_at = time.monotonic()
        delete_old_batches(self._checkpoint, self._kept)

    def add_source(self, topic: str) -> StateFolder:
        """Add a topic, in the order in which the query reads its topics; the folder of its first offsets."""
        self._topics.append(topic)
        return self._checkpoint / "sources" / str(len(self._topics) - 1)

    def position(self, topic: str) -> str | None:
        """The JSON of the offsets at which a topic continues; None if it was not read before."""
        offsets = {str(p.partition): offset for p, offset in self._positions.items() if p.topic == topic}
        return json.dumps({topic: offsets}) if offsets else None

    def save(self, progress: dict[str, Any]) -> None:
        """Save positions as a batch that has ended, and emit its event."""
        positions = {
            Partition(topic, int(number)): int(offset)
            for topic, offsets in progress["positions"].items()
            for number, offset in offsets.items()
        }
        if positions == self._positions and not progress["failedRecords"]:
            return  # where the query began
        sources = [{p: offset for p, offset in positions.items() if p.topic == topic} for topic in self._topics]
        append_committed(self._checkpoint, self.batch_id, sources, self._kept)
        self._positions = positions
        now = time.monotonic()
        self._on_batch(
            BatchEnded(
                at_ms=round(time.time() * 1000),
                query=self._query,
                batch_id=self.batch_id,
                records_in=progress["recordsIn"],
                records_out=progress["recordsOut"],
                duration_ms=round((now - self._saved_at) * 1000),
                phases_ms={},
                positions=positions,
                failed_records=tuple(failure_counts(progress["failedRecords"])),
            )
        )
        self._saved_at = now
        self.batch_id += 1
