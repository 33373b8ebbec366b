"""Runs the queries of a plan on some records before they are needed, and throws their results away.

A first batch takes seconds in a new JVM: it loads classes, and generates and compiles code. A standby does this while
another process runs the program.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lsql_runner.compile.queries import compile_query, share_frames
from lsql_runner.compile.sink_rows import sink_rows
from lsql_runner.engine.emission import output_mode, tune_emission
from lsql_runner.engine.port import Job
from lsql_runner.engine.source import stream_reader
from lsql_runner.engine.topic_writer import output_context
from lsql_runner.plan.queries import Query

_POLL_S = 0.05
_PREFIX = "standby-"
_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_OF_FILES = "org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager"
"""What Spark uses for files. The session may have a manager for its own store, which cannot write to the disk."""


def warm_up(session: SparkSession, job: Job, checkpoints: Path, goes_on: Callable[[], bool]) -> None:
    """Run a batch of each query with start offsets. Its state is in new checkpoints, and it opens no transaction.

    Args:
        session: the session.
        job: its queries begin at records that exist. A record that fails ends the warm-up of its query.
        checkpoints: a folder for temporary files.
        goes_on: whether there is time left.
    """
    with checkpoints_on_disk(session):
        for query in job.plan.queries:
            if query.name in job.source.start_offsets and goes_on():
                with suppress(Exception):  # the start reports what is wrong
                    _run(session, query, job, checkpoints, goes_on)


@contextmanager
def checkpoints_on_disk(session: SparkSession) -> Iterator[None]:
    """Let queries that start in the block have their checkpoints on the disk, also in a session for a store."""
    session.conf.set(_MANAGER, _OF_FILES)
    try:
        yield
    finally:
        session.conf.unset(_MANAGER)


def _run(session: SparkSession, query: Query, job: Job, checkpoints: Path, goes_on: Callable[[], bool]) -> None:
    tune_emission(session, query)
    name = f"{_PREFIX}{query.name}"
    streaming = (
        _rows(session, query, job, name)
        .writeStream.queryName(name)
        .outputMode(output_mode(query))
        .option("checkpointLocation", str(checkpoints / query.name))
        .format("noop")
        .start()
    )
    try:
        while streaming.isActive and streaming.lastProgress is None and goes_on():
            time.sleep(_POLL_S)
    finally:
        streaming.stop()


def _rows(session: SparkSession, query: Query, job: Job, name: str) -> DataFrame:
    starts = {name: job.source.start_offsets[query.name]}
    source = replace(job.source, start_offsets=starts, pace_ms={}, continue_on_data_loss=True, marking=None)
    reader = stream_reader(session, source, query, name)
    write = query.sink_write
    if write is not None:
        return sink_rows(write, share_frames(reader))
    return compile_query(query, reader, output_context(job.output))
