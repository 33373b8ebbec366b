"""The aggregates that the programs with groups compute, by the names of their result fields."""

from __future__ import annotations

from collections.abc import Iterable

from lsql_runner.bind.functions.table import AGGREGATES

_SUMS = {
    "n": "COUNT(*)",
    "c": "COUNT(v)",
    "s": "SUM(v)",
    "m": "AVG(v)",
    "ds": "SUM(d)",
    "dm": "AVG(d)",
    "lo": "MIN(v)",
    "hi": "MAX(v)",
    "dlo": "MIN(d)",
    "dhi": "MAX(d)",
}
_KEPT = {
    "first": "FIRST({0})",
    "last": "LAST({0})",
    "collected": "COLLECT({0}, 3)",
    "different": "COLLECT_UNIQUE({0}, 3)",
    "largest": "MAXK({0}, 3)",
    "largest_different": "MAXK_UNIQUE({0}, 3)",
    "smallest": "MINK({0}, 3)",
    "smallest_different": "MINK_UNIQUE({0}, 3)",
    "frequent": "TOPK({0}, 3)",
    "rare": "BOTTOMK({0}, 3)",
}
_OF_TEXT = ("last", "different", "largest", "smallest_different", "frequent")
"""These suffice to test that text is ordered by its UTF-8 bytes."""

CALLS = {
    **_SUMS,
    **{name: call.format("v") for name, call in _KEPT.items()},
    "tlo": "MIN(t)",
    "thi": "MAX(t)",
    **{f"t{name}": _KEPT[name].format("t") for name in _OF_TEXT},
}
ALL = tuple(CALLS)
WITHOUT_ORDER = tuple(name for name, call in CALLS.items() if not AGGREGATES[call.split("(")[0]].depends_on_order)
"""The aggregates whose results do not depend on the order of the records."""


def calls(names: Iterable[str]) -> str:
    """The aggregates as the columns of a SELECT."""
    return ", ".join(f"{CALLS[name]} AS {name}" for name in names)
