"""WITH queries without STREAM or TABLE (legacy) that are tables because a join uses them.

In the legacy dialect, a SELECT without STREAM means SELECT TABLE. This matters only in a join: the query is a table,
unless the join has WITHIN or a SLIDING window, which only joins of two streams have.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsql_runner.sql import ast


def implicit_tables(program: ast.Program) -> frozenset[str]:
    """The names of the program's WITH queries that are tables because of a join."""
    inner = (table for insert in program.inserts for table in insert.tables)
    return _implicit((*program.shared_tables, *inner), [insert.select for insert in program.inserts])


def implicit_tables_inside(insert: ast.Insert) -> frozenset[str]:
    """The names of WITH queries inside an INSERT that are tables because of a join."""
    return _implicit(insert.tables, [insert.select])


def _implicit(tables: tuple[ast.CommonTable, ...], bodies: list[ast.Select]) -> frozenset[str]:
    """The names that are joined as tables, and the names of the WITH queries that these read."""
    selects = [inner for select in (*(t.select for t in tables), *bodies) for inner in select.with_subselects()]
    names = {name for select in selects for source in joined_without_time_limit(select) for name in _names_in(source)}
    for table in reversed(tables):  # a WITH query reads only queries before it
        if table.name.name in names and table.select.mode is None:
            names.update(_names_in(table.select.source))
    return frozenset(names)


def _names_in(source: ast.Source) -> Iterator[str]:
    """The name that a source reads; that inside a subselect if the subselect is a table for the same reason."""
    if isinstance(source, ast.SourceName):
        yield source.name.name
    elif source.select.mode is None:
        yield from _names_in(source.select.source)


def joined_without_time_limit(select: ast.Select) -> Iterator[ast.Source]:
    """The sources of a SELECT that are joined without WITHIN or a SLIDING window."""
    if select.join_window is not None:
        return
    for number, join in enumerate(select.joins):
        if join.within is None:
            yield join.source
            if number == 0:
                yield select.source
