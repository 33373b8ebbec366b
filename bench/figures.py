"""Computes the measures from samples: rates of a run, ratios, the table. Pure: no clock, no broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Sample:
    """The observations at one time of a run."""

    at_s: float
    """Seconds since the process was started."""
    committed: int
    """Records of the input that the consumer group has read."""
    cpu_s: float
    """Processor time of the process and its children so far."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The measures of one run. A rate is None if the run was too short."""

    total_per_s: float
    """All records divided by the seconds from the start of the process to the commit of the last record."""
    warm_per_s: float | None
    """Without start-up and the first third of the records: see `figures`."""
    warm_cpu_us: float | None
    """Microseconds of processor time for one record, over the same part of the run."""
    cpu_s: float
    """Processor time of the whole run."""
    first_commit_s: float
    """Seconds to the first commit that was seen."""


def figures(samples: Sequence[Sample], count: int) -> Figures:
    """The measures of a run with `count` records.

    The warm rate is measured from the first commit at or after a third of the input to the commit of its end. The
    number of records between two commits is exact, however rare commits are.

    Raises:
        ValueError: the samples do not reach the end of the input.
    """
    moved = [sample for sample in samples if sample.committed > 0]
    if not moved or moved[-1].committed != count:
        raise ValueError(f"the samples end before record {count}")
    end = next(sample for sample in moved if sample.committed == count)
    begin = next(sample for sample in moved if sample.committed * 3 >= count)
    records, seconds = end.committed - begin.committed, end.at_s - begin.at_s
    is_long_enough = records > 0 and seconds > 0
    return Figures(
        total_per_s=count / end.at_s,
        warm_per_s=records / seconds if is_long_enough else None,
        warm_cpu_us=(end.cpu_s - begin.cpu_s) * 1e6 / records if is_long_enough else None,
        cpu_s=end.cpu_s,
        first_commit_s=moved[0].at_s,
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


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """The ratio of each pair of runs. Runs that follow each other have the same conditions.

    Raises:
        ValueError: the numbers of runs differ, or a value of `theirs` is zero.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} and {len(theirs)} values make no pairs")
    if 0 in theirs:
        raise ValueError("a ratio to zero")
    return [a / b for a, b in zip(ours, theirs, strict=True)]


@dataclass(frozen=True, slots=True)
class Measure:
    """A line of the table: its name, its value, and its format."""

    title: str
    of: Callable[[Figures], float | None]
    written: Callable[[float], str]


def _thousands(value: float) -> str:
    return f"{value / 1000:.3g} k"


MEASURES = (
    Measure("records/s, warm", lambda run: run.warm_per_s, _thousands),
    Measure("records/s, with start-up", lambda run: run.total_per_s, _thousands),
    Measure("processor time per record, warm, µs", lambda run: run.warm_cpu_us, lambda value: f"{value:.2f}"),
    Measure("seconds to the first commit", lambda run: run.first_commit_s, lambda value: f"{value:.1f}"),
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The runs of one workload: the n-th run of ours was followed by the n-th run of theirs."""

    workload: str
    ours: tuple[Figures, ...]
    theirs: tuple[Figures, ...]


def table(results: Sequence[Pairs]) -> str:
    """All workloads as one Markdown table; each cell is min / median / max."""
    lines = [
        "| workload | measure | lsql-runner | Kafka Streams | ratio |",
        "|---|---|---|---|---|",
    ]
    for pairs in results:
        for measure in MEASURES:
            ours, theirs = _values(measure, pairs.ours), _values(measure, pairs.theirs)
            ratio = ratios(ours, theirs) if ours and theirs else []
            cells = (_cell(ours, measure.written), _cell(theirs, measure.written), _cell(ratio, "{:.2f}".format))
            lines.append(f"| {pairs.workload} | {measure.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _values(measure: Measure, runs: Sequence[Figures]) -> list[float]:
    """The measure of each run; empty if a run lacks it, so that pairs stay complete."""
    values = [measure.of(run) for run in runs]
    return [value for value in values if value is not None] if None not in values else []


def _cell(values: Sequence[float], written: Callable[[float], str]) -> str:
    if not values:
        return "too short"
    found = spread(values)
    return f"{written(found.low)} / {written(found.middle)} / {written(found.high)}"
