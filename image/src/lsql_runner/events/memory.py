"""The memory and the volume that a processor uses, as they were measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GarbageCollector:
    """The collections of a garbage collector since the JVM started."""

    name: str
    """As Java names it, for example `Copy`."""
    collections: int
    time_ms: int
    """How long the collections took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmMemory:
    """The memory of the Spark JVM."""

    heap_used_bytes: int
    """Objects in the heap, with those that the next collection removes."""
    heap_committed_bytes: int
    """The size of the heap now."""
    heap_max_bytes: int
    """The largest size of the heap."""
    code_cache_used_bytes: int
    code_cache_committed_bytes: int
    metaspace_bytes: int
    """Committed memory of loaded classes that are not in the class archive."""
    direct_buffers_bytes: int
    """Buffers of the network outside the heap."""
    threads: int
    cpu_ms: int
    """The processor time that the JVM has used since it started."""
    collectors: tuple[GarbageCollector, ...]
    private_bytes: int | None = None
    """Memory of the process that no file backs; None if the kernel does not report it."""

    @property
    def native_bytes(self) -> int | None:
        """The private memory outside heap and code cache, as if all committed memory were in use; None if unknown.

        State stores, classes, stacks, buffers.
        """
        if self.private_bytes is None:
            return None
        return max(0, self.private_bytes - self.heap_committed_bytes - self.code_cache_committed_bytes)


@dataclass(frozen=True, slots=True)
class MemoryMeasured:
    """The memory of the processes was measured."""

    at_ms: int
    jvm: JvmMemory | None = None
    """None if the JVM did not respond."""
    python_bytes: int | None = None
    """Memory of the Python processes that no file backs; None if the kernel does not report it."""
    kernel_bytes: int | None = None
    """Memory that the kernel uses for the container; None if it does not report it, or there is no limit."""


@dataclass(frozen=True, slots=True)
class VolumeMeasured:
    """The volume with the state directory was measured."""

    at_ms: int
    size_bytes: int
    free_bytes: int
    """The bytes that the processor may still write."""
