"""How many batches a checkpoint keeps: ten minutes within bounds, or as set (decision 0029).

A restart needs the last batch only. The earlier ones keep a copy of the volume complete that takes minutes to make.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from lsql_runner.engine.port import Job, Retention
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
"""Of a query."""

_BLOCK = 4096
"""Bytes that a file takes at least of the volume."""

_LOGS = 2
"""The files of a batch in the offset log and in the commit log."""

_STORE_FILES = 2
"""The files of a batch in a partition of a state store: the changes and their checksum."""


def kept_batches(retention: Retention, pace_ms: int, files_per_batch: int, bytes_per_batch: int) -> int:
    """The number of batches that the checkpoint of a query keeps.

    Args:
        retention: that the user has chosen.
        pace_ms: the least time between two batches.
        files_per_batch: the files that a batch adds.
        bytes_per_batch: bytes that a batch adds, and its share of the snapshots.
    """
    most = retention.max_bytes // max(files_per_batch * _BLOCK, bytes_per_batch)
    if not retention.keep_ms:
        most = min(most, MOST_FILES // files_per_batch, MOST_BATCHES)
    return max(LEAST_BATCHES, min((retention.keep_ms or KEPT_MS) // max(1, pace_ms), most))


def kept_entries(retention: Retention, pace_ms: int) -> int:
    """The number of batches in the logs of a query without state, whose bounds are time and bytes only."""
    return max(1, min((retention.keep_ms or KEPT_MS) // pace_ms, retention.max_bytes // (_LOGS * _BLOCK)))


def kept_by(query: Query, checkpoint: StateFolder, retention: Retention, *, pace_ms: int, state_partitions: int) -> int:
    """The number of batches that the checkpoint of a query keeps from now on.

    The size of a batch depends on the load, so it is measured in the checkpoint when the query starts. A query with
    state that is new keeps the least number: its first batches may have the records of days.
    """
    files = _LOGS + _STORE_FILES * len(query_stores(query)) * state_partitions
    batches = batch_count(checkpoint)
    if query.stateful and batches < LEAST_BATCHES:
        return LEAST_BATCHES
    size = sum(checkpoint.all_files().values()) if query.stateful else 0
    return kept_batches(retention, pace_ms, files, size // max(1, batches))


def tune_retention(session: SparkSession, query: Query, job: Job) -> None:
    """Set for the next query that starts: how many batches its checkpoint keeps."""
    pace_ms = job.source.pace_ms.get(query.name, 0)
    checkpoint = job.checkpoints / query.name
    kept = kept_by(query, checkpoint, job.retention, pace_ms=pace_ms, state_partitions=job.state_partitions)
    session.conf.set("spark.sql.streaming.minBatchesToRetain", str(kept))
