"""Which records a query needs to build its state again."""

from __future__ import annotations

from collections.abc import Iterator

from lsql_runner.bind.bound import WindowSpec
from lsql_runner.bind.select import RECORD_TIME
from lsql_runner.plan.nodes import Aggregate, Having, Join, PlanNode, Project, ReadTopic
from lsql_runner.plan.queries import Query
from lsql_runner.plan.tree import is_timed, nodes


def table_topics(query: Query) -> frozenset[str]:
    """The topics that a query reads as tables: its state has a row for each of their keys."""
    return frozenset(
        each.schema.topic
        for store in query.stores
        for table in _tables(store)
        for each in nodes(table)
        if isinstance(each, ReadTopic)
    )


def _tables(store: PlanNode) -> Iterator[PlanNode]:
    match store:
        case Join():
            yield from (side.input for side in (store.left, store.right) if side.is_table)
        case Aggregate(of_table=True):
            yield store.input


def windows_of(query: Query) -> Aggregate | None:
    """The TUMBLE or HOP windows of a query whose other state is that of lookups and HAVING; None for other queries.

    Records whose windows are all closed do not change its results.
    """
    windows: Aggregate | None = None
    for store in query.stores:
        match store:
            case Aggregate(window=WindowSpec()) if not store.is_session and not is_timed(store.input):
                windows = store
            case Join(is_lookup=True) | Having():
                pass
            case _:
                return None
    return windows


def open_since_ms(query: Query, watermark_ms: int) -> int | None:
    """The earliest timestamp of the records in windows that are open at a watermark, in milliseconds since 1970 UTC.

    None if timestamps do not tell which records these are.
    """
    windows = windows_of(query)
    if windows is None or windows.window is None or not _has_record_times(windows):
        return None
    size_ms, advance_ms = windows.window.size_ms, windows.window.advance_ms
    return (watermark_ms - size_ms) // advance_ms * advance_ms + advance_ms


def _has_record_times(windows: Aggregate) -> bool:
    below = (each.ts for each in nodes(windows.input) if isinstance(each, Project))
    return all(time == RECORD_TIME for time in (windows.event_time, *below))
