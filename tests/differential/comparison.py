"""What is compared of what two engines wrote.

- A table, and every aggregate, is a changelog: after each batch both have the same row for each key. Within a batch
  Kafka Streams writes each step, the engine one.
- The time of a row that is made of tables' rows is not compared: Kafka Streams' is that of the last step, also of one
  that came out of order, changed nothing, or was taken back within the batch, steps that the engine does not have.
- A join of streams has events: in each batch the same ones, as often. Of an outer one all batches together, because a
  record without a match goes out when its window is over, which Spark sees a batch later.
- What is final is there once, in whichever batch: Spark ends windows between batches, Kafka Streams with a record.
- Kafka Streams may say of a record that came out of order that it has no match, and match it later; only the match
  counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Written:
    """A record of either engine, by the batch that it was written in."""

    batch: int
    key: bytes | None
    value: Value
    timestamp_ms: int


Outcome = Mapping[Any, Any]
"""What is equal in both: a value for everything that has one."""
View = Callable[[Sequence[Written]], Outcome]


def changelog(written: Sequence[Written]) -> Outcome:
    """By batch and key the row that is there after it, and its time."""
    return _rows(written, True)


def keyed_changelog(written: Sequence[Written]) -> Outcome:
    """The same of records that have a key: of others a table has no row, but what keeps none passes them on."""
    return changelog([record for record in written if record.key is not None])


def table(written: Sequence[Written]) -> Outcome:
    """By batch and key the row that is there after it."""
    return _rows(written, False)


def _rows(written: Sequence[Written], with_time: bool) -> Outcome:
    found: dict[Any, Any] = {}
    rows: dict[bytes | None, Any] = {}
    for batch in range(max((record.batch for record in written), default=-1) + 1):
        for record in (record for record in written if record.batch == batch):
            if record.value is None:
                rows.pop(record.key, None)
            else:
                rows[record.key] = _frozen(record, with_time)
        found |= {(batch, key): row for key, row in rows.items()}
    return found


def events(written: Sequence[Written]) -> Outcome:
    """By batch, key and value how often it was written."""
    return Counter((record.batch, record.key, _frozen(record, True)) for record in written)


def finals(written: Sequence[Written]) -> Outcome:
    """By key and value how often it was written, in all batches together."""
    return Counter((record.key, _frozen(record, True)) for record in written)


def matches(written: Sequence[Written]) -> Outcome:
    """The events of an outer join of streams: pairs of `lv` and `rv`, and records that are in no pair."""
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
    """The events of two sources joined with a third as the right side of an outer join of streams.

    Records of the third have a value; what goes out without one is dropped where the same two met one.
    """
    found = Counter((record.key, _frozen(record, True)) for record in written)
    met = {_left(record) for record in written if _is_met(record)}
    alone = [record for record in written if not _is_met(record)]
    for record in alone:
        if _left(record) in met:
            del found[record.key, _frozen(record, True)]
    return found


def _is_met(record: Written) -> bool:
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
    """A line for everything that is not the same, in the order of the batches."""
    places = [*theirs, *(place for place in ours if place not in theirs)]
    return [
        f"{place}: Kafka Streams {theirs.get(place)}, here {ours.get(place)}"
        for place in places
        if ours.get(place) != theirs.get(place)
    ]
