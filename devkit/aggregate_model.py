"""A model in plain Python of the aggregates that keep values; tests compare the engine with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A record of a group. No two have the same partition and offset."""

    key: str
    at_ms: int
    partition: int
    offset: int
    value: int | None


KEPT = {
    "first": "FIRST(v)",
    "last": "LAST(v)",
    "collected": "COLLECT(v, 3)",
    "different": "COLLECT_UNIQUE(v, 3)",
    "largest": "MAXK(v, 3)",
    "largest_different": "MAXK_UNIQUE(v, 3)",
    "smallest": "MINK(v, 3)",
    "smallest_different": "MINK_UNIQUE(v, 3)",
    "frequent": "TOPK(v, 3)",
    "rare": "BOTTOMK(v, 3)",
}
"""The results of `kept_of`, by name."""


def kept_of(rows: Sequence[Row]) -> dict[str, object]:
    """The result of each aggregate over a group."""
    ordered = sorted(rows, key=lambda row: (row.at_ms, row.partition, row.offset))
    values = [row.value for row in ordered if row.value is not None]
    often = Counter(values)
    return {
        "first": values[0] if values else None,
        "last": values[-1] if values else None,
        "collected": values[:3],
        "different": list(dict.fromkeys(values))[:3],
        "largest": sorted(values, reverse=True)[:3],
        "largest_different": sorted(often, reverse=True)[:3],
        "smallest": sorted(values)[:3],
        "smallest_different": sorted(often)[:3],
        "frequent": sorted(often, key=lambda value: (-often[value], value))[:3],
        "rare": sorted(often, key=lambda value: (often[value], value))[:3],
    }
