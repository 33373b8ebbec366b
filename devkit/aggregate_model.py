"""A model in plain Python of the aggregates whose state is a list; tests compare the engine with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """A record of a group, with its event time. No two have the same partition and offset."""

    key: str
    at_ms: int
    partition: int
    offset: int
    value: int | None


AGGREGATES = {
    "first": "FIRST(v)",
    "last": "LAST(v)",
    "collected": "COLLECT(v, 3)",
    "collected_unique": "COLLECT_UNIQUE(v, 3)",
    "largest": "MAXK(v, 3)",
    "largest_unique": "MAXK_UNIQUE(v, 3)",
    "smallest": "MINK(v, 3)",
    "smallest_unique": "MINK_UNIQUE(v, 3)",
    "frequent": "TOPK(v, 3)",
    "rare": "BOTTOMK(v, 3)",
}
"""The SQL of each result of `aggregates_of`, by name."""


def aggregates_of(rows: Sequence[Row]) -> dict[str, object]:
    """The result of each aggregate over a group."""
    ordered = sorted(rows, key=lambda row: (row.at_ms, row.partition, row.offset))
    values = [row.value for row in ordered if row.value is not None]
    counts = Counter(values)
    return {
        "first": values[0] if values else None,
        "last": values[-1] if values else None,
        "collected": values[:3],
        "collected_unique": list(dict.fromkeys(values))[:3],
        "largest": sorted(values, reverse=True)[:3],
        "largest_unique": sorted(counts, reverse=True)[:3],
        "smallest": sorted(values)[:3],
        "smallest_unique": sorted(counts)[:3],
        "frequent": sorted(counts, key=lambda value: (-counts[value], value))[:3],
        "rare": sorted(counts, key=lambda value: (counts[value], value))[:3],
    }
