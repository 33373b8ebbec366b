"""The results that a workload must have, computed from the input, and the comparison with what an engine wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bench.vessels import FAST, Report, calls_near, key_of, name_of, port_of, rounds_of

SAMPLED = frozenset(key_of(vessel) for vessel in range(0, 2000, 100))
"""The keys whose records are compared field by field."""
MINUTE_MS = 60_000
HOP_MINUTES = 5
GAP_MS = 30_000

Window: TypeAlias = tuple[bytes, int, int]
"""Key, start and end in ms; the end of a session is the time of its last record."""


class BenchFailed(Exception):
    """An engine was too slow, ended early, or wrote a wrong result."""


@dataclass(frozen=True, slots=True)
class Records:
    """The results of a workload that writes records."""

    count: int
    """Of all keys."""
    sample: Mapping[bytes, list[tuple[object, ...]]]
    """The fields of each result of the sampled keys, in order."""
    is_ordered: bool
    """Whether the order of a key's results is defined."""


@dataclass(frozen=True, slots=True)
class Finals:
    """The last count of each key and window."""

    counts: Mapping[Window, int]


Expected: TypeAlias = Records | Finals
Expectation: TypeAlias = Callable[[Iterable[Report], int], Expected]
"""The results by the reports and their number."""


def fast_reports(reports: Iterable[Report], count: int) -> Records:
    """MMSI, Speed, Long, Lat and Timestamp of the fast vessels."""

    def row(report: Report) -> tuple[object, ...]:
        value = report.value()
        return tuple(value[field] for field in ("MMSI", "Speed", "Long", "Lat", "Timestamp"))

    return _records((report for report in reports if report.speed > FAST), lambda report: [row(report)])


def named_reports(reports: Iterable[Report], count: int) -> Records:
    """MMSI, Speed and the name of the vessel, for each report."""
    return _records(reports, lambda report: [(report.mmsi, report.speed, name_of(report.vessel))])


def reports_with_calls(reports: Iterable[Report], count: int) -> Records:
    """MMSI, Speed and the port, for each report and each of the vessel's calls within 10 s."""
    rounds = rounds_of(count)

    def rows(report: Report) -> list[tuple[object, ...]]:
        return [(report.mmsi, report.speed, port_of(report.vessel, turn)) for turn in calls_near(report, rounds)]

    return _records(reports, rows, is_ordered=False)


def _records(
    reports: Iterable[Report], rows: Callable[[Report], list[tuple[object, ...]]], is_ordered: bool = True
) -> Records:
    count = 0
    sample: dict[bytes, list[tuple[object, ...]]] = defaultdict(list)
    for report in reports:
        rows_of_report = rows(report) if report.key in SAMPLED or not is_ordered else None
        count += 1 if rows_of_report is None else len(rows_of_report)
        if rows_of_report and report.key in SAMPLED:
            sample[report.key] += rows_of_report
    return Records(count, dict(sample), is_ordered)


def counts_by_minute(reports: Iterable[Report], count: int) -> Finals:
    """The reports of each key and minute."""
    counts: Counter[Window] = Counter()
    for report in reports:
        start_ms = report.at_ms - report.at_ms % MINUTE_MS
        counts[report.key, start_ms, start_ms + MINUTE_MS] += 1
    return Finals(counts)


def counts_by_five_minutes(reports: Iterable[Report], count: int) -> Finals:
    """The reports of each key and window of five minutes, with a window in each minute."""
    counts: Counter[Window] = Counter()
    for (key, start_ms, _), number in counts_by_minute(reports, count).counts.items():
        for minute in range(HOP_MINUTES):
            begin_ms = start_ms - minute * MINUTE_MS
            counts[key, begin_ms, begin_ms + HOP_MINUTES * MINUTE_MS] += number
    return Finals(counts)


def counts_by_session(reports: Iterable[Report], count: int) -> Finals:
    """The reports of each session: reports of a key without a pause of more than 30 s."""
    counts: dict[Window, int] = {}
    current: dict[bytes, tuple[int, int, int]] = {}
    for report in reports:
        start_ms, end_ms, number = current.get(report.key, (report.at_ms, report.at_ms, 0))
        if report.at_ms - end_ms > GAP_MS:
            counts[report.key, start_ms, end_ms] = number
            start_ms, number = report.at_ms, 0
        current[report.key] = start_ms, report.at_ms, number + 1
    counts.update({(key, start_ms, end_ms): number for key, (start_ms, end_ms, number) in current.items()})
    return Finals(counts)


def check_records(name: str, expected: Records, written: int, sample: Mapping[bytes, list[tuple[object, ...]]]) -> None:
    """Compare the number of all results and the results of the sampled keys.

    Raises:
        BenchFailed: they differ.
    """
    if written != expected.count:
        raise BenchFailed(f"{name}: {written} records written, {expected.count} expected")
    for key, rows in expected.sample.items():
        actual = sample.get(key, [])
        if (actual != rows) if expected.is_ordered else (Counter(actual) != Counter(rows)):
            wrong = next(
                (pair for pair in zip(actual, rows, strict=False) if pair[0] != pair[1]), (len(actual), len(rows))
            )
            raise BenchFailed(f"{name}: the results of {key.decode()} differ, for example {wrong[0]}, not {wrong[1]}")


def check_finals(name: str, expected: Finals, last: Mapping[Window, int]) -> None:
    """Compare the last count of each key and window.

    Raises:
        BenchFailed: they differ.
    """
    if last != expected.counts:
        wrong = [
            window for window in expected.counts.keys() | last.keys() if expected.counts.get(window) != last.get(window)
        ]
        example = min(wrong)
        raise BenchFailed(
            f"{name}: {len(wrong)} of {len(expected.counts)} windows are wrong, {len(last)} written, for example "
            f"{example}: {last.get(example)}, not {expected.counts.get(example)}"
        )
