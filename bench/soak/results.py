"""The results of `bench.soak` as data, as failures in words, and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.soak.check import Outcome
from bench.soak.plan import JUDGED_MINUTES, Fault, Phase, phase_at
from bench.soak.verdict import QUANTITIES, PodSample, Trend, ends, part_changes, quiet, trend


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakResult:
    """One run. `failure` is why it ended early; it then has the samples and phases up to there."""

    program: str
    mode: str
    rate: float
    minutes: float
    memory_limit_mib: int
    """Of the container."""
    begin_ms: int
    phases: Sequence[Phase]
    samples: Sequence[PodSample]
    outcome: Outcome | None = None
    failure: str = ""

    @property
    def trends(self) -> list[Trend]:
        """The trend of each quantity that could be judged."""
        all_trends = (trend(quantity, self.samples, self.phases) for quantity in QUANTITIES)
        return [each for each in all_trends if each is not None]

    @property
    def repeated(self) -> Counter[str]:
        """The number of results that were written again, by the phase in which they were."""
        times_ms = self.outcome.repeated_ms if self.outcome else ()
        return Counter(phase_at(self.phases, (at_ms - self.begin_ms) / 1000) for at_ms in times_ms)

    def failures(self) -> list[str]:
        """What is wrong, each as a sentence; none if the run is as it should be."""
        if self.failure or self.outcome is None:
            return [self.failure]
        messages = []
        if self.outcome.lost:
            messages.append(
                f"{self.outcome.lost:,} of {self.outcome.expected:,} records have no result, for example "
                f"{self.outcome.example}"
            )
        if self.outcome.wrong:
            messages.append(f"{self.outcome.wrong:,} results are wrong, for example {self.outcome.example}")
        messages += [
            f"{number:,} results were written again in the phase '{name}'; only a kill may cause that"
            for name, number in self.repeated.items()
            if name != Fault.KILL
        ]
        if self.minutes < JUDGED_MINUTES:
            return messages
        trends = self.trends
        if len(trends) < len(QUANTITIES):
            messages.append("the quiet times have too few samples")
        messages += [
            f"{each.quantity.title}: grows by {each.slope_per_h:.1f} per hour, more than "
            f"{each.quantity.limit_per_h:g}: from {each.first:.1f} to {each.last:.1f}"
            for each in trends
            if not each.is_flat
        ]
        return messages

    def _verdict(self, trend: Trend) -> str:
        if self.minutes < JUDGED_MINUTES:
            return "too short"
        return "flat" if trend.is_flat else "grows"

    def document(self) -> dict[str, Any]:
        """The result as JSON."""
        failures = self.failures()
        return {
            "program": self.program,
            "mode": self.mode,
            "rate": self.rate,
            "memory_limit_mib": self.memory_limit_mib,
            "failures": failures,
            "trends": [
                {
                    "title": each.quantity.title,
                    "limit_per_h": each.quantity.limit_per_h,
                    "slope_per_h": each.slope_per_h,
                    "first": each.first,
                    "last": each.last,
                    "most": each.most,
                    "verdict": self._verdict(each),
                }
                for each in self.trends
            ],
            "parts": [asdict(each) for each in part_changes(self.samples, self.phases)],
            "outcome": _outcome(self.outcome, self.repeated),
            "phases": [_phase(each, self.samples) for each in self.phases],
            "samples": [asdict(each) for each in self.samples],
        }


def _outcome(outcome: Outcome | None, repeated: Mapping[str, int]) -> dict[str, Any] | None:
    if outcome is None:
        return None
    return {
        "expected": outcome.expected,
        "lost": outcome.lost,
        "wrong": outcome.wrong,
        "repeated": dict(repeated),
    }


def _phase(phase: Phase, samples: Sequence[PodSample]) -> dict[str, Any]:
    values = quiet(samples, phase)
    return asdict(phase) | {"medians": {each.name: ends([each.of(sample) for sample in values]) for each in QUANTITIES}}


def soak_tables(runs: Sequence[Mapping[str, Any]]) -> str:
    """The trends, the records and the phases of runs, in Markdown. `runs` are documents of results."""
    trends = [
        (*_run(run), each["title"], *(f"{each[name]:,.1f}" for name in _FIGURES), each["verdict"])
        for run in runs
        for each in run["trends"]
    ]
    parts = [
        (*_run(run), each["title"], *(f"{each[name]:,.1f}" for name in _FIGURES_OF_PART))
        for run in runs
        for each in run.get("parts", ())
    ]
    outcomes = [
        (*_run(run), *(f"{run['outcome'][name]:,}" for name in ("expected", "lost")), _repeated(run["outcome"]))
        for run in runs
        if run["outcome"]
    ]
    phases = [
        (*_run(run), each["name"], f"{each['caught_up_s'] - each['begin_s']:.0f}", *_medians(each["medians"]))
        for run in runs
        for each in run["phases"]
    ]
    failures = [(*_run(run), " ".join(failure.split())) for run in runs for failure in run["failures"]]
    tables = [
        _table(("quantity", "first third", "last third", "most", "growth per hour", "limit per hour", ""), trends),
        _table(("part of the memory, MiB", "first third", "last third", "most"), parts),
        _table(("results expected", "lost", "written again"), outcomes),
        _table(("phase", "caught up after, s", *(each.title for each in QUANTITIES)), phases),
        _table(("failure",), failures),
    ]
    return "\n\n".join(table for table in tables if table)


_FIGURES = ("first", "last", "most", "slope_per_h", "limit_per_h")
_FIGURES_OF_PART = ("first", "last", "most")


def _run(run: Mapping[str, Any]) -> tuple[str, str]:
    name = run["program"] if run["mode"] == "auto" else f"{run['program']}, {run['mode']}"
    return name, f"{run['rate']:,}"


def _repeated(outcome: Mapping[str, Any]) -> str:
    return ", ".join(f"{number:,} ({name})" for name, number in outcome["repeated"].items()) or "0"


def _medians(medians: Mapping[str, Sequence[float] | None]) -> list[str]:
    """The medians of the first and of the last third of a phase, for each quantity."""
    return [" → ".join(f"{value:,.1f}" for value in medians[each.name] or ()) for each in QUANTITIES]


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    heads = ("program", "records/s", *titles)
    return "\n".join(
        [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in rows)]
    )
