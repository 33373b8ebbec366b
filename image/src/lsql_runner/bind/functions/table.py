"""All functions by name: what the binder looks up, and what the reference page is made of."""

from __future__ import annotations

from difflib import get_close_matches

from lsql_runner.bind.functions import dates, json_paths, nulls, numbers, privacy, strings, substrings
from lsql_runner.bind.functions.spec import Aggregate, Function, signature

ROWS: tuple[Function, ...] = (
    *strings.FUNCTIONS,
    *substrings.FUNCTIONS,
    *nulls.FUNCTIONS,
    *json_paths.FUNCTIONS,
    *privacy.FUNCTIONS,
    *numbers.FUNCTIONS,
    *dates.FUNCTIONS,
)

FUNCTIONS: dict[str, Function] = {name: row for row in ROWS for name in (row.name, *row.aliases)}
"""Scalar functions by upper-case name, aliases included. MAX and MIN are aggregates too: one argument tells
them."""

AGGREGATES: dict[str, Aggregate] = {
    row.name: row
    for row in (
        Aggregate(
            signature("AVG(value: N) -> mean of N"),
            "avg",
            "The mean of the values that are not null: a double, for decimals a decimal with four more digits.",
            "AVG(price)",
        ),
        Aggregate(
            signature("COUNT(value: any) -> long"),
            "count",
            "How many records have a value that is not null; COUNT(*) counts all records.",
            "COUNT(*)",
            never_null=True,
        ),
        Aggregate(
            signature("MAX(value: O) -> O"),
            "max",
            "The largest value that is not null, in its own type; text is compared by its UTF-8 bytes.",
            "MAX(price)",
        ),
        Aggregate(
            signature("MIN(value: O) -> O"),
            "min",
            "The smallest value that is not null, in its own type; text is compared by its UTF-8 bytes.",
            "MIN(price)",
        ),
        Aggregate(
            signature("SUM(value: N) -> total of N"),
            "sum",
            "The sum of the values that are not null: a long for whole numbers, a decimal for decimals, else "
            "a double. "
            "A sum that its type cannot hold fails the record.",
            "SUM(amount)",
        ),
    )
}

PLANNED_AGGREGATES: tuple[str, ...] = (
    "BOTTOMK",
    "COLLECT",
    "COLLECT_UNIQUE",
    "FIRST",
    "LAST",
    "MAXK",
    "MAXK_UNIQUE",
    "MINK",
    "MINK_UNIQUE",
    "TOPK",
)
"""Aggregates of the language that this version refuses by name."""


def near_names(name: str) -> list[str]:
    """Names of functions that look like `name`, the nearest first; at most three."""
    return get_close_matches(name.upper(), sorted({*FUNCTIONS, *AGGREGATES}), n=3)
