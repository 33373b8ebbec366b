"""The memory of state stores, and the program's settings of them (SET `rocksdb.*`), as settings of Spark."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import SparkSession

from lsql_runner.container.budget import StoreMemory

_PREFIX = "spark.sql.streaming.stateStore.rocksdb."

SPARK_OPTIONS: dict[str, tuple[str, int]] = {
    "rocksdb.table.block.size": ("blockSizeKB", 1 << 10),
    "rocksdb.table.block.cache.size": ("blockCacheSizeMB", 1 << 20),
    "rocksdb.write.buffer.size": ("writeBufferSizeMB", 1 << 20),
    "rocksdb.max.write.buffer": ("maxWriteBufferNumber", 1),
    "rocksdb.files.opened.max": ("maxOpenFiles", 1),
}
"""By key of the language: Spark's name, and the number of our units in one of Spark's."""


def tune_state(session: SparkSession, settings: Iterable[tuple[str, int]], memory: StoreMemory | None) -> None:
    """Set the options of state stores for queries that start later. Keys that are not set get Spark's defaults.

    Each store has a cache of its own. In a cache that all stores share (Spark's `boundedMemoryUsage`), the filters and
    indexes of files are cached as well, and do not fit for a large store: each read of a key would load them.

    Args:
        session: of the queries.
        settings: values by key of the language.
        memory: of each store, unless the settings have it; None for Spark's defaults.
    """
    values = {} if memory is None else _sizes(memory)
    values |= dict(settings)
    for key, (name, unit) in SPARK_OPTIONS.items():
        _set_option(session, name, values[key] // unit if key in values else None)


def _sizes(memory: StoreMemory) -> dict[str, int]:
    return {
        "rocksdb.table.block.cache.size": memory.cache_mib << 20,
        "rocksdb.write.buffer.size": memory.write_buffer_mib << 20,
        "rocksdb.max.write.buffer": memory.write_buffers,
    }


def _set_option(session: SparkSession, name: str, value: object | None) -> None:
    if value is None:
        session.conf.unset(_PREFIX + name)
    else:
        session.conf.set(_PREFIX + name, str(value))
