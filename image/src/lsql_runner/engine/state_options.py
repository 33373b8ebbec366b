"""The memory of state stores, and the program's settings of them (SET `rocksdb.*`), as settings of Spark."""

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

SIZES = ("rocksdb.table.block.cache.size", "rocksdb.write.buffer.size", "rocksdb.max.write.buffer")
"""Settings of the memory of each store. A program that sets one chooses the memory itself, without a common limit."""


def tune_state(session: SparkSession, settings: Iterable[tuple[str, int]], memory_mib: int | None) -> None:
    """Set the options of state stores for queries that start later. Keys that are not set get Spark's defaults.

    Args:
        session: of the queries.
        settings: values by key of the language.
        memory_mib: the memory of caches and write buffers of all stores together; None for no limit.
    """
    values = dict(settings)
    for key, (name, unit) in SPARK_OPTIONS.items():
        _set(session, name, values[key] // unit if key in values else None)
    is_bounded = memory_mib is not None and values.keys().isdisjoint(SIZES)
    _set(session, "boundedMemoryUsage", "true" if is_bounded else None)
    _set(session, "maxMemoryUsageMB", memory_mib if is_bounded else None)


def _set(session: SparkSession, name: str, value: object | None) -> None:
    if value is None:
        session.conf.unset(_PREFIX + name)
    else:
        session.conf.set(_PREFIX + name, str(value))
