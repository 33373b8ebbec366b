"""All functions by name. The binder and the reference page use this table."""

from __future__ import annotations

from difflib import get_close_matches

from lsql_runner.bind.functions import aggregates, dates, json_paths, nulls, numbers, privacy, strings, substrings
from lsql_runner.bind.functions.spec import AggregateFunction, Function

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
"""Scalar functions by upper-case name, including aliases. MAX and MIN with one argument are aggregates."""

AGGREGATES: dict[str, AggregateFunction] = {row.name: row for row in aggregates.AGGREGATES}


def near_names(name: str) -> list[str]:
    """At most three names of functions that are similar to `name`, the most similar first."""
    return get_close_matches(name.upper(), sorted({*FUNCTIONS, *AGGREGATES}), n=3)
