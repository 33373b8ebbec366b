"""The memory that a processor uses, as it was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmMemory:
    """The memory of the Spark JVM."""

    heap_used_bytes: int
    """Objects in the heap, with those that the next collection removes."""
    heap_committed_bytes: int
    """The size of the heap now."""
    code_cache_used_bytes: int
    code_cache_committed_bytes: int
    metaspace_bytes: int
    """Committed memory of loaded classes, without those of the class archive."""
    direct_buffers_bytes: int
    """Buffers of the network outside the heap."""
    threads: int
    private_bytes: int | None = None
    """Memory of the process that no file backs; None if the kernel does not report it."""


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
