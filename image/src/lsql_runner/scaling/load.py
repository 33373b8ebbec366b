"""Loads: the rate at which records arrive, over time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
MAX_SECONDS = 31 * DAY_S
"""The longest load that is simulated."""


@dataclass(frozen=True, slots=True)
class Load:
    """Records that arrive.

    Attributes:
        name: for people.
        rates: pairs of a length in whole seconds, above 0, and records/s in that time; one or more.
        lag: records that wait when it begins.
    """

    name: str
    rates: Sequence[tuple[int, float]]
    lag: float = 0.0

    @property
    def seconds(self) -> int:
        """The length of the load."""
        return sum(seconds for seconds, _ in self.rates)


def _step(worker_rate: float, _: random.Random) -> list[tuple[int, float]]:
    low, high = 0.5 * worker_rate, 3.5 * worker_rate
    return [(10 * MINUTE_S, low), (30 * MINUTE_S, high), (20 * MINUTE_S, low)]


def _ramp(worker_rate: float, _: random.Random) -> list[tuple[int, float]]:
    """From half a worker to 5 and back, within an hour each."""
    up = [(MINUTE_S, worker_rate * (0.5 + 4.5 * minute / 60)) for minute in range(60)]
    return [*up, *reversed(up)]


def _spikes(worker_rate: float, _: random.Random) -> list[tuple[int, float]]:
    """Each 10 minutes, for 30 s, what 6 workers process."""
    spike = [(9 * MINUTE_S + 30, 0.5 * worker_rate), (30, 6 * worker_rate)]
    return [*spike * 6, (10 * MINUTE_S, 0.5 * worker_rate)]


def _day(worker_rate: float, noise: random.Random) -> list[tuple[int, float]]:
    """A sine between 0.3 workers at midnight and 4.3 at noon, with noise of 10 % in each minute."""
    rates = []
    for minute in range(DAY_S // MINUTE_S):
        mean = 2.3 - 2 * math.cos(2 * math.pi * minute * MINUTE_S / DAY_S)
        rates.append((MINUTE_S, worker_rate * max(0.0, mean * noise.gauss(1, 0.1))))
    return rates


_BUILT_IN: Mapping[str, Callable[[float, random.Random], list[tuple[int, float]]]] = {
    "step": _step,
    "ramp": _ramp,
    "spikes": _spikes,
    "day": _day,
}
BUILT_IN = tuple(_BUILT_IN)
"""The names of the built-in loads."""


def built_in_load(name: str, worker_rate: float, seed: int = 1) -> Load:
    """A built-in load.

    Args:
        name: one of BUILT_IN.
        worker_rate: records/s that a worker processes; the load is in proportion to it.
        seed: of the noise of `day`.
    """
    return Load(name, _BUILT_IN[name](worker_rate, random.Random(seed)))
