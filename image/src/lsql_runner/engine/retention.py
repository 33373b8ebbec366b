"""How many batches a checkpoint keeps: ten minutes, within bounds of batches, files and bytes (decision 0029).

A restart needs the last batch only. The earlier ones keep a copy of the volume complete that takes minutes to make.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from lsql_runner.engine.port import Job
from lsql_runner.plan.queries import Query
from lsql_runner.plan.stores import query_stores
from lsql_runner.state.folder import StateFolder
from lsql_runner.state.offset_log import batch_count

KEPT_MS = 600_000
LEAST_BATCHES = 100
"""Spark's default."""
MOST_BATCHES = 300
"""Spark lists both logs of a checkpoint in each batch, which costs processor time for each entry."""
MOST_FILES = 8_000
"""Of a query. A file takes at least 4 KiB of the volume."""
MOST_BYTES = 64 << 20
"""Of a query. The default volume has 1 GiB."""

_LOGS = 2
"""The files of a batch in the offset log and in the commit log."""

_STORE_FILES = 2
"""The files of a batch in a partition of a state store: the changes and their checksum."""


def kept_batches(pace_ms: int, files_per_batch: int, bytes_per_batch: int) -> int:
    """The number of batches that the checkpoint of a query keeps.

    Args:
        pace_ms: the least time between two batches.
        files_per_batch: the files that a batch adds.
        bytes_per_batch: bytes that a batch adds, and its share of the snapshots.
    """
    bounds = (
        KEPT_MS // max(1, pace_ms),
        MOST_FILES // files_per_batch,
        MOST_BYTES // max(1, bytes_per_batch),
        MOST_BATCHES,
    )
    return max(LEAST_BATCHES, min(bounds))


def kept_by(query: Query, checkpoint: StateFolder, pace_ms: int, state_partitions: int) -> int:
    """The number of batches that the checkpoint of a query keeps from now on.

    The size of a batch depends on the load, so it is measured in the checkpoint when the query starts. A query with
    state that is new keeps the least number: its first batches may have the records of days.
    """
    files = _LOGS + _STORE_FILES * len(query_stores(query)) * state_partitions
    batches = batch_count(checkpoint)
    if query.stateful and batches < LEAST_BATCHES:
        return LEAST_BATCHES
    size = sum(checkpoint.all_files().values()) if query.stateful else 0
    return kept_batches(pace_ms, files, size // max(1, batches))


def tune_retention(session: SparkSession, query: Query, job: Job) -> None:
    """Set for the next query that starts: how many batches its checkpoint keeps."""
    pace_ms = job.source.pace_ms.get(query.name, 0)
    kept = kept_by(query, job.checkpoints / query.name, pace_ms, job.state_partitions)
    session.conf.set("spark.sql.streaming.minBatchesToRetain", str(kept))
