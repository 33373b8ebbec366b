"""Simulates workers that are added and removed while a load arrives: one queue, in steps of a second.

The model: a worker that is added processes nothing until it has started, then a constant rate while there is lag; a
worker that is removed stops at once, the newest first. All partitions have the same share of the load.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from lsql_runner.scaling.load import HOUR_S, Load
from lsql_runner.scaling.policy import Lag, ScalingHistory
from lsql_runner.scaling.window import WorkerLimits

Decide = Callable[[ScalingHistory, Lag, int], tuple[int, ScalingHistory]]
"""A policy: from its history, the lag and the number of workers to the desired number and the next history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedWorkers:
    """The workers of a simulation.

    Attributes:
        rate: records/s that a worker processes.
        start_s: whole seconds from a decision until a new worker processes records.
        interval_s: whole seconds between two decisions, above 0.
        limits: the allowed numbers.
    """

    rate: float
    start_s: int
    interval_s: int
    limits: WorkerLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """The measurements of a simulation.

    Attributes:
        reaction_s: the longest time, in seconds, in which records arrived faster than workers processed them.
        overshoot: the most workers, less the most that the load needed at any time; 0 or more.
        scalings: changes of the number of workers.
        worker_hours: the time of all workers in hours, from their start.
        delay_s: the mean time, in seconds, that a record waited: mean lag / mean rate.
        max_lag: the largest lag in records.
        max_lag_at_s: its time in seconds.
        most_workers: the largest number of workers.
    """

    reaction_s: int
    overshoot: int
    scalings: int
    worker_hours: float
    delay_s: float
    max_lag: float
    max_lag_at_s: int
    most_workers: int


class _Pool:
    """The workers at an instant: for each, the time at which it has started, in the order of these times."""

    def __init__(self, workers: SimulatedWorkers, count: int) -> None:
        self._workers = workers
        self._started_s = [0] * count

    def __len__(self) -> int:
        return len(self._started_s)

    def scale(self, count: int, now_s: int) -> None:
        added = max(0, count - len(self))
        self._started_s = [*self._started_s[:count], *[now_s + self._workers.start_s] * added]

    def rate(self, now_s: int) -> float:
        """Records/s that the workers can process now."""
        return self._workers.rate * bisect_right(self._started_s, now_s)


def simulate(load: Load, workers: SimulatedWorkers, decide: Decide) -> SimulationResult:
    """Run a load through a queue whose workers a policy decides.

    The simulation begins with as many started workers as the first rate of the load needs, and with its lag.
    """

    def needs(rate: float) -> int:
        return workers.limits.clamp(ceil(rate / workers.rate))

    pool = _Pool(workers, needs(load.rates[0][1]))
    history = ScalingHistory()
    most_needed = most_workers = len(pool)
    lag = max_lag = load.lag
    arrived = arrived_before = lag_seconds = 0.0
    now_s = max_lag_at_s = scalings = short_s = reaction_s = worker_seconds = 0
    for seconds, rate in load.rates:
        most_needed = max(most_needed, needs(rate))
        for _ in range(seconds):
            if now_s and now_s % workers.interval_s == 0:
                seen = Lag(now_s, lag, (arrived - arrived_before) / workers.interval_s)
                arrived_before = arrived
                desired, history = decide(history, seen, len(pool))
                if desired != len(pool):
                    scalings += 1
                    pool.scale(desired, now_s)
            capacity = pool.rate(now_s)
            lag = max(0.0, lag + rate - capacity)
            short_s = short_s + 1 if rate > capacity else 0
            now_s += 1
            arrived += rate
            lag_seconds += lag
            worker_seconds += len(pool)
            reaction_s = max(reaction_s, short_s)
            most_workers = max(most_workers, len(pool))
            if lag > max_lag:
                max_lag, max_lag_at_s = lag, now_s
    return SimulationResult(
        reaction_s=reaction_s,
        overshoot=max(0, most_workers - most_needed),
        scalings=scalings,
        worker_hours=worker_seconds / HOUR_S,
        delay_s=lag_seconds / arrived if arrived else 0.0,
        max_lag=max_lag,
        max_lag_at_s=max_lag_at_s,
        most_workers=most_workers,
    )
