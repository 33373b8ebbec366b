"""Simulated loads: what is measured, and how the policy behaves over time."""

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsql_runner.scaling.load import BUILT_IN, HOUR_S, Load, built_in_load
from lsql_runner.scaling.policy import CatchUp, Lag, LagPerWorker, Policy, ScalingHistory, decide
from lsql_runner.scaling.simulate import SimulatedWorkers, SimulationResult, simulate
from lsql_runner.scaling.window import Windows, WorkerLimits

RATE = 1_000.0
WORKERS = SimulatedWorkers(rate=RATE, start_s=22, interval_s=15, limits=WorkerLimits())


def run(load: Load, policy: Policy, workers: SimulatedWorkers = WORKERS) -> tuple[list[int], SimulationResult]:
    """The numbers of workers after each decision, and what was measured."""
    numbers = []

    def recorded(history: ScalingHistory, lag: Lag, current: int) -> tuple[int, ScalingHistory]:
        desired, after = decide(policy, history, lag, current)
        numbers.append(desired)
        return desired, after

    return numbers, simulate(load, workers, recorded)


def test_a_simulation_measures_lag_workers_and_times() -> None:
    workers = SimulatedWorkers(rate=10, start_s=5, interval_s=10, limits=WorkerLimits())
    policy = Policy(worker_rate=10, target=CatchUp(60))
    # At 40 s the policy sees 30 records/s and a lag of 200: 3.3 workers. 4 process records from 45 s on.
    outcome = simulate(Load("step", [(30, 10.0), (30, 30.0)]), workers, partial(decide, policy))

    assert outcome == SimulationResult(
        reaction_s=15,
        overshoot=1,
        scalings=1,
        worker_hours=(40 * 1 + 20 * 4) / HOUR_S,
        delay_s=4.75,
        max_lag=300,
        max_lag_at_s=45,
        most_workers=4,
    )


def test_a_simulation_begins_with_the_lag_of_the_load() -> None:
    numbers, outcome = run(Load("recorded", [(60, 500.0)], lag=6_000), Policy(worker_rate=RATE))

    assert numbers == [1, 1, 1]
    assert (outcome.max_lag, outcome.max_lag_at_s) == (6_000, 0)


def test_a_load_without_records_has_no_delay() -> None:
    outcome = simulate(Load("none", [(60, 0.0)]), WORKERS, partial(decide, Policy(worker_rate=RATE)))

    assert (outcome.delay_s, outcome.max_lag, outcome.scalings) == (0, 0, 0)


@settings(max_examples=30, deadline=None)
@given(
    before=st.floats(0, 8),
    constant=st.floats(0, 8),
    target=st.builds(CatchUp, st.floats(10, 300)) | st.builds(LagPerWorker, st.floats(10 * RATE, 300 * RATE)),
    tolerance=st.floats(0.05, 0.3),
    down_window=st.sampled_from([0, 60, 300]),
)
def test_a_constant_load_is_processed_without_shrinking_and_growing_again(
    before: float, constant: float, target: CatchUp | LagPerWorker, tolerance: float, down_window: int
) -> None:
    policy = Policy(worker_rate=RATE, target=target, tolerance=tolerance, windows=Windows(up_s=0, down_s=down_window))
    load = Load("constant", [(600, before * RATE), (3 * HOUR_S, constant * RATE)])

    numbers, _ = run(load, policy)

    after = numbers[700 // 15 :]  # the load before has an effect until the first decision that does not see it
    changes = [b - a for a, b in pairwise(after) if a != b]
    first_shrink = next((i for i, change in enumerate(changes) if change < 0), len(changes))
    assert [change for change in changes[first_shrink:] if change > 0] == []
    assert after[-1] * (1 + tolerance) >= constant


@settings(max_examples=30, deadline=None)
@given(backlog_s=st.integers(60, 600), backlog=st.floats(8, 100), arriving=st.floats(0, 0.9), minimum=st.integers(1, 3))
def test_the_minimum_is_left_when_a_backlog_is_processed(
    backlog_s: int, backlog: float, arriving: float, minimum: int
) -> None:
    limits = WorkerLimits(minimum=minimum)
    seconds = int(backlog_s * backlog / (8 - arriving)) + HOUR_S
    load = Load("backlog", [(600, arriving * RATE), (backlog_s, backlog * RATE), (seconds, arriving * RATE)])

    numbers, _ = run(
        load,
        Policy(worker_rate=RATE, limits=limits),
        SimulatedWorkers(rate=RATE, start_s=22, interval_s=15, limits=limits),
    )

    assert (max(numbers), numbers[-1]) == (8, minimum)


def test_a_worker_that_is_slower_than_assumed_leaves_a_bounded_lag() -> None:
    policy = Policy(worker_rate=2 * RATE, target=CatchUp(60))
    numbers, outcome = run(Load("slow", [(600, RATE), (4 * HOUR_S, 4 * RATE)]), policy)

    assert numbers[-1] >= 4
    assert outcome.max_lag < 6 * 60 * RATE


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_load_is_in_proportion_to_the_rate_of_a_worker(name: str) -> None:
    small, large = built_in_load(name, 1), built_in_load(name, 1_000)

    assert [rate for _, rate in large.rates] == pytest.approx([rate * 1_000 for _, rate in small.rates])
    assert small.seconds >= HOUR_S


def test_the_seed_determines_the_noise_of_a_day() -> None:
    assert built_in_load("day", 1, seed=2) == built_in_load("day", 1, seed=2)
    assert built_in_load("day", 1, seed=2) != built_in_load("day", 1, seed=3)
