"""Whether a quantity grows: leaks of known slope, noise that is none, and faults that change the level."""

import random
from collections.abc import Callable

import pytest

from bench.soak.plan import Phase
from bench.soak.verdict import PodSample, Quantity, Trend, trend

MEMORY = Quantity("private_mib", "private memory, MiB", limit_per_h=15, tolerance=30)
FILES = Quantity("private_mib", "files, MiB", limit_per_h=5, tolerance=5, outlives_process=True)
HOUR_S = 3600


def sample(at_s: float, private_mib: float) -> PodSample:
    return PodSample(
        at_s=at_s,
        private_mib=private_mib,
        descriptors=0,
        threads=0,
        checkpoint_mib=0,
        checkpoint_files=0,
        temporary_mib=0,
    )


def samples(private_mib: Callable[[float], float], end_s: float, begin_s: float = 0) -> list[PodSample]:
    """One every 5 s."""
    return [sample(at_s, private_mib(at_s)) for at_s in range(int(begin_s), int(end_s), 5)]


def phase(begin_s: float, end_s: float, *, level: int = 0, settle_s: float = 0) -> Phase:
    return Phase(
        name="start", level=level, begin_s=begin_s, caught_up_s=begin_s, quiet_s=begin_s + settle_s, end_s=end_s
    )


def judged(private_mib: Callable[[float], float], *phases: Phase) -> Trend:
    verdict = trend(MEMORY, samples(private_mib, phases[-1].end_s), phases)
    assert verdict is not None
    return verdict


def saw_tooth(at_s: float) -> float:
    """The heap grows by 60 MiB in 50 s until it is collected."""
    return 400 + 60 * (at_s % 50) / 50


def test_a_leak_is_found_with_its_slope() -> None:
    verdict = judged(lambda at_s: 400 + 40 * at_s / HOUR_S, phase(0, 2 * HOUR_S))

    assert verdict.slope_per_h == pytest.approx(40)
    assert not verdict.is_flat


def test_a_leak_under_a_saw_tooth_and_noise_is_found() -> None:
    noise = random.Random(1)
    verdict = judged(
        lambda at_s: saw_tooth(at_s) + 40 * at_s / HOUR_S + noise.uniform(-20, 20), phase(0, 2 * HOUR_S, settle_s=180)
    )

    assert verdict.slope_per_h == pytest.approx(40, rel=0.2)
    assert not verdict.is_flat


@pytest.mark.parametrize("minutes", [4, 5, 7, 10, 120])
def test_the_saw_tooth_of_a_garbage_collector_is_flat(minutes: int) -> None:
    assert judged(saw_tooth, phase(0, minutes * 60)).is_flat


def test_samples_of_faults_and_of_the_warm_up_are_not_judged() -> None:
    phases = phase(0, 1800, settle_s=600), phase(1800, 3600, settle_s=600)

    verdict = judged(lambda at_s: 400 if at_s % 1800 >= 600 else at_s, *phases)

    assert (verdict.slope_per_h, verdict.first, verdict.last) == (0, 400, 400)


def test_a_step_with_each_fault_of_a_level_is_growth() -> None:
    phases = [phase(900 * number, 900 * (number + 1)) for number in range(8)]

    verdict = judged(lambda at_s: 400 + 10 * (at_s // 900), *phases)

    assert verdict.slope_per_h == pytest.approx(40, rel=0.2)
    assert not verdict.is_flat


def test_a_step_of_files_after_a_new_process_is_growth() -> None:
    before, after = phase(0, 600), phase(600, 3600, level=1)

    verdict = trend(FILES, samples(lambda at_s: 10 if at_s < 1500 else 24, 3600), (before, after))

    assert verdict is not None
    assert (verdict.first, verdict.last) == (10, 24)
    assert verdict.slope_per_h == pytest.approx(14 / (2 / 3), rel=0.01)
    assert not verdict.is_flat
