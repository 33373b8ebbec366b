"""The dialect of the language, legacy or modern, in which a SELECT is written."""

from __future__ import annotations

from typing import Literal as OneOf

from lsql_runner.bind.source_formats import format_conditions
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.spans import Span
from lsql_runner.sql import ast

Dialect = OneOf["legacy", "modern"]

_MODERN_CLAUSES = ("TABLE", "EVENTTIME BY", "WITHIN", "WINDOW BY", "GRACE BY")
_LEGACY_SYNTAX = DetailTable(
    {
        "WINDOW": "{kind} in GROUP BY",
        "FORMAT": "{name} in WHERE",
        "WITH": "WITH inside INSERT",
    }
)


def dialect_of(select: ast.Select, inside_insert: bool, default: Dialect = "modern") -> Dialect:
    """The dialect of one SELECT.

    Args:
        select: the SELECT.
        inside_insert: whether it is a WITH query inside an INSERT, or the body of such an INSERT.
        default: the dialect if the syntax is the same in both.

    Raises:
        LsqlError: DIALECTS_MIXED, SELECT_MODE_MISSING, with the spans of both clauses.
    """
    legacy = _legacy_syntax(select, inside_insert)
    modern = [(name, span) for name, span in select.clauses if name in _MODERN_CLAUSES]
    if legacy and modern:
        (legacy_syntax, legacy_span), (clause, span) = legacy[0], modern[0]
        raise LsqlError("DIALECTS_MIXED", legacy_span, [("modern", span)], legacy=legacy_syntax, modern=clause)
    if modern:
        if select.mode is None:
            clause, span = modern[0]
            raise LsqlError("SELECT_MODE_MISSING", select.span, [("modern", span)], modern=clause)
        return "modern"
    return "legacy" if legacy or select.mode is None else default


def _legacy_syntax(select: ast.Select, inside_insert: bool) -> list[tuple[Detail, Span]]:
    syntax: list[tuple[Detail, Span]] = []
    if select.window is not None and select.window.legacy:
        syntax.append((_LEGACY_SYNTAX("WINDOW", kind=select.window.kind), select.window.span))
    syntax += [(_LEGACY_SYNTAX("FORMAT", name=c.name), c.span) for c in format_conditions(select)]
    if inside_insert:
        syntax.append((_LEGACY_SYNTAX("WITH"), select.span))
    return syntax
