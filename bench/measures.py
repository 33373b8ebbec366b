"""Computes the measures from samples: rates of a run, ratios, the table. It reads no clock and no broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def measures_of(samples: Sequence[ProgressSample], count: int) -> RunMeasures:
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


def ratios(lsql_runner: Sequence[float], kafka_streams: Sequence[float]) -> list[float]:
    """The ratio of lsql-runner to Kafka Streams for each pair of runs.

    Raises:
        ValueError: the numbers of runs differ, or a value of `kafka_streams` is zero.
    """
    if len(lsql_runner) != len(kafka_streams):
        raise ValueError(f"{len(lsql_runner)} and {len(kafka_streams)} values make no pairs")
    if 0 in kafka_streams:
        raise ValueError("a ratio to zero")
    return [a / b for a, b in zip(lsql_runner, kafka_streams, strict=True)]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure in the table: `of` takes it from a run, `written` formats it."""

    title: str
    of: Callable[[RunMeasures], float | None]
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
    """The runs of one workload: the n-th run of lsql-runner was followed by the n-th run of Kafka Streams."""

    workload: str
    lsql_runner: tuple[RunMeasures, ...]
    kafka_streams: tuple[RunMeasures, ...]


def table(results: Sequence[Pairs]) -> str:
    """All workloads as one Markdown table; each cell is min / median / max."""
    lines = [
        "| workload | measure | lsql-runner | Kafka Streams | ratio |",
        "|---|---|---|---|---|",
    ]
    for pairs in results:
        for measure in MEASURES:
            lsql_runner, kafka_streams = _values(measure, pairs.lsql_runner), _values(measure, pairs.kafka_streams)
            ratio = ratios(lsql_runner, kafka_streams) if lsql_runner and kafka_streams else []
            cells = (
                _cell(lsql_runner, measure.written),
                _cell(kafka_streams, measure.written),
                _cell(ratio, "{:.2f}".format),
            )
            lines.append(f"| {pairs.workload} | {measure.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _values(measure: Measure, runs: Sequence[RunMeasures]) -> list[float]:
    """The measure of each run; empty if a run lacks it, so that pairs stay complete."""
    values = [measure.of(run) for run in runs]
    return [value for value in values if value is not None] if None not in values else []


def _cell(values: Sequence[float], written: Callable[[float], str]) -> str:
    if not values:
        return "too short"
    found = spread(values)
    return f"{written(found.low)} / {written(found.middle)} / {written(found.high)}"
