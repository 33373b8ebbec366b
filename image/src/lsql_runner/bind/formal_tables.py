"""Which WITHs that say neither STREAM nor TABLE are tables: those that a join takes for one.

Such a SELECT (legacy) formally reads a table. By itself it passes records through; where it is joined, it must be
known what it is. It is a table, except where two streams are joined: there a length of time says so, WITHIN or
a SLIDING window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsql_runner.sql import ast


def formal_tables(program: ast.Program) -> frozenset[str]:
    """The names of shared WITHs that are read as tables."""
    inner = [table for insert in program.inserts for table in insert.tables]
    selects = [table.select for table in (*program.shared_tables, *inner)] + [i.select for i in program.inserts]
    return _with_their_sources(_joined(selects), (*program.shared_tables, *inner))


def formal_tables_inside(insert: ast.Insert) -> frozenset[str]:
    """The names of an INSERT's own WITHs that are read as tables."""
    return _with_their_sources(_joined([*(t.select for t in insert.tables), insert.select]), insert.tables)


def _joined(selects: Iterable[ast.Select]) -> set[str]:
    return {source.name.name for select in selects for source in _sources_without_time(select)}


def _sources_without_time(select: ast.Select) -> Iterator[ast.Source]:
    if select.window is not None and select.window.kind == "SLIDING":
        return
    for number, join in enumerate(select.joins):
        if join.within is None:
            yield join.source
            if number == 0:
                yield select.source


def _with_their_sources(names: set[str], tables: Iterable[ast.CommonTable]) -> frozenset[str]:
    """The names, and those of WITHs that are read under them."""
    for table in reversed(tuple(tables)):  # each reads those before it
        if table.name.name in names and table.select.mode is None:
            names.add(table.select.source.name.name)
    return frozenset(names)
