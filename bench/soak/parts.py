"""The parts of the memory of a pod: as reported by the processor, and by the kernel for its JVM."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_REPORTED = {
    "heap": "heap, used",
    "code_cache": "code cache, used",
    "state_stores": "state stores",
    "jvm": "rest of the JVM",
    "python": "Python",
}
"""The parts of GET /stream; the others cannot be measured, or are not private."""
_REPORTED_BESIDE = {
    "heapCommittedBytes": "heap, committed",
    "metaspaceBytes": "metaspace",
    "directBuffersBytes": "direct buffers",
}

_HEAP, _MALLOC, _STACKS, _FILES, _OTHER = (
    f"JVM, {name}" for name in ("heap", "malloc", "stacks", "changed pages of files", "other")
)
PARTS = (*sorted({*_REPORTED.values(), *_REPORTED_BESIDE.values()}), _HEAP, _MALLOC, _STACKS, _FILES, _OTHER)
"""All parts; they overlap."""

_MIB = 1 << 20
_HEAP_END = 4 << 30
"""A heap with compressed references is below this address, and nothing else is."""
_ARENA = 64 << 20
"""glibc aligns an arena to this size."""
_LARGEST_GUARD = 64 << 10
"""The pages without access below a stack; a reserved area is larger."""
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+ *(.*)")


def reported_mib(stream: Mapping[str, Any]) -> dict[str, float]:
    """The parts in an answer to GET /stream, without those that it does not know."""
    memory = stream["memory"]
    sizes = {_REPORTED[each["part"]]: each.get("usedBytes") for each in memory["parts"] if each["part"] in _REPORTED}
    sizes |= {title: memory.get(field) for field, title in _REPORTED_BESIDE.items()}
    return {title: size / _MIB for title, size in sizes.items() if size is not None}


def mapped_mib(smaps: Iterable[str]) -> dict[str, float]:
    """The private memory of a JVM by the kind of the mapping. `smaps` are the lines of /proc/<pid>/smaps.

    `other` are compiled code, classes, tables of the collector and large blocks of malloc.
    """
    sizes = dict.fromkeys((_HEAP, _MALLOC, _STACKS, _FILES, _OTHER), 0.0)
    kind, guard_end = _OTHER, 0
    for line in smaps:
        if mapping := _MAPPING.match(line):
            begin, end = int(mapping[1], 16), int(mapping[2], 16)
            kind = _kind(begin, mapping[4], is_above_guard=begin == guard_end)
            guard_end = end if mapping[3].startswith("---") and end - begin <= _LARGEST_GUARD else 0
        elif line.startswith("Anonymous:"):
            sizes[kind] += int(line.split()[1]) / 1024
    return sizes


def _kind(begin: int, name: str, *, is_above_guard: bool) -> str:
    if name.startswith("/"):
        return _FILES
    if begin < _HEAP_END:
        return _HEAP
    if name == "[stack]" or is_above_guard:
        return _STACKS
    if name == "[heap]" or begin % _ARENA == 0:
        return _MALLOC
    return _OTHER
