"""The records of the programs, and how a model reads and groups them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from devkit.records import Record
from tests.faults.results import Group, every

KEYS = 13
_STRIDE = 7
BEGIN_MS = 1_700_000_000_000
STEP_MS = 50
"""The event time between two numbers."""
WINDOW_MS = 10_000
FIELDS = {"id": "long not null", "n": "int not null"}

Sources = Mapping[str, Sequence[Record]]
"""The records of the sources by short name."""
Sent = list[tuple[str, Record]]
"""Records with the short names of their topics."""


def result(value: object) -> str:
    """A JSON value as text that does not depend on the order of fields."""
    return json.dumps(value, sort_keys=True)


def json_result(record: Record) -> str:
    """The value of a record of a target."""
    try:
        return result(json.loads(record.value or b"null"))
    except ValueError:
        return repr(record.value)


def key_of(record: Record) -> str:
    """The key of a record as text."""
    return "null" if record.key is None else record.key.decode(errors="backslashreplace")


def numbered_key(number: int) -> bytes:
    return b"key-%d" % (number * _STRIDE % KEYS)


def json_record(key: bytes, value: Mapping[str, object], number: int) -> Record:
    return Record(key, json.dumps(value).encode(), timestamp_ms=BEGIN_MS + number * STEP_MS)


def numbered(number: int, **fields: object) -> Record:
    """The fields `id`, the number, and `n`, a digit."""
    return json_record(numbered_key(number), {"id": number, "n": number % 10, **fields}, number)


def with_values(records: Iterable[Record]) -> Iterator[tuple[str, Any, Record]]:
    """Key, value and record."""
    return ((key_of(record), json.loads(record.value or b"null"), record) for record in records)


def by_group(results: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, each in results:
        groups[name].append(each)
    return groups


def groups_of(results: Iterable[tuple[str, str]], *, is_ordered: bool = True) -> dict[str, Group]:
    """The groups of results that are all written. Takes pairs of a group and a result."""
    return {name: every(each, is_ordered=is_ordered) for name, each in by_group(results).items()}
