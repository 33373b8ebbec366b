"""The benchmark's computations: rates from samples, pairs, the table; and its input."""

from collections import Counter

import pytest

from bench.measures import Pairs, ProgressSample, RunMeasures, Spread, measures_of, ratios, spread, table
from bench.vessels import VESSELS, Expected, reports


def run(warm: float | None, total: float = 1000.0) -> RunMeasures:
    return RunMeasures(total_per_s=total, warm_per_s=warm, warm_cpu_us=None, cpu_s=1.0, first_commit_s=2.0)


def test_the_warm_rate_excludes_start_up_and_the_first_third() -> None:
    samples = [
        ProgressSample(0, 0, 0),
        ProgressSample(5, 10, 4),
        ProgressSample(8, 300, 6),
        ProgressSample(10, 600, 8),
        ProgressSample(12, 900, 9),
    ]
    found = measures_of(samples, 900)
    assert found.warm_per_s == 600 / 4
    assert found.total_per_s == 900 / 12
    assert found.first_commit_s == 5


def test_processor_time_is_measured_over_the_same_part_of_the_run() -> None:
    samples = [ProgressSample(8, 400, 6), ProgressSample(12, 900, 9)]
    assert measures_of(samples, 900).warm_cpu_us == 3e6 / 500


def test_a_run_with_one_commit_has_no_warm_rate() -> None:
    found = measures_of([ProgressSample(0, 0, 0), ProgressSample(4, 900, 2)], 900)
    assert (found.warm_per_s, found.warm_cpu_us) == (None, None)
    assert found.total_per_s == 225


def test_a_run_that_did_not_reach_the_end_has_no_measures() -> None:
    with pytest.raises(ValueError, match="before record 900"):
        measures_of([ProgressSample(0, 0, 0), ProgressSample(4, 899, 2)], 900)


def test_spread_of_values() -> None:
    assert spread([3.0, 1.0, 7.0]) == Spread(1.0, 3.0, 7.0)


def test_the_spread_of_no_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        spread([])


def test_ratios_are_computed_for_pairs() -> None:
    assert ratios([2.0, 3.0], [1.0, 6.0]) == [2.0, 0.5]


@pytest.mark.parametrize(("lsql_runner", "kafka_streams"), [([1.0], [1.0, 2.0]), ([1.0], [0.0])])
def test_ratios_refuse_values_without_a_pair(lsql_runner: list[float], kafka_streams: list[float]) -> None:
    with pytest.raises(ValueError, match=r"pairs|zero"):
        ratios(lsql_runner, kafka_streams)


def test_the_table_has_a_line_for_each_measure_of_a_workload() -> None:
    pairs = Pairs("filter", (run(100_000.0), run(120_000.0)), (run(200_000.0), run(200_000.0)))
    lines = table([pairs]).splitlines()
    assert lines[2] == (
        "| filter | records/s, warm | 100 k / 110 k / 120 k | 200 k / 200 k / 200 k | 0.50 / 0.55 / 0.60 |"
    )
    assert len(lines) == 6


def test_a_measure_that_one_run_lacks_is_shown_as_too_short() -> None:
    pairs = Pairs("filter", (run(100_000.0), run(None)), (run(200_000.0), run(200_000.0)))
    assert table([pairs]).splitlines()[2].split(" | ")[2:] == ["too short", "200 k / 200 k / 200 k", "too short |"]


def test_the_input_has_the_expected_output() -> None:
    expected = Expected()
    records = list(reports(3 * VESSELS, 1_800_000_000_000, expected))
    assert sum(expected.windows.values()) == len(records)
    assert expected.windows == Counter((key, at - at % 60_000) for key, _, at in records)
    assert 0 < expected.fast < len(records)


def test_the_input_is_deterministic() -> None:
    assert list(reports(100, 60_000, Expected())) == list(reports(100, 60_000, Expected()))
