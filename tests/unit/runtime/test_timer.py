"""A timer is due when its time is over, and when the clock was set back."""

from __future__ import annotations

import pytest

from lsql_runner.runtime.timer import Timer

NOW_MS = 1_800_000_000_000


@pytest.mark.parametrize(
    ("passed_ms", "remaining_ms"),
    [(0, 500), (499, 1), (500, 0), (10_000, 0), (-1, 0), (-3_600_000, 0)],
)
def test_the_time_that_remains_after_a_change_of_the_clock(passed_ms: int, remaining_ms: int) -> None:
    timer = Timer()
    timer.start(NOW_MS, 500)

    assert timer.remaining_ms(NOW_MS + passed_ms) == remaining_ms
    assert timer.is_due(NOW_MS + passed_ms) is (remaining_ms == 0)


def test_a_timer_is_due_before_its_first_start_and_waits_from_the_last_one() -> None:
    timer = Timer()
    assert timer.is_due(NOW_MS)

    timer.start(NOW_MS, 500)
    timer.start(NOW_MS - 3_600_000, 500)  # after the clock was set back

    assert timer.remaining_ms(NOW_MS - 3_600_000 + 100) == 400
