"""Computes the measures from samples: rates of a run, ratios, the table. It reads no clock and no broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class ProgressSample:
    """The observations at one time of a run."""

    at_s: float
    """Seconds since the process was started."""
    committed: int
    """Records of the input that the consumer group has read."""
    cpu_s: float
    """Processor time of the process and its children so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMeasures:
    """The measures of one run. A rate is None if the run was too short."""

    total_per_s: float
    """All records divided by the seconds from the start of the process to the commit of the last record."""
    warm_per_s: float | None
    """Without start-up and the first third of the records: see `measures_of`."""
    warm_cpu_us: float | None
    """Microseconds of processor time for one record, over the same part of the run."""
    cpu_s: float
    """Processor time of the whole run."""
    first_commit_s: float
    """Seconds to the first commit that was seen."""
    private_mib: float
    """The largest memory that no file backs."""


def measures_of(samples: Sequence[ProgressSample], count: int, private_mib: float) -> RunMeasures:
    """The measures of a run with `count` records.

    The warm rate is measured from the first commit at or after a third of the input to the commit of its end. The
    number of records between two commits is exact, however rare commits are.

    Raises:
        ValueError: the samples do not reach the end of the input.
    """
    commits = [sample for sample in samples if sample.committed > 0]
    if not commits or commits[-1].committed != count:
        raise ValueError(f"the samples end before record {count}")
    end = next(sample for sample in commits if sample.committed == count)
    begin = next(sample for sample in commits if sample.committed * 3 >= count)
    records, seconds = end.committed - begin.committed, end.at_s - begin.at_s
    is_long_enough = records > 0 and seconds > 0
    return RunMeasures(
        total_per_s=count / end.at_s,
        warm_per_s=records / seconds if is_long_enough else None,
        warm_cpu_us=(end.cpu_s - begin.cpu_s) * 1e6 / records if is_long_enough else None,
        cpu_s=end.cpu_s,
        first_commit_s=commits[0].at_s,
        private_mib=private_mib,
    )


@dataclass(frozen=True, slots=True)
class Spread:
    low: float
    middle: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Smallest, median and largest.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("no values")
    return Spread(min(values), median(values), max(values))


def ratios(ours: Sequence[float], others: Sequence[float]) -> list[float]:
    """The ratio of the first to the second value for each pair of runs.

    Raises:
        ValueError: the numbers of runs differ, or a value of `others` is zero.
    """
    if len(ours) != len(others):
        raise ValueError(f"{len(ours)} and {len(others)} values make no pairs")
    if 0 in others:
        raise ValueError("a ratio to zero")
    return [a / b for a, b in zip(ours, others, strict=True)]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure in the table: `of` takes it from a run, `written` formats it."""

    title: str
    of: Callable[[RunMeasures], float | None]
    written: Callable[[float], str]


def _thousands(value: float) -> str:
    """A rate with three digits, such as `23.4 k` and `1,230 k`."""
    return f"{float(f'{value / 1000:.3g}'):,g} k"


MEASURES = (
    Measure("records/s, warm", lambda run: run.warm_per_s, _thousands),
    Measure("records/s, with start-up", lambda run: run.total_per_s, _thousands),
    Measure("processor time per record, warm, µs", lambda run: run.warm_cpu_us, lambda value: f"{value:.2f}"),
    Measure("seconds to the first commit", lambda run: run.first_commit_s, lambda value: f"{value:.1f}"),
    Measure("private memory, most, MiB", lambda run: run.private_mib, lambda value: f"{value:.0f}"),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The runs of one workload: the n-th runs of all engines followed each other."""

    workload: str
    runs: Mapping[str, Sequence[RunMeasures]]
    """By engine; the others are compared with the first."""


def table(comparisons: Sequence[Comparison]) -> str:
    """All workloads as one Markdown table; each cell is min / median / max."""
    first, *others = dict.fromkeys(engine for comparison in comparisons for engine in comparison.runs)
    titles = ["workload", "measure", first, *others, *(f"ratio to {other}" for other in others)]
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for comparison in comparisons:
        for measure in MEASURES:
            runs = [comparison.runs.get(engine, ()) for engine in (first, *others)]
            values = [_values(measure, each) for each in runs]
            cells = [
                _cell(each, measure.written) if done else "not run" for each, done in zip(values, runs, strict=True)
            ]
            cells += [_ratio(values[0], other) for other in values[1:]]
            lines.append(f"| {comparison.workload} | {measure.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def line(run: RunMeasures) -> str:
    """The measures of one run as text."""
    values = [(measure, measure.of(run)) for measure in MEASURES]
    return "; ".join(
        f"{measure.title}: {'too short' if value is None else measure.written(value)}" for measure, value in values
    )


def _values(measure: Measure, runs: Sequence[RunMeasures]) -> list[float]:
    """The measure of each run; empty if a run lacks it, so that pairs stay complete."""
    values = [measure.of(run) for run in runs]
    return [value for value in values if value is not None] if None not in values else []


def _ratio(ours: Sequence[float], others: Sequence[float]) -> str:
    """The ratios of pairs of runs, if all runs have one."""
    return _cell(ratios(ours, others), "{:.2f}".format) if ours and len(ours) == len(others) else "no pairs"


def _cell(values: Sequence[float], written: Callable[[float], str]) -> str:
    if not values:
        return "too short"
    values_spread = spread(values)
    return f"{written(values_spread.low)} / {written(values_spread.middle)} / {written(values_spread.high)}"
