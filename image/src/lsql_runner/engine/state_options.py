"""The program's settings of state stores (SET `rocksdb.*`) as settings of Spark."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import SparkSession

_PREFIX = "spark.sql.streaming.stateStore.rocksdb."

SPARK_OPTIONS: dict[str, tuple[str, int]] = {
    "rocksdb.table.block.size": ("blockSizeKB", 1 << 10),
    "rocksdb.table.block.cache.size": ("blockCacheSizeMB", 1 << 20),
    "rocksdb.write.buffer.size": ("writeBufferSizeMB", 1 << 20),
    "rocksdb.max.write.buffer": ("maxWriteBufferNumber", 1),
    "rocksdb.files.opened.max": ("maxOpenFiles", 1),
}
"""By key of the language: Spark's name, and the number of our units in one of Spark's."""


def tune_state(session: SparkSession, settings: Iterable[tuple[str, int]]) -> None:
    """Set the options of state stores for queries that start later. Keys that are not set get Spark's defaults."""
    values = dict(settings)
    for key, (name, unit) in SPARK_OPTIONS.items():
        if key in values:
            session.conf.set(_PREFIX + name, str(values[key] // unit))
        else:
            session.conf.unset(_PREFIX + name)
