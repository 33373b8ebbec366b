"""Defines which output of the two engines must be equal.

- A table, and every aggregate, is a changelog: after each batch both engines have the same row for each key. Within a
  batch Kafka Streams writes each step, and this engine writes once.
- The timestamps of rows computed from tables are not compared: Kafka Streams uses the timestamp of the last step, even
  if it was out of order, changed nothing, or was undone within the batch. This engine has no such steps.
- A join of streams has events: each batch has the same events, the same number of times. For an outer join all batches
  are compared together, because a record without a match is written when its time is over, in Spark a batch later.
- A final result is written once, in any batch: Spark closes windows between batches, Kafka Streams with a record.
- Kafka Streams may write an out-of-order record as unmatched and match it later; only the match is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Written:
    """An output record of either engine, with its batch."""

    batch: int
    key: bytes | None
    value: Value
    timestamp_ms: int


Outcome = Mapping[Any, Any]
"""The compared output of a program: the values that must be equal, each under a key that the View chooses."""
View = Callable[[Sequence[Written]], Outcome]
"""Selects what is compared of the records that a program writes."""


def changelog(written: Sequence[Written]) -> Outcome:
    """The row and the timestamp of each key after each batch."""
    return _rows(written, True)


def keyed_changelog(written: Sequence[Written]) -> Outcome:
    """The changelog of records with a key. A stateless query also copies records without a key; tables ignore these."""
    return changelog([record for record in written if record.key is not None])


def table(written: Sequence[Written]) -> Outcome:
    """The row of each key after each batch."""
    return _rows(written, False)


def _rows(written: Sequence[Written], with_time: bool) -> Outcome:
    outcome: dict[Any, Any] = {}
    rows: dict[bytes | None, Any] = {}
    for batch in range(max((record.batch for record in written), default=-1) + 1):
        for record in (record for record in written if record.batch == batch):
            if record.value is None:
                rows.pop(record.key, None)
            else:
                rows[record.key] = _frozen(record, with_time)
        outcome |= {(batch, key): row for key, row in rows.items()}
    return outcome


def events(written: Sequence[Written]) -> Outcome:
    """The number of records by batch, key and value."""
    return Counter((record.batch, record.key, _frozen(record, True)) for record in written)


def finals(written: Sequence[Written]) -> Outcome:
    """The number of records by key and value, in all batches together."""
    return Counter((record.key, _frozen(record, True)) for record in written)


def matches(written: Sequence[Written]) -> Outcome:
    """The events of an outer join of streams: pairs of `lv` and `rv`, and records without a match."""
    pairs: Counter[Any] = Counter()
    paired: set[Any] = set()
    alone: Counter[Any] = Counter()
    for record in written:
        assert record.value is not None
        left, right = record.value.get("lv"), record.value.get("rv")
        if left is None or right is None:
            alone[record.key, left, right, record.timestamp_ms] += 1
        else:
            pairs[record.key, left, right, record.timestamp_ms] += 1
            paired |= {("l", left), ("r", right)}
    spurious = [event for event in alone if ("l", event[1]) in paired or ("r", event[2]) in paired]
    for event in spurious:
        del alone[event]
    return pairs + alone


def chained_matches(written: Sequence[Written]) -> Outcome:
    """The events of an outer join of streams whose left side is a join of two sources.

    A record without a match has no `mv`. It is removed if another record with the same `lv` and `rv` has a match.
    """
    outcome = Counter((record.key, _frozen(record, True)) for record in written)
    matched = {_left(record) for record in written if _is_matched(record)}
    alone = [record for record in written if not _is_matched(record)]
    for record in alone:
        if _left(record) in matched:
            del outcome[record.key, _frozen(record, True)]
    return outcome


def _is_matched(record: Written) -> bool:
    return record.value is not None and record.value.get("mv") is not None


def _left(record: Written) -> tuple[Any, ...]:
    assert record.value is not None
    return record.key, record.value.get("lv"), record.value.get("rv")


def _frozen(record: Written, with_time: bool) -> tuple[Any, ...]:
    assert record.value is not None
    present = [(name, value) for name, value in record.value.items() if value is not None]
    fields = tuple(sorted((name, tuple(value) if isinstance(value, list) else value) for name, value in present))
    return (fields, record.timestamp_ms) if with_time else fields


def differences(ours: Outcome, theirs: Outcome) -> list[str]:
    """A line for each difference, in the order of the batches."""
    keys = [*theirs, *(key for key in ours if key not in theirs)]
    return [
        f"{key}: Kafka Streams {theirs.get(key)}, here {ours.get(key)}"
        for key in keys
        if ours.get(key) != theirs.get(key)
    ]
