"""Compares the records of a target with the results that a model allows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from devkit.records import Record

Position = tuple[int, ...]
"""Where a result is in the history of its group. A later result has at least the same number in each place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The results that belong together: of a key, or of a key and a window."""

    positions: Mapping[str, Position]
    """Each result that may be written."""
    required: frozenset[Position]
    """The positions that must be written: all for results of single records, the last one for values that change."""
    is_ordered: bool = True
    last: str | None = None
    """For a group that may be deleted: the last record must have this result; TOMBSTONE also stands for no record."""


TOMBSTONE = "null"
"""The result of a record without a value."""


def every(results: Iterable[str], *, is_ordered: bool = True) -> Group:
    """A group whose results are all written, in this order."""
    positions = {result: (number,) for number, result in enumerate(results)}
    return Group(positions=positions, required=frozenset(positions.values()), is_ordered=is_ordered)


def every_one_of(results: Iterable[Iterable[str]]) -> Group:
    """A group that has one of several possible results at each position."""
    positions = {result: (number,) for number, choices in enumerate(results) for result in choices}
    return Group(positions=positions, required=frozenset(positions.values()))


def changing(results: Sequence[str]) -> Group:
    """A group whose value changes: a batch writes the newest value, so others may be left out, but not the last."""
    positions = {result: (number,) for number, result in enumerate(results)}
    return Group(positions=positions, required=frozenset({(len(results) - 1,)}))


def deletable(results: Iterable[str], last: str) -> Group:
    """As `changing`, for a group that is deleted in between, or in the end: any number of times, and none is needed."""
    positions = {result: (number,) for number, result in enumerate(results)}
    return Group(positions=positions, required=frozenset(), last=last)


def final(last: str) -> Group:
    """A group of which only the last record is known."""
    return Group(positions={}, required=frozenset(), last=last)


class Kind(StrEnum):
    """How a target differs from the model."""

    LOST = "lost"
    DOUBLED = "doubled"
    DISORDERED = "disordered"
    UNEXPECTED = "unexpected"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. `record` is None for a lost result."""

    kind: Kind
    group: str
    detail: str
    record: Record | None = None

    def __str__(self) -> str:
        return f"{self.kind} in group {self.group!r}: {self.detail}" + (
            "" if self.record is None else f"\n  {describe(self.record)}"
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences of a target, in the order of its records, and the number of records that were compared."""

    records: int
    differences: tuple[Difference, ...] = ()
    counts: Mapping[Kind, int] = field(default_factory=dict)

    def of(self, *kinds: Kind) -> list[Difference]:
        """The differences of these kinds."""
        return [each for each in self.differences if each.kind in kinds]


def compare(
    records: Iterable[Record],
    groups: Mapping[str, Group],
    group_of: Callable[[Record], str],
    result_of: Callable[[Record], str],
) -> Comparison:
    """Compare the records of a target, by partition and offset, with the model.

    A repeated result counts as doubled only, not as disordered.
    """
    differences: list[Difference] = []
    first_of: defaultdict[str, dict[Position, Record]] = defaultdict(dict)
    newest: dict[str, Position] = {}
    last: dict[str, tuple[str, Record]] = {}
    count = 0
    for record in records:
        count += 1
        name, result = group_of(record), result_of(record)
        group = groups.get(name)
        last[name] = result, record
        if group is not None and group.last is not None and (result == TOMBSTONE or not group.positions):
            continue
        position = None if group is None else group.positions.get(result)
        if group is None or position is None:
            differences.append(Difference(Kind.UNEXPECTED, name, result, record))
        elif (earlier := first_of[name].get(position)) is not None:
            differences.append(Difference(Kind.DOUBLED, name, f"{result}, first {describe(earlier)}", record))
        else:
            first_of[name][position] = record
            before = newest.get(name, position)
            if group.is_ordered and any(now < then for now, then in zip(position, before, strict=True)):
                differences.append(Difference(Kind.DISORDERED, name, f"{result} after position {before}", record))
            newest[name] = max(position, before)
    for name, group in groups.items():
        missing = group.required - first_of[name].keys()
        results = [result for result, position in group.positions.items() if position in missing]
        differences += [Difference(Kind.LOST, name, result) for result in results]
        value, written = last.get(name, (TOMBSTONE, None))
        if group.last is not None and value != group.last:
            differences.append(Difference(Kind.STALE, name, f"{value} instead of {group.last}", written))
    return Comparison(count, tuple(differences), Counter(each.kind for each in differences))


def describe(record: Record) -> str:
    """A record and its headers, in one line."""
    headers = ", ".join(f"{name}={_shown(value)}" for name, value in record.headers)
    place = f"partition {record.partition} offset {record.offset}"
    return f"{place} key {record.key!r} value {record.value!r} headers [{headers}]"


def _shown(value: bytes | None) -> str:
    if value is None:
        return "null"
    return value.decode() if value.isascii() and value.decode().isprintable() else value.hex()
