"""The benchmark's computations: rates from samples, pairs, the table."""

import pytest

from bench.measures import Comparison, ProgressSample, RunMeasures, measures_of, ratios, table


def run(warm: float | None, total: float = 1000.0) -> RunMeasures:
    return RunMeasures(
        total_per_s=total, warm_per_s=warm, warm_cpu_us=None, cpu_s=1.0, first_commit_s=2.0, private_mib=300.0
    )


def test_the_warm_rate_excludes_start_up_and_the_first_third() -> None:
    samples = [
        ProgressSample(0, 0, 0),
        ProgressSample(5, 10, 4),
        ProgressSample(8, 300, 6),
        ProgressSample(10, 600, 8),
        ProgressSample(12, 900, 9),
    ]
    measures = measures_of(samples, 900, private_mib=300.0)
    assert measures.warm_per_s == 600 / 4
    assert measures.total_per_s == 900 / 12
    assert measures.first_commit_s == 5


def test_processor_time_is_measured_over_the_same_part_of_the_run() -> None:
    samples = [ProgressSample(8, 400, 6), ProgressSample(12, 900, 9)]
    assert measures_of(samples, 900, private_mib=300.0).warm_cpu_us == 3e6 / 500


def test_a_run_with_one_commit_has_no_warm_rate() -> None:
    measures = measures_of([ProgressSample(0, 0, 0), ProgressSample(4, 900, 2)], 900, private_mib=300.0)
    assert (measures.warm_per_s, measures.warm_cpu_us) == (None, None)
    assert measures.total_per_s == 225


def test_a_run_that_did_not_reach_the_end_has_no_measures() -> None:
    with pytest.raises(ValueError, match="before record 900"):
        measures_of([ProgressSample(0, 0, 0), ProgressSample(4, 899, 2)], 900, private_mib=300.0)


@pytest.mark.parametrize(("ours", "others"), [([1.0], [1.0, 2.0]), ([1.0], [0.0])])
def test_ratios_refuse_values_without_a_pair(ours: list[float], others: list[float]) -> None:
    with pytest.raises(ValueError, match=r"pairs|zero"):
        ratios(ours, others)


def test_the_table_compares_the_first_engine_with_the_others_in_each_measure() -> None:
    runs = {"a": (run(100_000.0), run(120_000.0)), "b": (run(200_000.0),) * 2, "c": (run(50_000.0),) * 2}
    lines = table([Comparison("filter", runs)]).splitlines()
    assert lines[0] == "| workload | measure | a | b | c | ratio to b | ratio to c |"
    assert lines[2] == (
        "| filter | records/s, warm | 100 k / 110 k / 120 k | 200 k / 200 k / 200 k | 50 k / 50 k / 50 k "
        "| 0.50 / 0.55 / 0.60 | 2.00 / 2.20 / 2.40 |"
    )
    assert len(lines) == 7
