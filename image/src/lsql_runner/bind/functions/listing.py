"""The function table for readers: as text for `lsql functions`, as plain values for its JSON and the reference page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any

from lsql_runner.bind.functions.spec import AggregateFunction, Function
from lsql_runner.bind.functions.table import AGGREGATES, FUNCTIONS, ROWS, near_names
from lsql_runner.errors import LsqlError

WIDTH = 100
_INDENT = "    "


def as_documents(name: str | None = None) -> list[dict[str, Any]]:
    """All functions in the order of the table, or those of one name (MAX and MIN are two: aggregate and scalar).

    Raises:
        LsqlError: FUNCTION_UNKNOWN with the near names.
    """
    return [_document(row) for row in _rows(name)]


def as_text(name: str | None = None) -> str:
    """The same for a terminal, under the headings of the groups.

    Raises:
        LsqlError: as `as_documents`.
    """
    lines: list[str] = []
    group = None
    for document in as_documents(name):
        if document["group"] != group and name is None:
            group = document["group"]
            lines += [*([""] if lines else []), group, "-" * len(group)]
        lines += _entry(document)
    return "\n".join(lines) + "\n"


def _rows(name: str | None) -> list[Function | AggregateFunction]:
    rows: list[Function | AggregateFunction] = [*AGGREGATES.values(), *ROWS]
    if name is None:
        return rows
    wanted = name.upper()
    found = [row for row in rows if row is AGGREGATES.get(wanted) or row is FUNCTIONS.get(wanted)]
    if not found:
        raise LsqlError("FUNCTION_UNKNOWN", name=name, near=", ".join(near_names(name)) or "none")
    return found


def _document(row: Function | AggregateFunction) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": row.name,
        "group": row.group,
        "aggregate": isinstance(row, AggregateFunction),
        "signatures": list(_signatures(row)),
        "doc": row.doc,
        "example": row.example,
        "result": row.result,
        "deterministic": True,
        "aliases": [],
        "limits": [f"{form.parameter}: {form.expected}" for form in _forms(row)],
    }
    if isinstance(row, Function):
        document |= {
            "result": row.result if row.deterministic else None,
            "deterministic": row.deterministic,
            "aliases": list(row.aliases),
        }
    return document


def _signatures(row: Function | AggregateFunction) -> Iterator[str]:
    yield row.signature.text
    if isinstance(row, Function):
        for variant in row.variants:
            yield from _signatures(variant)


def _forms(row: Function | AggregateFunction) -> Iterable[Any]:
    variants = row.variants if isinstance(row, Function) else ()
    return dict.fromkeys((*row.forms, *(form for variant in variants for form in variant.forms)))


def _entry(document: dict[str, Any]) -> Iterator[str]:
    yield from document["signatures"]
    yield from (_INDENT + line for line in wrap(document["doc"], WIDTH - len(_INDENT)))
    if document.get("aliases"):
        yield f"{_INDENT}also written {', '.join(document['aliases'])}"
    result = document["result"] if document["deterministic"] else "differs from call to call"
    yield f"{_INDENT}{document['example']}  ->  {result}"
