"""Which generation of the language a SELECT is written in, and the refusal of one that is written in both."""

from __future__ import annotations

from typing import Literal as OneOf

from lsql_runner.bind.decoders import decoder_conditions
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast

Generation = OneOf["legacy", "modern"]

_LEGACY = DetailTable(
    {
        "WINDOW": "{window} in GROUP BY",
        "DECODER": "{name} in WHERE",
        "WITH": "WITH inside INSERT",
    }
)
_MODERN_CLAUSES = ("TABLE", "EVENTTIME BY", "WITHIN", "WINDOW BY", "GRACE BY")


def generation_of(select: ast.Select, inside_insert: bool, otherwise: Generation = "modern") -> Generation:
    """The generation of one SELECT.

    Args:
        select: the SELECT.
        inside_insert: it is a legacy WITH, or the body of an INSERT that has one.
        otherwise: the generation of one that is written the same in both.

    Raises:
        LsqlError: GENERATIONS_MIXED, SELECT_MODE_MISSING, with both places.
    """
    legacy = _legacy_marks(select, inside_insert)
    modern = [(name, place) for name, place in select.clauses if name in _MODERN_CLAUSES]
    if legacy and modern:
        (old_name, old), (new_name, new) = legacy[0], modern[0]
        raise LsqlError("GENERATIONS_MIXED", old, [("modern", new)], legacy=old_name, modern=new_name)
    if modern:
        if select.mode is None:
            name, place = modern[0]
            raise LsqlError("SELECT_MODE_MISSING", select.span, [("modern", place)], modern=name)
        return "modern"
    return "legacy" if legacy or select.mode is None else otherwise


def _legacy_marks(select: ast.Select, inside_insert: bool) -> list[tuple[Detail, Span]]:
    marks: list[tuple[Detail, Span]] = []
    if select.window is not None and select.window.legacy:
        marks.append((_LEGACY("WINDOW", window=select.window.kind), select.window.span))
    marks += [(_LEGACY("DECODER", name=c.name), c.span) for c in decoder_conditions(select.where)]
    if inside_insert:
        marks.append((_LEGACY("WITH"), select.span))
    return marks
