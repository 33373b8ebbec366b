"""The table of recovery times."""

from bench.recovery import Kill, table


def test_the_runs_of_a_size_are_one_row_with_least_median_and_most() -> None:
    runs = [Kill("restart", 1_000, seconds, 0.5) for seconds in (5.0, 3.0, 4.0)]

    rows = table([*runs, Kill("worker", 1_000, 2.0, 0.5), Kill("restart", 10_000, 6.0, 4.25)]).splitlines()

    assert rows[4:] == [
        "| 1,000 | 0.5 | restart | 3.0 / 4.0 / 5.0 |",
        "| 1,000 | 0.5 | worker | 2.0 / 2.0 / 2.0 |",
        "| 10,000 | 4.2 | restart | 6.0 / 6.0 / 6.0 |",
    ]
