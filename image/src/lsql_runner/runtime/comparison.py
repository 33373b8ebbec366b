"""Compares the state of green and blue queries over the same records."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import LsqlError
from lsql_runner.events.batches import Partition

MOST_ROWS = 10_000
"""Of each store."""
MOST_SHOWN = 10
_MOST_READ_AGAIN = 100
_PAGE = 1_000
_PAUSE_S = 0.02
_DEADLINE_S = 5.0
"""For all groups that are read again: the client waits."""

Read = Callable[[StoreRead], StoredRows | None]
Row = dict[str, Any]
"""As a row of GET /metadata/<store>."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentGroup:
    """A group whose values differ."""

    key: Any
    window: dict[str, str] | None
    blue: Any
    """The fields that both values have; None if there is no such group."""
    green: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StateComparison:
    """The groups of a blue and a green query."""

    equal: int
    different: int
    unclear: int
    """Groups that differ, and could not be read after the same records, or are too many to be read again."""
    differences: tuple[DifferentGroup, ...]
    """At most `MOST_SHOWN`."""


def compare(blue: str, green: str, read: Read) -> StateComparison:
    """Compare two stores: their first rows, and again those that differ, until both contain the same records.

    Only fields that both values have are compared.

    Args:
        blue: the name of a store.
        green: the name of the other.
        read: as `Engine.read_store`.

    Raises:
        LsqlError: STORE_NOT_QUERYABLE; STORE_NOT_LOADED if there is no state yet.
    """
    olds, news = _rows(blue, read), _rows(green, read)
    places = [*olds, *(place for place in news if place not in olds)]
    unequal = [place for place in places if not _are_equal(olds.get(place), news.get(place))]
    equal, unclear, found = len(places) - len(unequal), max(0, len(unequal) - _MOST_READ_AGAIN), []
    deadline = time.monotonic() + _DEADLINE_S
    for place in unequal[:_MOST_READ_AGAIN]:
        pair = _read_both(blue, green, olds.get(place) or news[place], read, deadline)
        if pair is None:
            unclear += 1
        elif _are_equal(*pair):
            equal += 1
        else:
            found.append(_difference(olds.get(place) or news[place], *pair))
    return StateComparison(equal=equal, different=len(found), unclear=unclear, differences=tuple(found[:MOST_SHOWN]))


def _rows(store: str, read: Read) -> dict[str, Row]:
    """The first rows of a store, by their key and window as JSON."""
    rows: dict[str, Row] = {}
    cursor: str | None = None
    while len(rows) < MOST_ROWS:
        page = _read(StoreRead(store=store, limit=_PAGE, cursor=cursor), read)
        rows |= {json.dumps([row["key"], row["window"]]): row for row in json.loads(page.rows)}
        cursor = page.cursor
        if cursor is None:
            break
    return rows


def _read(wanted: StoreRead, read: Read) -> StoredRows:
    rows = read(wanted)
    if rows is None:
        raise LsqlError("STORE_NOT_LOADED", store=wanted.store)
    return rows


def _read_both(blue: str, green: str, row: Row, read: Read, deadline: float) -> tuple[Row | None, Row | None] | None:
    """The rows of a group in states that contain the same records; None if there were no such states in time."""
    while True:
        # The green query follows the blue one: its state is read last.
        old, new = (_read(_one(store, row), read) for store in (blue, green))
        if _in_topics_of(old, new) == _in_topics_of(new, old):
            return next(_first(old), None), next(_first(new), None)
        if time.monotonic() > deadline:
            return None
        time.sleep(_PAUSE_S)


def _in_topics_of(rows: StoredRows, others: StoredRows) -> dict[Partition, int]:
    topics = {place.topic for place in others.positions}
    return {place: offset for place, offset in rows.positions.items() if place.topic in topics}


def _first(rows: StoredRows) -> Iterator[Row]:
    return iter(json.loads(rows.rows))


def _one(store: str, row: Row) -> StoreRead:
    key, window = row["key"], row["window"]
    return StoreRead(
        store=store,
        key=key if isinstance(key, str) else json.dumps(key),
        window_ms=None if window is None else round(datetime.fromisoformat(window["start"]).timestamp() * 1000),
        limit=1,
    )


def _are_equal(old: Row | None, new: Row | None) -> bool:
    return old is not None and new is not None and _in_common(old, new) == _in_common(new, old)


def _in_common(row: Row, other: Row | None) -> Any:
    """The value of a row, if it is an object only its fields that the other one has, too."""
    value, another = row["value"], None if other is None else other["value"]
    if isinstance(value, dict) and isinstance(another, dict):
        return {name: value[name] for name in value if name in another}
    return value


def _difference(row: Row, old: Row | None, new: Row | None) -> DifferentGroup:
    return DifferentGroup(
        key=row["key"],
        window=row["window"],
        blue=None if old is None else _in_common(old, new),
        green=None if new is None else _in_common(new, old),
    )
