"""CAST, which has a syntax of its own."""

from __future__ import annotations

from lsql_runner.bind.functions.spec import SpecialForm

CAST = SpecialForm(
    name="CAST",
    syntax="CAST(value AS type) -> type",
    doc="Converts the value to the type: numbers to each other; a string to and from numbers, boolean, bytes (UTF-8), "
    "date and timestamp; boolean to and from int and long; long (milliseconds since 1970 UTC) and date to and from "
    "timestamp. Text that is not a value of the type makes the record fail. Accepts null.",
    example="CAST('12' AS int)",
    result="12",
    group="Nulls and types",
    synonyms=("CONVERT", "TRY_CAST", "SAFE_CAST"),
)
