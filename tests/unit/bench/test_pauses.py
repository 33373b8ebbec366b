"""The end of the pause after a fault."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench.pauses import longest_pause_ms, resumed_ms

FAULT_MS = 100_000


@pytest.mark.parametrize(
    ("arrivals_s", "now_s", "expected_s"),
    [
        pytest.param([], 9, None, id="nothing yet"),
        pytest.param([-1, 6], 7, None, id="it may end again"),
        pytest.param([-1, 6, 7, 8, 9], 9.5, 6, id="results go on"),
        pytest.param([0.5, 1.5, 7, 8, 9, 10], 10.5, 7, id="the killed process has written on"),
        pytest.param([2, 3, 4, 5], 9, None, id="a longer pause has begun"),
        pytest.param([2, 3, 4, 5, 11, 12, 13, 14], 14.5, 11, id="the longer pause is over"),
        pytest.param([0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4], 4.2, None, id="no pause"),
    ],
)
def test_results_go_on_after_the_longest_pause(
    arrivals_s: Sequence[float], now_s: float, expected_s: float | None
) -> None:
    arrivals_ms = [FAULT_MS + int(at * 1000) for at in arrivals_s]
    pause_ms = resumed_ms(arrivals_ms, FAULT_MS, FAULT_MS + int(now_s * 1000))

    assert pause_ms == (None if expected_s is None else int(expected_s * 1000))


def test_the_longest_pause_is_between_two_results() -> None:
    assert longest_pause_ms([5, 10, 40, 45]) == 30
    assert longest_pause_ms([5]) == 0
