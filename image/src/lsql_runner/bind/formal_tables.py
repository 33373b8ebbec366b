"""Which WITHs that say neither STREAM nor TABLE are tables: those that a join takes for one.

Such a SELECT (legacy) formally reads a table. By itself it passes records through; where it is joined, it must be
known what it is. It is a table, except where two streams are joined: there a length of time says so, WITHIN or
a SLIDING window.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsql_runner.sql import ast


def formal_tables(program: ast.Program) -> frozenset[str]:
    """The names of shared WITHs that are read as tables."""
    inner = (table for insert in program.inserts for table in insert.tables)
    return _formal((*program.shared_tables, *inner), [insert.select for insert in program.inserts])


def formal_tables_inside(insert: ast.Insert) -> frozenset[str]:
    """The names of an INSERT's own WITHs that are read as tables."""
    return _formal(insert.tables, [insert.select])


def _formal(tables: tuple[ast.CommonTable, ...], bodies: list[ast.Select]) -> frozenset[str]:
    """The names that are joined as tables, and those of WITHs that are read under them."""
    selects = [*(table.select for table in tables), *bodies]
    names = {source.name.name for select in selects for source in _sources_without_time(select)}
    for table in reversed(tables):  # each reads those before it
        if table.name.name in names and table.select.mode is None:
            names.add(table.select.source.name.name)
    return frozenset(names)


def _sources_without_time(select: ast.Select) -> Iterator[ast.SourceName]:
    if select.join_window is not None:
        return
    for number, join in enumerate(select.joins):
        if join.within is None:
            yield join.source
            if number == 0:
                yield select.source
