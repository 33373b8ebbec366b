"""The comparison of results with records: lost, wrong and repeated ones."""

from collections import Counter

from bench.soak.check import Outcome, check_counts, check_ids, windows_of

A = b"a"


def window(start_ms: int, key: bytes = A) -> bytes:
    return key + start_ms.to_bytes(8, "big")


def test_each_record_with_one_result_is_complete() -> None:
    assert check_ids([1] * 3, lambda _: True, [(2, 10), (0, 11), (1, 12)]) == Outcome(3)


def test_a_record_without_a_result_is_lost() -> None:
    assert check_ids([1] * 3, lambda _: True, [(0, 10), (2, 11)]) == Outcome(3, lost=1, example="record 1")


def test_a_second_result_is_repeated_at_its_time() -> None:
    assert check_ids([1] * 2, lambda _: True, [(0, 10), (1, 11), (0, 12)]) == Outcome(2, repeated_ms=(12,))


def test_a_record_that_the_source_has_twice_has_two_results() -> None:
    assert check_ids([1, 2], lambda _: True, [(0, 10), (1, 11), (1, 12)]) == Outcome(2)
    assert check_ids([1, 2], lambda _: True, [(0, 10), (1, 11), (1, 12), (1, 13)]) == Outcome(2, repeated_ms=(13,))


def test_a_result_without_a_record_is_wrong() -> None:
    outcome = check_ids([1] * 2, lambda _: True, [(0, 10), (1, 11), (2, 12), (None, 13)])

    assert (outcome.lost, outcome.wrong) == (0, 2)


def test_records_that_have_their_result_elsewhere_are_not_expected() -> None:
    assert check_ids([1] * 4, lambda number: number % 2 == 0, [(0, 10), (2, 11)]) == Outcome(2)
    assert check_ids([1] * 4, lambda number: number % 2 == 0, [(0, 10), (2, 11), (3, 12)]).wrong == 1


def test_records_are_counted_in_each_window() -> None:
    windows = windows_of([(A, 5), (A, 15), (b"b", 15)], [10, 20])

    assert windows == {10: Counter({(A, 0): 1, (A, 10): 1, (b"b", 10): 1}), 20: Counter({(A, 0): 2, (b"b", 0): 1})}


def test_a_window_is_complete_when_a_result_counts_all_its_records() -> None:
    assert check_counts(Counter({(A, 0): 3}), [(window(0), 1, 10), (window(0), 3, 11)]) == Outcome(3)


def test_records_that_no_count_includes_are_lost() -> None:
    outcome = check_counts(Counter({(A, 0): 3, (b"b", 10): 2}), [(window(0), 1, 10)])

    assert (outcome.expected, outcome.lost) == (5, 4)


def test_a_count_that_does_not_increase_is_repeated() -> None:
    results = [(window(0), 1, 10), (window(0), 2, 11), (window(0), 1, 12), (window(0), 2, 13)]

    assert check_counts(Counter({(A, 0): 2}), results) == Outcome(2, repeated_ms=(12, 13))


def test_a_count_that_is_too_high_is_wrong() -> None:
    assert check_counts(Counter({(A, 0): 1}), [(window(0), 1, 10), (window(0), 2, 11)]).wrong == 1


def test_outcomes_of_several_topics_are_added() -> None:
    first, second = Outcome(2, lost=1, example="record 1"), Outcome(3, wrong=1, example="other", repeated_ms=(1,))

    assert first + second == Outcome(5, lost=1, wrong=1, example="record 1", repeated_ms=(1,))
