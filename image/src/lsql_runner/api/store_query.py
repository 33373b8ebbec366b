"""The query parameters of requests about the state, and the answer of GET /metadata/<store>."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import BoundedSemaphore
from typing import TypeVar

from pydantic_core import to_json

from lsql_runner.api.views import moment
from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import Detail, DetailTable, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.reports.responses import StoreContent
from lsql_runner.runtime.port import Processor
from lsql_runner.web.openapi import Json

MOST_ROWS = 1_000
MOST_WAIT_MS = 5_000
"""A standby waits longer for the answer of the process that leads."""

_MOST_MS = 10**15 - 1
_TIME: Json = {
    "anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "minimum": 0, "maximum": _MOST_MS}]
}
_RECORD = "[^:,]{1,249}:[0-9]{1,9}:[0-9]{1,18}"

PARAMETERS: dict[str, Json] = {
    "key": {"description": "Only rows with this key: JSON of the type of the store's keys; a string without quotes."},
    "keyFrom": {"description": "Only this key and greater ones: numbers by value, texts by their UTF-8 bytes."},
    "keyTo": {"description": "Only keys that are less than this one."},
    "window": {
        "description": "Only the window that starts at this time: RFC 3339, or milliseconds since 1970 UTC.",
        **_TIME,
    },
    "from": {"description": "Only windows that start at this time or later.", **_TIME},
    "to": {"description": "Only windows that start before this time.", **_TIME},
    "limit": {
        "description": "The most rows.",
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_ROWS,
        "default": 100,
    },
    "cursor": {"description": "The cursor of the page before. A page may be of a later batch than the one before it."},
    "partition": {
        "description": "Only this partition of the state.",
        "type": "integer",
        "minimum": 0,
        "maximum": 100_000,
    },
    "atLeast": {
        "description": "Wait until the state contains a record of a source, `topic:partition:offset`; several with "
        "commas.",
        "pattern": f"^{_RECORD}(,{_RECORD})*$",
    },
    "maxLag": {
        "description": "Wait until the state lacks at most so many records, as far as the processor knows the topics.",
        "type": "integer",
        "minimum": 0,
        "maximum": 999_999_999,
    },
    "standby": {
        "description": "`true`: a standby answers too, from the last saved state. Not with atLeast and maxLag.",
        "enum": ["true", "false"],
    },
    "wait": {
        "description": f"The longest wait in milliseconds: {MOST_WAIT_MS} by default with atLeast and maxLag, else 0.",
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_WAIT_MS,
    },
}
"""The query parameters: their JSON Schemas. They are strings unless it says another type."""

PRUNE_PARAMETERS: dict[str, Json] = {
    "keep": {
        "description": "How many of the newest snapshots stay.",
        "type": "integer",
        "minimum": 0,
        "maximum": 1000,
        "default": 3,
    }
}
"""The query parameters of POST /snapshots/prune."""

_WAITING = BoundedSemaphore(4)
"""Requests that wait for a record. Each keeps a thread of the API."""
_POLL_S = 0.02
_SAVE_EVERY_S = 1.0
"""To end an open batch costs processor time."""
_Default = TypeVar("_Default", int, None)
_YEAR_10000_MS = 253_402_300_800_000
"""Later times cannot be shown."""

EXPECTED = DetailTable(
    {
        "TIME": "a time such as 2026-11-30T10:00:00Z, or milliseconds since 1970 UTC",
        "NUMBER": "a whole number from {least} to {most}",
        "BOOLEAN": "true or false",
        "RECORDS": "records of sources, such as payments:2:8812 (topic, partition, offset), separated by commas",
    }
)
BEHIND = DetailTable(
    {
        "RECORD": "the record {record}",
        "LAG": "all but {most} records; {lag} are missing",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreQuery:
    """What a client asks for, and how new the answer has to be."""

    read: StoreRead
    at_least: Mapping[Partition, int] = field(default_factory=dict)
    """By source partition: the offset of a record that the state has to contain."""
    most_lag: int | None = None
    """The most records that the state may lack; None for any number."""
    wait_ms: int = 0
    """How long to wait until the state is as new."""


def store_query(store: str, given: Mapping[str, str]) -> StoreQuery:
    """The request with these query parameters.

    Raises:
        LsqlError: REQUEST_PARAMETER_UNKNOWN, REQUEST_PARAMETER_INVALID.
    """
    _check_names(given, PARAMETERS)
    if given.get("standby", "true") not in ("true", "false"):
        raise _invalid("standby", given["standby"], EXPECTED("BOOLEAN"))
    at_least = _records(given["atLeast"]) if "atLeast" in given else {}
    lag = _number(given, "maxLag", None)
    is_bound = bool(at_least) or lag is not None
    return StoreQuery(
        read=StoreRead(
            store=store,
            key=given.get("key"),
            key_from=given.get("keyFrom"),
            key_to=given.get("keyTo"),
            window_ms=_time(given, "window"),
            since_ms=_time(given, "from"),
            until_ms=_time(given, "to"),
            limit=_number(given, "limit", 100),
            cursor=given.get("cursor"),
            partition=_number(given, "partition", None),
        ),
        at_least=at_least,
        most_lag=lag,
        wait_ms=_number(given, "wait", MOST_WAIT_MS if is_bound else 0),
    )


def standby_answers(given: Mapping[str, str]) -> bool:
    """Whether a standby answers a request with these query parameters. It does not know how new the state is."""
    return given.get("standby") == "true" and not {"atLeast", "maxLag"} & given.keys()


def snapshots_to_keep(given: Mapping[str, str]) -> int:
    """How many snapshots a request with these query parameters keeps.

    Raises:
        LsqlError: REQUEST_PARAMETER_UNKNOWN, REQUEST_PARAMETER_INVALID.
    """
    _check_names(given, PRUNE_PARAMETERS)
    return _number(given, "keep", PRUNE_PARAMETERS["keep"]["default"], PRUNE_PARAMETERS)


def _check_names(given: Mapping[str, str], parameters: Mapping[str, Json]) -> None:
    unknown = [name for name in given if name not in parameters]
    if unknown:
        raise LsqlError("REQUEST_PARAMETER_UNKNOWN", name=unknown[0][:40], known=", ".join(parameters))


def _number(
    given: Mapping[str, str], name: str, default: _Default, parameters: Mapping[str, Json] = PARAMETERS
) -> int | _Default:
    text, schema = given.get(name), parameters[name]
    if text is None:
        return default
    if not re.fullmatch("[0-9]{1,9}", text) or not schema["minimum"] <= int(text) <= schema["maximum"]:
        raise _invalid(name, text, EXPECTED("NUMBER", least=schema["minimum"], most=schema["maximum"]))
    return int(text)


def _time(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    if re.fullmatch("[0-9]{1,15}", text):  # at most _MOST_MS
        return int(text)
    try:
        time_of = datetime.fromisoformat(text.replace(" ", "+"))  # a plus in a URL is a blank
    except ValueError:
        raise _invalid(name, text, EXPECTED("TIME")) from None
    if time_of.tzinfo is None:
        raise _invalid(name, text, EXPECTED("TIME"))
    return round(time_of.timestamp() * 1000)


def _records(text: str) -> dict[Partition, int]:
    records: dict[Partition, int] = {}
    for each in text.split(","):
        if not re.fullmatch(_RECORD, each):
            raise _invalid("atLeast", text, EXPECTED("RECORDS"))
        topic, number, offset = each.split(":")
        place = Partition(topic, int(number))
        records[place] = max(int(offset), records.get(place, 0))
    return records


def _invalid(name: str, value: str, expected: Detail) -> LsqlError:
    return LsqlError("REQUEST_PARAMETER_INVALID", name=name, value=value[:100], expected=expected)


def answer(processor: Processor, query: StoreQuery) -> bytes:
    """The body of the response: JSON of the form `StoreRows`. The rows are JSON of the JVM, whose numbers are exact.

    Raises:
        LsqlError: REQUEST_PARAMETER_INVALID, STORE_NOT_LOADED, STORE_BEHIND, QUERIES_WAITING; and as
            `Engine.read_store`.
    """
    rows = processor.read_store(query.read)
    if rows is not None:
        _check_sources(query, rows)
    behind = _behind(processor, query, rows)
    if behind is not None and query.wait_ms:
        rows, behind = _await(processor, query)
    if behind is not None:
        raise behind
    assert rows is not None
    leadership = processor.status().leadership
    leads = leadership is None or leadership.leads
    return as_json(query.read.store, rows, lag=_lag_of(processor, rows) if leads else None)


def as_json(store: str, rows: StoredRows, lag: int | None = None) -> bytes:
    """Rows as JSON of the form `StoreRows`."""
    content = _content(rows, lag).model_dump(mode="json", by_alias=True)
    head = {"store": store, "contains": content, "cursor": rows.cursor}
    return to_json(head, by_alias=True)[:-1] + b',"rows":' + rows.rows.encode() + b"}"


def _check_sources(query: StoreQuery, rows: StoredRows) -> None:
    topics = {place.topic for place in rows.positions}
    for place, offset in query.at_least.items():
        if place.topic not in topics:
            raise _invalid("atLeast", _text(place, offset), EXPECTED("RECORDS"))


def _text(place: Partition, offset: int) -> str:
    return f"{place.topic}:{place.partition}:{offset}"


def _await(processor: Processor, query: StoreQuery) -> tuple[StoredRows | None, LsqlError | None]:
    if not _WAITING.acquire(blocking=False):
        raise LsqlError("QUERIES_WAITING")
    try:
        began = time.monotonic()
        saved_s = -_SAVE_EVERY_S
        while True:
            passed_s = time.monotonic() - began
            if passed_s - saved_s >= _SAVE_EVERY_S:
                saved_s = passed_s
                processor.save_soon(query.read.store)
            time.sleep(_POLL_S)
            rows = processor.read_store(query.read)
            behind = _behind(processor, query, rows)
            if behind is None or passed_s * 1000 >= query.wait_ms:
                return rows, behind
    finally:
        _WAITING.release()


def _behind(processor: Processor, query: StoreQuery, rows: StoredRows | None) -> LsqlError | None:
    """Why the rows are not as new as they have to be; None if they are."""
    store = query.read.store
    if rows is None:
        return LsqlError("STORE_NOT_LOADED", store=store)
    for place, offset in query.at_least.items():
        if rows.positions.get(place, 0) <= offset:
            return LsqlError("STORE_BEHIND", store=store, wanted=BEHIND("RECORD", record=_text(place, offset)))
    lag = _lag_of(processor, rows)
    if query.most_lag is not None and lag > query.most_lag:
        return LsqlError("STORE_BEHIND", store=store, wanted=BEHIND("LAG", most=query.most_lag, lag=lag))
    return None


def _lag_of(processor: Processor, rows: StoredRows) -> int:
    """The number of records that are in the topics, as far as the processor knows, and not in the state."""
    status = processor.status()
    reached = status.reached
    ends = ((max(status.ends.get(p, 0), reached.get(p, 0)), at) for p, at in rows.positions.items())
    return sum(max(0, end - at) for end, at in ends)


def _content(rows: StoredRows, lag: int | None) -> StoreContent:
    shown_ms = rows.watermark_ms
    positions: dict[str, dict[int, int]] = {}
    for place in sorted(rows.positions, key=lambda each: (each.topic, each.partition)):
        positions.setdefault(place.topic, {})[place.partition] = rows.positions[place]
    return StoreContent(
        batch=rows.batch,
        positions=positions,
        watermark=None if shown_ms is None or shown_ms >= _YEAR_10000_MS else moment(shown_ms),
        planned_at=moment(rows.planned_ms),
        age_ms=max(0, int(time.time() * 1000) - rows.planned_ms),
        lag=lag,
    )
