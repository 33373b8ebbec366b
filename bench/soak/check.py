"""Whether each record has its result, and which results were written again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field

Windows = Counter[tuple[bytes, int]]
"""The number of records of each key and start of a window."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was expected of a run, and what it wrote."""

    expected: int
    """Records that have a result; with windows once for each window."""
    _: KW_ONLY
    lost: int = 0
    """Of them, without a result."""
    wrong: int = 0
    """Results that no record explains."""
    example: str = ""
    """One that is lost or wrong."""
    repeated_ms: tuple[int, ...] = field(default=(), repr=False)
    """When the broker appended each result that was there already, in ms."""

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.expected + other.expected,
            lost=self.lost + other.lost,
            wrong=self.wrong + other.wrong,
            example=self.example or other.example,
            repeated_ms=self.repeated_ms + other.repeated_ms,
        )


def check_ids(
    copies: Sequence[int], is_expected: Callable[[int], bool], results: Iterable[tuple[int | None, int]]
) -> Outcome:
    """Compare results with records.

    Args:
        copies: how often the source has the record with an id, by id. The producer of the load may repeat records.
        is_expected: whether the record with an id has a result here.
        results: the id of the record and the time of each result in ms; None as the id of a wrong result.
    """
    seen = bytearray(len(copies))
    repeated: list[int] = []
    wrong, example = 0, ""
    for number, at_ms in results:
        if number is None or not (0 <= number < len(copies) and is_expected(number)):
            wrong, example = wrong + 1, example or f"a result of record {number}, which has none here"
            continue
        if seen[number] >= copies[number]:
            repeated.append(at_ms)
        else:
            seen[number] += 1
    missing = [number for number, count in enumerate(seen) if not count and is_expected(number)]
    if missing and not example:
        example = f"record {missing[0]}"
    expected = sum(map(is_expected, range(len(copies))))
    return Outcome(expected, lost=len(missing), wrong=wrong, example=example, repeated_ms=tuple(repeated))


def windows_of(records: Iterable[tuple[bytes, int]], sizes_ms: Iterable[int]) -> dict[int, Windows]:
    """The records of each window by the window's size. `records` are keys and times in ms."""
    by_size: dict[int, Windows] = {size_ms: Counter() for size_ms in sizes_ms}
    for key, at_ms in records:
        for size_ms, windows in by_size.items():
            windows[key, at_ms - at_ms % size_ms] += 1
    return by_size


def check_counts(windows: Windows, results: Iterable[tuple[bytes, int, int]]) -> Outcome:
    """Compare counts with the records of each window.

    Args:
        results: key, whose last 8 bytes are the start of the window, the count, and the time in ms; in order.
    """
    done: defaultdict[tuple[bytes, int], int] = defaultdict(int)
    repeated: list[int] = []
    wrong, example = 0, ""
    for key, count, at_ms in results:
        group = key[:-8], int.from_bytes(key[-8:], "big")
        if count > windows[group]:
            wrong, example = wrong + 1, example or f"{count} instead of {windows[group]} for {group}"
        elif count <= done[group]:
            repeated.append(at_ms)
        else:
            done[group] = count
    missing = {group: number - done[group] for group, number in windows.items() if done[group] < number}
    if missing and not example:
        group, number = next(iter(missing.items()))
        example = f"{number} of {windows[group]} for {group}"
    return Outcome(
        windows.total(), lost=sum(missing.values()), wrong=wrong, example=example, repeated_ms=tuple(repeated)
    )
