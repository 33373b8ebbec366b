"""Limits of programs, for modules that do not need the binder."""

MAX_PARTITIONS = 256
"""Of state. Each partition has a RocksDB store for each operator, and a file for each batch."""
