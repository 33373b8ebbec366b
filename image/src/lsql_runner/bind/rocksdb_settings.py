"""SET rocksdb.*: memory and files of the state stores."""

from __future__ import annotations

ROCKSDB_KEYS: dict[str, tuple[int, str]] = {
    "rocksdb.table.block.size": (1024, "size of a block in bytes, a multiple of 1024"),
    "rocksdb.table.block.cache.size": (1 << 20, "size of the block cache in bytes, a multiple of 1048576"),
    "rocksdb.write.buffer.size": (1 << 20, "size of a write buffer in bytes, a multiple of 1048576"),
    "rocksdb.max.write.buffer": (1, "maximum number of write buffers"),
    "rocksdb.files.opened.max": (1, "maximum number of open files"),
}
"""By key: the unit that the value must be a multiple of, and the meaning."""

_NO_OPTION = "Spark has no option for it"
_CHECKPOINT = "state is restored from the checkpoint, not from the write-ahead log of RocksDB"

ROCKSDB_IGNORED: dict[str, str] = {
    **dict.fromkeys(
        """rocksdb.table.block.cache.compressed.num.shard.bits rocksdb.table.block.cache.compressed.size
        rocksdb.table.block.cache.num.shard.bits rocksdb.table.block.cache.size.and.filter
        rocksdb.table.block.checksum.type rocksdb.table.block.hash.allow.collision rocksdb.table.block.index.type
        rocksdb.table.block.no.cache rocksdb.table.block.pinned.filter rocksdb.table.block.restart.interval
        rocksdb.table.block.size.deviation rocksdb.table.block.whole.key.filtering rocksdb.total.threads
        rocksdb.background.compaction.max rocksdb.background.flushes.max rocksdb.base.background.compaction
        rocksdb.compaction.auto rocksdb.compaction.level.max rocksdb.compaction.style rocksdb.subcompaction.max
        rocksdb.memtable.concurrent.write rocksdb.os.buffer rocksdb.log.dir rocksdb.log.file.max
        rocksdb.log.file.roll.time""".split(),
        _NO_OPTION,
    ),
    **dict.fromkeys(
        "rocksdb.data.sync rocksdb.fsync rocksdb.wal.dir rocksdb.wal.size.limit rocksdb.wal.ttl".split(),
        _CHECKPOINT,
    ),
}
"""Keys that have no effect, with the reason. They cause a warning."""
