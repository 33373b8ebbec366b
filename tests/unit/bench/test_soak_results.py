"""The verdict of a run in words, and its tables."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bench.soak.check import Outcome
from bench.soak.plan import Fault, Phase, Slot, phase
from bench.soak.results import SoakResult
from bench.soak.verdict import PodSample

HOUR_S = 3600
SAMPLE = PodSample(
    at_s=0,
    private_mib=400,
    descriptors=300,
    threads=80,
    checkpoint_mib=1,
    checkpoint_files=200,
    temporary_mib=2,
)
PHASES: tuple[Phase, ...] = (
    phase(Slot(None, 0, HOUR_S), 0, begin_s=0, caught_up_s=0),
    phase(Slot(Fault.KILL, HOUR_S, 2 * HOUR_S), 1, begin_s=HOUR_S, caught_up_s=HOUR_S + 20),
    phase(Slot(Fault.BURST, 2 * HOUR_S, 3 * HOUR_S), 1, begin_s=2 * HOUR_S, caught_up_s=2 * HOUR_S + 20),
)


def samples(change: Callable[[PodSample], PodSample] = lambda sample: sample) -> tuple[PodSample, ...]:
    return tuple(change(replace(SAMPLE, at_s=float(at_s))) for at_s in range(0, 3 * HOUR_S, 60))


RESULT = SoakResult(
    program="filter",
    mode="auto",
    rate=1_000,
    minutes=180,
    memory_limit_mib=768,
    begin_ms=1_000_000,
    phases=PHASES,
    samples=samples(),
    outcome=Outcome(500),
)
AFTER_KILL_MS = RESULT.begin_ms + (HOUR_S + 30) * 1000


def test_results_may_be_written_again_after_a_kill() -> None:
    result = replace(RESULT, outcome=Outcome(500, repeated_ms=(AFTER_KILL_MS, AFTER_KILL_MS)))

    assert result.failures() == []
    assert result.repeated == {Fault.KILL: 2}


def test_results_that_are_written_again_otherwise_are_a_failure() -> None:
    result = replace(RESULT, outcome=Outcome(500, repeated_ms=(AFTER_KILL_MS, AFTER_KILL_MS + 3_600_000)))

    assert result.failures() == ["1 results were written again in the phase 'burst'; only a kill may cause that"]


def test_a_quantity_that_grows_is_named() -> None:
    result = replace(RESULT, samples=samples(lambda each: replace(each, threads=80 + 60 * each.at_s / HOUR_S)))

    assert result.failures() == ["threads: grows by 60.0 per hour, more than 5: from 162.5 to 240.5"]


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        (Outcome(500, lost=2, example="record 7"), "2 of 500 records have no result, for example record 7"),
        (Outcome(500, wrong=1, example="id 900"), "1 results are wrong, for example id 900"),
    ],
)
def test_lost_and_wrong_results_are_failures(outcome: Outcome, failure: str) -> None:
    assert replace(RESULT, outcome=outcome).failures() == [failure]


def test_a_short_run_finds_losses_but_judges_no_growth() -> None:
    grows = samples(lambda each: replace(each, threads=80 + 60 * each.at_s / HOUR_S))
    short = replace(RESULT, minutes=4, samples=grows)

    assert short.failures() == []
    assert {each["verdict"] for each in short.document()["trends"]} == {"too short"}
    assert replace(short, outcome=Outcome(500, lost=1)).failures() != []
