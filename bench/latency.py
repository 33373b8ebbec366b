"""Latency of each record: from its append to the source to the append of its result."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bench.expected import BenchFailed


@dataclass(frozen=True, slots=True)
class Appended:
    """A record with the time at which the broker appended it."""

    key: bytes
    value: dict[str, int]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Latencies:
    """Milliseconds, sorted."""

    sorted_ms: tuple[int, ...]

    def at(self, share: float) -> int:
        """The smallest latency that this share of the records does not exceed."""
        return self.sorted_ms[max(0, math.ceil(share * len(self.sorted_ms)) - 1)]


def by_id(records: Sequence[Appended], results: Sequence[Appended]) -> list[tuple[Appended, int]]:
    """Each record with the time of its result in ms, by the field `id`.

    Raises:
        BenchFailed: a record has no result or several.
    """
    at_ms = {result.value["id"]: result.at_ms for result in results}
    if len(at_ms) != len(results) or at_ms.keys() != {record.value["id"] for record in records}:
        raise BenchFailed(f"{len(results)} results, {len(at_ms)} different ones, of {len(records)} records")
    return [(record, at_ms[record.value["id"]]) for record in records]


def by_count(records: Sequence[Appended], results: Sequence[Appended], size_ms: int) -> list[tuple[Appended, int]]:
    """Each record with the time in ms of the first count of its key and window that includes it.

    Args:
        results: counts so far; the key of each ends with the start of its window, 8 bytes.
        size_ms: of the windows.

    Raises:
        BenchFailed: a record is not counted, or a count is too high.
    """
    counted: dict[tuple[bytes, int], list[Appended]] = defaultdict(list)
    for record in records:
        counted[record.key, record.at_ms - record.at_ms % size_ms].append(record)
    appended: list[tuple[Appended, int]] = []
    done: dict[tuple[bytes, int], int] = defaultdict(int)
    for result in results:
        group = result.key[:-8], int.from_bytes(result.key[-8:], "big")
        count = result.value["n"]
        if count > len(counted[group]):
            raise BenchFailed(f"{count} records counted for a key and window with {len(counted[group])}")
        appended += [(record, result.at_ms) for record in counted[group][done[group] : count]]
        done[group] = max(done[group], count)
    if len(appended) != len(records):
        raise BenchFailed(f"the results count {len(appended)} of {len(records)} records")
    return appended
