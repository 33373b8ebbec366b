"""The function table as text for `lsql functions`, and as JSON values for `--json` and the reference page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from lsql_runner.bind.functions.spec import AggregateFunction, Constraint, Function, SpecialForm
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, ROWS, SPECIAL_FORMS, near_names
from lsql_runner.bind.functions.user import user_function
from lsql_runner.errors import LsqlError
from lsql_runner.formats.catalog import UserFunction

WIDTH = 100
_INDENT = "    "

NO_FUNCTIONS: Mapping[str, UserFunction] = {}

_Row = Function | AggregateFunction | SpecialForm


def as_documents(name: str | None = None, own: Mapping[str, UserFunction] = NO_FUNCTIONS) -> list[dict[str, Any]]:
    """The functions as JSON values, in the order of the table, then the user-defined ones.

    Args:
        name: the name of a function, in any case; None for all. MAX and MIN are two functions each.
        own: the user-defined functions, by name. They have neither an example nor its result.

    Raises:
        LsqlError: FUNCTION_UNKNOWN, with similar names.
    """
    return [_document(row) for row in _rows(name, own)]


def as_text(name: str | None = None, own: Mapping[str, UserFunction] = NO_FUNCTIONS) -> str:
    """The functions as text for a terminal; without `name`, with a heading for each group.

    Raises:
        LsqlError: as `as_documents`.
    """
    lines: list[str] = []
    group = None
    for document in as_documents(name, own):
        if document["group"] != group and name is None:
            group = document["group"]
            lines += [*([""] if lines else []), group, "-" * len(group)]
        lines += _entry(document)
    return "\n".join(lines) + "\n"


def _rows(name: str | None, own: Mapping[str, UserFunction]) -> list[_Row]:
    user_defined = {key: user_function(function) for key, function in own.items()}
    rows: list[_Row] = [*AGGREGATES.values(), *ROWS, *SPECIAL_FORMS.values(), *user_defined.values()]
    if name is None:
        by_group: dict[str, list[_Row]] = {}
        for row in rows:
            by_group.setdefault(row.group, []).append(row)
        return [row for group in by_group.values() for row in group]
    upper = name.upper()
    tables = (AGGREGATES, FUNCTIONS, SPECIAL_FORMS, user_defined)
    named = [row for row in rows if any(row is table.get(upper) for table in tables)]
    if not named:
        raise LsqlError("FUNCTION_UNKNOWN", name=name, near=", ".join(near_names(name, own)) or "none")
    return named


def _document(row: _Row) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": row.name,
        "group": row.group,
        "aggregate": isinstance(row, AggregateFunction),
        "signatures": list(_signatures(row)),
        "doc": " ".join(_docs(row)),
        "example": row.example or None,
        "result": row.result or None,
        "deterministic": True,
        "aliases": [],
        "limits": [f"{constraint.parameter}: {constraint.expected}" for constraint in _constraints(row)],
    }
    if isinstance(row, Function):
        document |= {
            "result": (row.result or None) if row.deterministic else None,
            "deterministic": row.deterministic,
            "aliases": list(row.aliases),
        }
    return document


def _signatures(row: _Row) -> Iterator[str]:
    yield row.syntax if isinstance(row, SpecialForm) else row.signature.text
    if isinstance(row, Function):
        for variant in row.variants:
            yield from _signatures(variant)


def _docs(row: _Row) -> Iterator[str]:
    yield row.doc
    if isinstance(row, Function):
        yield from (variant.doc for variant in row.variants)
        if row.takes_nulls and row.signature.parameters:
            yield "Accepts null."


def _constraints(row: _Row) -> Iterable[Constraint]:
    if isinstance(row, SpecialForm):
        return ()
    variants = row.variants if isinstance(row, Function) else ()
    return dict.fromkeys((*row.constraints, *(each for variant in variants for each in variant.constraints)))


def _entry(document: dict[str, Any]) -> Iterator[str]:
    yield from document["signatures"]
    yield from (_INDENT + line for line in wrap(document["doc"], WIDTH - len(_INDENT)))
    if document.get("aliases"):
        yield f"{_INDENT}Alias: {', '.join(document['aliases'])}"
    if document["example"] is not None:
        result = document["result"] if document["deterministic"] else "not deterministic"
        yield f"{_INDENT}{document['example']}  ->  {result}"
