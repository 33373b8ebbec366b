"""The lag and rates of the last hour and the last events of each processor, in bounded memory."""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Collection
from datetime import datetime
from threading import Lock

from lsql_runner.console.document import Document, ProcessorEntry
from lsql_runner.reports.model import Model

SPAN_MS = 3_600_000
POINTS = 720
"""At most this many points of a processor."""
EVENTS = 100
"""At most this many events of a processor."""
_WIDTH = 4
"""The numbers of a point in the array: time, lag, rate in, rate out."""


class Point(Model):
    """Lag and rates at one time; null if the runner did not report them."""

    at_ms: int
    lag: float | None
    records_in_per_second: float | None
    records_out_per_second: float | None


class HistoryEvent(Model):
    """A change of a processor's state, or an action of a user."""

    at: datetime
    kind: str
    text: str
    by: str = ""


class History:
    """The points and events of processors, by their ids. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._figures: dict[str, array[float]] = {}
        self._events: dict[str, deque[HistoryEvent]] = {}
        self._states: dict[str, str] = {}

    def add_document(self, document: Document) -> None:
        """Add a point for each processor of the document; forget processors that it no longer contains."""
        at_ms = int(document.at.timestamp() * 1000)
        with self._lock:
            for entry in document.processors:
                if entry.state != "deleted":
                    _append(self._figures.setdefault(entry.id, array("d")), at_ms, entry)
                before = self._states.get(entry.id)
                if before != entry.state:
                    self._add(entry.id, HistoryEvent(at=document.at, kind="state", text=_change(before, entry)))
                self._states[entry.id] = entry.state
            self._forget({entry.id for entry in document.processors})

    def add_event(self, identifier: str, event: HistoryEvent) -> None:
        """Add an action of a user."""
        with self._lock:
            self._add(identifier, event)

    def points(self, identifier: str) -> list[Point]:
        """The points of the last hour, oldest first."""
        with self._lock:
            kept = list(self._figures.get(identifier, ()))
        rows = (kept[start : start + _WIDTH] for start in range(0, len(kept), _WIDTH))
        return [
            Point(
                at_ms=int(at),
                lag=_number(lag),
                records_in_per_second=_number(into),
                records_out_per_second=_number(out),
            )
            for at, lag, into, out in rows
        ]

    def events(self, identifier: str) -> list[HistoryEvent]:
        """The events, newest first."""
        with self._lock:
            return list(reversed(self._events.get(identifier, ())))

    def _add(self, identifier: str, event: HistoryEvent) -> None:
        self._events.setdefault(identifier, deque(maxlen=EVENTS)).append(event)

    def _forget(self, known: Collection[str]) -> None:
        for kept in (self._figures, self._events, self._states):
            for identifier in kept.keys() - known:
                del kept[identifier]


def _append(figures: array[float], at_ms: int, entry: ProcessorEntry) -> None:
    values = (entry.lag, entry.records_in_per_second, entry.records_out_per_second)
    figures.extend((at_ms, *(math.nan if value is None else value for value in values)))
    rows = len(figures) // _WIDTH
    old = next((row for row in range(rows) if figures[row * _WIDTH] >= at_ms - SPAN_MS), rows)
    del figures[: max(old, rows - POINTS) * _WIDTH]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _change(before: str | None, entry: ProcessorEntry) -> str:
    why = entry.unreachable or (entry.reason.message if entry.reason else "")
    text = f"State {entry.state}." if before is None else f"From {before} to {entry.state}."
    return f"{text} {why}".strip()
