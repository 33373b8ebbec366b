"""The input of the comparison, and the results that are expected."""

from dataclasses import replace

import pytest

from bench.expected import (
    SAMPLED,
    BenchFailed,
    Finals,
    Records,
    check_finals,
    check_records,
    counts_by_five_minutes,
    counts_by_minute,
    counts_by_session,
    fast_reports,
    reports_with_calls,
)
from bench.vessels import CYCLE, FAST, REPORTS_OF_A_ROUND, SILENT, VESSELS, calls, reports

START_MS = 1_800_000_000_000
COUNT = 3 * CYCLE * REPORTS_OF_A_ROUND + 7
REPORTS = list(reports(COUNT, START_MS))


def test_the_filter_keeps_the_fast_reports() -> None:
    expected = fast_reports(REPORTS, COUNT)
    fast = [report for report in REPORTS if report.speed > FAST]
    assert 0 < expected.count == len(fast) < COUNT
    assert sum(map(len, expected.sample.values())) == sum(report.key in SAMPLED for report in fast)
    assert all(rows[0][0] == int(key) for key, rows in expected.sample.items())


def test_a_report_is_joined_with_each_call_within_ten_seconds() -> None:
    expected = reports_with_calls(REPORTS, COUNT)
    times: dict[bytes, list[int]] = {}
    for key, _, at_ms in calls(COUNT, START_MS):
        times.setdefault(key, []).append(at_ms)
    near = sum(abs(at_ms - report.at_ms) <= 10_000 for report in REPORTS for at_ms in times[report.key])
    assert expected.count == near > 0


def test_windows_count_each_report_once_and_hopping_windows_five_times() -> None:
    by_minute = counts_by_minute(REPORTS, COUNT).counts
    hopping = counts_by_five_minutes(REPORTS, COUNT).counts
    assert (sum(by_minute.values()), sum(hopping.values())) == (COUNT, 5 * COUNT)
    (key, start_ms, end_ms), number = next(iter(hopping.items()))
    assert number == sum(report.key == key and start_ms <= report.at_ms < end_ms for report in REPORTS)


def test_a_session_ends_with_a_pause() -> None:
    counts = counts_by_session(REPORTS, COUNT).counts
    assert sum(counts.values()) == COUNT
    assert max(counts.values()) == CYCLE - SILENT
    assert len(counts) > 3 * VESSELS


RECORDS = Records(3, {b"1": [(1,), (2,)]}, is_ordered=True)


@pytest.mark.parametrize(
    ("written", "rows"), [(2, [(1,), (2,)]), (3, [(1,)]), (3, [(2,), (1,)])], ids=["count", "missing", "order"]
)
def test_other_records_than_expected_fail(written: int, rows: list[tuple[object, ...]]) -> None:
    check_records("a", RECORDS, 3, {b"1": [(1,), (2,)]})
    with pytest.raises(BenchFailed):
        check_records("a", RECORDS, written, {b"1": rows})


def test_the_order_of_records_matters_only_if_it_is_defined() -> None:
    check_records("a", replace(RECORDS, is_ordered=False), 3, {b"1": [(2,), (1,)]})


@pytest.mark.parametrize("last", [{}, {(b"1", 0, 60): 4}, {(b"1", 0, 60): 3, (b"2", 0, 60): 1}])
def test_other_counts_than_expected_fail(last: dict[tuple[bytes, int, int], int]) -> None:
    expected = Finals({(b"1", 0, 60): 3})
    check_finals("a", expected, {(b"1", 0, 60): 3})
    with pytest.raises(BenchFailed):
        check_finals("a", expected, last)
