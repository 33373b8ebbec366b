"""The memory budget of a processor: how the memory limit of its container is divided, and the limit that it needs.

The fixed parts were measured in the image (docs/guides/operating.md has the table).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

PartName = Literal["heap", "state_stores", "code_cache", "jvm", "python", "reserve"]
"""`jvm` is the memory of the JVM outside heap, state stores and code cache."""

SMALLEST_HEAP_MIB = 160
"""The smallest heap in which a stateless program runs; Spark refuses to start with less than 150."""
WORKER_JVM_MIB = 128
"""The memory of a worker's own JVM, beside the JVM of its executor."""

CONNECTOR_MIB = 56
"""The memory of the connector to a store with the state, outside the heap: classes, and buffers of the network. In
processors at 10 and 100 records/s it was 52 and 44 MiB."""

_PYTHON_MIB = 104
_JVM_MIB = 208
"""Classes and their archive 86, stacks of 280 threads about 30, memory of the JVM's own code and of the network."""
_CODE_CACHE_MIB = 80
_LIMIT_PER_RESERVE = 32
"""The kernel's own memory for the container gets this fraction of the limit."""
_STATE_STORES_MIB = 48
_DEFAULT_LIMIT_MIB = 768
"""The chart's default limit. The code cache and the state stores get a share of the memory above this limit."""
_UNLIMITED_MIB = 1024
"""The budget of a process without a memory limit."""

_HEAP_FOR_STATE_MIB = 32
_HEAP_PER_QUERY_MIB = 8
"""After a full collection the heap had 54 MiB with one stateless query, 100 with two windowed counts, 110 with six."""
_MIB_PER_STORE = 2
"""Memory of a state store outside its share: files, threads."""
_SMALLEST_SHARE_MIB = 4
"""The smallest share of a state store: RocksDB's sizes are whole MiB."""
_STORES_IN_BUDGET = 4
"""Stores that `_JVM_MIB` includes."""
_LARGEST_BUFFER_MIB = 64
"""A client with more was not faster."""
_STEP_MIB = 16
"""Limits are rounded up to a multiple."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBudget:
    """The parts of a processor's memory, in MiB."""

    heap_mib: int
    """The heap of the JVM, enforced by -Xmx."""
    state_stores_mib: int
    """Caches, write buffers, filters and indexes of all state stores together. RocksDB enforces the size of caches and
    write buffers."""
    code_cache_mib: int
    """Compiled code, enforced by -XX:ReservedCodeCacheSize."""
    jvm_mib: int = _JVM_MIB
    """Other memory of the JVM. No option limits it; it depends on the version of Spark and of the JVM."""
    python_mib: int = _PYTHON_MIB
    """The two Python processes."""
    reserve_mib: int = 0
    """Memory that the kernel uses for the container: page tables, sockets, stacks."""
    limit_mib: int | None = None
    """The limit of the container; None if there is none."""

    @property
    def outside_heap_mib(self) -> int:
        return self.state_stores_mib + self.code_cache_mib + self.jvm_mib + self.python_mib


def budget(limit_mib: int | None, more_jvm_mib: int = 0) -> MemoryBudget:
    """The budget of a processor in a container with a memory limit.

    Args:
        limit_mib: the limit; None if there is none.
        more_jvm_mib: memory outside the heap that not every processor needs: CONNECTOR_MIB if a connector reads and
            writes the state, WORKER_JVM_MIB in a worker.
    """
    limit = _UNLIMITED_MIB if limit_mib is None else limit_mib
    more = max(0, limit - _DEFAULT_LIMIT_MIB)
    empty = MemoryBudget(
        heap_mib=0,
        state_stores_mib=_STATE_STORES_MIB + more // 4,
        code_cache_mib=min(240, _CODE_CACHE_MIB + more // 8),
        jvm_mib=_JVM_MIB + more_jvm_mib,
        reserve_mib=limit // _LIMIT_PER_RESERVE,
        limit_mib=limit_mib,
    )
    heap = limit - empty.outside_heap_mib - empty.reserve_mib
    return replace(empty, heap_mib=max(SMALLEST_HEAP_MIB, heap))


def worker_budget(limit_mib: int | None, connector_mib: int = 0) -> MemoryBudget:
    """The budget of a worker in a container with a memory limit; the heap is its executor's."""
    return budget(limit_mib, WORKER_JVM_MIB + connector_mib)


@dataclass(frozen=True, slots=True)
class StoreMemory:
    """The memory of one state store. Filters and indexes of its files are not in the cache: two bytes for a row."""

    cache_mib: int
    write_buffer_mib: int
    write_buffers: int = 2
    """One is written to a file while the other one is filled."""


def store_memory(state_stores_mib: int, stores: int) -> StoreMemory:
    """A quarter of a store's share for the cache and for each write buffer; the rest is for filters and indexes.

    Args:
        state_stores_mib: the memory of all state stores.
        stores: their number, each counted once for each of its partitions.
    """
    share = max(_SMALLEST_SHARE_MIB, state_stores_mib // max(1, stores))
    return StoreMemory(share // 4, share // 4)


@dataclass(frozen=True, slots=True)
class NetworkBuffers:
    """How much data each client of the brokers holds in the heap, in bytes."""

    fetch_bytes: int
    """The largest answer to a consumer."""
    send_bytes: int
    """The records that a producer has not sent yet."""


def network_buffers(heap_mib: int, consumers: int, producers: int) -> NetworkBuffers:
    """An eighth of the heap for all consumers, and an eighth for all producers. A consumer may have two answers: one
    that it reads, and the next one."""
    share = (heap_mib << 20) // 8

    def each(clients: int) -> int:
        return min(_LARGEST_BUFFER_MIB << 20, max(1 << 20, share // max(1, clients)))

    return NetworkBuffers(each(consumers), each(producers))


def needed_limit_mib(queries: int, stores: int, more_jvm_mib: int = 0, heap_mib: int = 0) -> int:
    """The smallest limit with which a program runs.

    Args:
        queries: the number of streaming queries.
        stores: the number of state stores, each counted once for each of its partitions.
        more_jvm_mib: as for `budget`.
        heap_mib: the heap, if the user has set it; 0 for the heap that the program needs.
    """
    heap = heap_mib or SMALLEST_HEAP_MIB + (_HEAP_FOR_STATE_MIB if stores else 0) + _HEAP_PER_QUERY_MIB * max(
        0, queries - 1
    )
    more_stores = _MIB_PER_STORE * max(0, stores - _STORES_IN_BUDGET)
    limit = _STEP_MIB
    while True:
        divided = budget(limit, more_jvm_mib)
        small_shares = max(0, _SMALLEST_SHARE_MIB * stores - divided.state_stores_mib)
        unused = 0 if stores else divided.state_stores_mib
        used = divided.outside_heap_mib - unused + more_stores + small_shares + heap + divided.reserve_mib
        if used <= limit and (heap_mib or divided.heap_mib >= heap):
            return limit
        limit += _STEP_MIB
