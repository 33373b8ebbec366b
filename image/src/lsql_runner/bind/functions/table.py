"""All functions by name. The binder and the reference page use this table."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from lsql_runner.bind.functions import (
    aggregates,
    arrays,
    casts,
    dates,
    headers,
    json_paths,
    nulls,
    numbers,
    privacy,
    strings,
    substrings,
    times,
)
from lsql_runner.bind.functions.spec import AggregateFunction, Function, SpecialForm

ROWS: tuple[Function, ...] = (
    *strings.FUNCTIONS,
    *substrings.FUNCTIONS,
    *arrays.FUNCTIONS,
    *nulls.FUNCTIONS,
    *json_paths.FUNCTIONS,
    *privacy.FUNCTIONS,
    *numbers.FUNCTIONS,
    *dates.FUNCTIONS,
    *times.FUNCTIONS,
    *headers.FUNCTIONS,
)

FUNCTIONS: dict[str, Function] = {name: row for row in ROWS for name in (row.name, *row.aliases)}
"""Scalar functions by upper-case name, including aliases. MAX and MIN with one argument are aggregates."""

AGGREGATES: dict[str, AggregateFunction] = {row.name: row for row in aggregates.AGGREGATES}

SPECIAL_FORMS: dict[str, SpecialForm] = {form.name: form for form in (casts.CAST,)}


_SYNTAX: dict[str, str] = dict.fromkeys(("IF", "IIF", "IFF", "DECODE", "NULLIF"), "CASE")
"""The syntax of this language for functions of other languages."""


def near_names(name: str, own: Iterable[str] = ()) -> list[str]:
    """The function or syntax that other languages call `name`, then at most three functions with similar names, the
    most similar first.

    Args:
        name: in any case.
        own: the names of user-defined functions.
    """
    rows: list[Function | AggregateFunction | SpecialForm] = [*AGGREGATES.values(), *ROWS, *SPECIAL_FORMS.values()]
    same = [row.name for row in rows if name.upper() in row.synonyms]
    same += [_SYNTAX[name.upper()]] if name.upper() in _SYNTAX else []
    names = sorted({*FUNCTIONS, *AGGREGATES, *SPECIAL_FORMS, *own})
    return list(dict.fromkeys([*same, *get_close_matches(name.upper(), names, n=3)]))
