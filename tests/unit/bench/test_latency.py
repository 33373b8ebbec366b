"""Latencies from the records of source and target."""

import pytest

from bench.expected import BenchFailed
from bench.latency import Appended, Latencies, by_count, by_id


def record(number: int, at_ms: int) -> Appended:
    return Appended(b"a", {"id": number}, at_ms)


def count(n: int, at_ms: int, window_ms: int = 0, key: bytes = b"a") -> Appended:
    return Appended(key + window_ms.to_bytes(8, "big"), {"n": n}, at_ms)


def test_a_result_belongs_to_the_record_with_its_id() -> None:
    records = [record(1, 10), record(2, 11)]

    assert by_id(records, [record(2, 20), record(1, 25)]) == [(records[0], 25), (records[1], 20)]


@pytest.mark.parametrize("results", [[record(1, 20)], [record(1, 20), record(1, 21), record(2, 22)]])
def test_a_missing_or_second_result_fails(results: list[Appended]) -> None:
    with pytest.raises(BenchFailed):
        by_id([record(1, 10), record(2, 11)], results)


def test_the_result_of_a_record_is_the_first_count_that_includes_it() -> None:
    records = [record(1, 1), record(2, 2), record(3, 3), record(4, 1001)]
    results = [count(1, 50), count(3, 60), count(1, 70, window_ms=1000)]

    pairs = by_count(records, results, size_ms=1000)

    assert [(each.value["id"], at_ms) for each, at_ms in pairs] == [(1, 50), (2, 60), (3, 60), (4, 70)]


@pytest.mark.parametrize("results", [[count(1, 50)], [count(3, 50)]], ids=["too few", "too many"])
def test_a_wrong_count_fails(results: list[Appended]) -> None:
    with pytest.raises(BenchFailed):
        by_count([record(1, 1), record(2, 2)], results, size_ms=1000)


def test_a_percentile_is_a_latency_that_occurred() -> None:
    latencies = Latencies(tuple(range(1, 101)))

    assert [latencies.at(share) for share in (0.5, 0.99, 0.999, 1)] == [50, 99, 100, 100]
