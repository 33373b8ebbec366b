"""Whether a quantity grows, computed from samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations
from operator import itemgetter
from statistics import median

from bench.soak.parts import PARTS
from bench.soak.plan import Phase

_HOUR_S = 3600
_FILL_S = 240.0
"""How long the checkpoint grows at first: Spark keeps the changes of 100 batches, and those since the last snapshot."""
_CHECKPOINT_MIB, _CHECKPOINT_FILES = 64.0, 8_000.0
"""What the checkpoint of one query keeps at most (docs/decisions/0029): it fills for minutes after each restart."""
_COLLECTED_S = 100.0
"""The heap is collected and shrunk at least once in this time: the runner does it once a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSample:
    """What the processes of the container use at a time, in seconds of the run."""

    at_s: float
    private_mib: float
    """Memory that no file backs."""
    descriptors: float
    threads: float
    checkpoint_mib: float
    checkpoint_files: float
    temporary_mib: float
    """The files in /tmp."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """The parts of the memory in MiB, in one of several samples; else empty."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A field of a sample, and how much it may grow."""

    name: str
    title: str
    _: KW_ONLY
    limit_per_h: float
    tolerance: float
    """Growth that is not counted, because a short run cannot tell it from noise."""
    outlives_process: bool = False
    """Whether it is kept when the process ends, so that all phases are compared with each other."""
    from_s: float = 0.0
    """Earlier samples are not judged."""
    window_s: float = 0.0
    """If positive, only the least value in each such time is judged: that after a garbage collection."""
    bound: float = 0.0
    """The processor itself keeps it below this; growth up to it is not judged."""

    def of(self, sample: PodSample) -> float:
        """The value in a sample."""
        return float(getattr(sample, self.name))


QUANTITIES = (
    Quantity("private_mib", "private memory, MiB", limit_per_h=15, tolerance=30, window_s=_COLLECTED_S),
    Quantity("descriptors", "open descriptors", limit_per_h=10, tolerance=12),
    Quantity("threads", "threads", limit_per_h=5, tolerance=8),
    Quantity(
        "checkpoint_mib",
        "checkpoint, MiB",
        limit_per_h=2,
        tolerance=2,
        outlives_process=True,
        from_s=_FILL_S,
        bound=_CHECKPOINT_MIB,
    ),
    Quantity(
        "checkpoint_files",
        "files of the checkpoint",
        limit_per_h=100,
        tolerance=500,
        outlives_process=True,
        from_s=_FILL_S,
        bound=_CHECKPOINT_FILES,
    ),
    Quantity("temporary_mib", "temporary files, MiB", limit_per_h=5, tolerance=5, outlives_process=True),
)

Point = tuple[float, float]
"""Seconds and a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """How a quantity changed while it was judged."""

    quantity: Quantity
    slope_per_h: float
    growth: float
    """The slope by the longest time for which values are compared."""
    first: float
    """The median of the first third of that time."""
    last: float
    """The median of the last third."""
    most: float
    """Of all samples, those during faults included."""

    @property
    def is_flat(self) -> bool:
        """Whether the growth is within the limit or the tolerance, or the value within its bound. Values that decrease
        are flat.
        """
        quantity = self.quantity
        return (
            self.slope_per_h <= quantity.limit_per_h or self.growth <= quantity.tolerance or self.most <= quantity.bound
        )


def slope_per_s(groups: Iterable[Sequence[Point]]) -> float | None:
    """The median of the slopes of all pairs of points of a group (Theil-Sen); None without such a pair.

    A few outliers, and the saw-tooth of a garbage collector with several periods, do not change it.
    """
    slopes = [
        (value - earlier) / (at - before)
        for points in groups
        for (before, earlier), (at, value) in combinations(points, 2)
        if at != before
    ]
    return median(slopes) if slopes else None


def least(points: Sequence[Point], window_s: float) -> list[Point]:
    """The point with the least value of each window; the last one is left out if it is not complete."""
    windows: dict[int, list[Point]] = defaultdict(list)
    for point in points:
        windows[int((point[0] - points[0][0]) // window_s)].append(point)
    size = max(map(len, windows.values()), default=0)
    return [min(each, key=itemgetter(1)) for each in windows.values() if len(each) > 0.9 * size]


def quiet(samples: Sequence[PodSample], phase: Phase) -> list[PodSample]:
    """The samples of a phase between its fault and its end."""
    return [sample for sample in samples if phase.quiet_s <= sample.at_s < phase.end_s]


def ends(values: Sequence[float]) -> tuple[float, float] | None:
    """The medians of the first and of the last third; None without values."""
    size = max(1, len(values) // 3)
    return (median(values[:size]), median(values[-size:])) if values else None


def trend(quantity: Quantity, samples: Sequence[PodSample], phases: Sequence[Phase]) -> Trend | None:
    """The trend of a quantity; None if no two samples can be compared.

    The slope of what outlives the process is at least that from the first to the last third, so that steps count.
    """
    groups = _groups(quantity, samples, phases)
    slope = slope_per_s(groups)
    if slope is None:
        return None
    longest = max(groups, key=_duration_s)
    first, last = ends([value for _, value in longest]) or (0.0, 0.0)
    if quantity.outlives_process:
        slope = max(slope, (last - first) / (_duration_s(longest) * _BETWEEN_THIRDS))
    return Trend(
        quantity=quantity,
        slope_per_h=slope * _HOUR_S,
        growth=slope * _duration_s(longest),
        first=first,
        last=last,
        most=max(map(quantity.of, samples)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartChange:
    """How a part of the memory changed in the longest time in which the process was the same. In MiB."""

    title: str
    first: float
    """The median of the first third of that time."""
    last: float
    most: float


def part_changes(samples: Sequence[PodSample], phases: Sequence[Phase]) -> list[PartChange]:
    """The change of each part, in the order of `PARTS`, without parts that are not known."""
    levels = [_judged(samples, level) for level in _levels(phases)]
    longest = max(levels, key=len, default=[])
    changes = []
    for title in PARTS:
        values = [sample.parts[title] for sample in longest if title in sample.parts]
        if change := ends(values):
            changes.append(PartChange(title=title, first=change[0], last=change[1], most=max(values)))
    return changes


_BETWEEN_THIRDS = 2 / 3
"""From the middle of the first to the middle of the last third."""


def _groups(quantity: Quantity, samples: Sequence[PodSample], phases: Sequence[Phase]) -> list[list[Point]]:
    """The points to compare with each other: of a level, or all points of a value that outlives the process."""
    groups = []
    for level in [list(phases)] if quantity.outlives_process else _levels(phases):
        if quantity.window_s:  # what a fault uses for a moment is not the least of a window
            judged = _judged(samples, level)
        else:
            judged = [sample for phase in level for sample in quiet(samples, phase)]
        points = [(sample.at_s, quantity.of(sample)) for sample in judged if sample.at_s >= quantity.from_s]
        groups.append(least(points, quantity.window_s) if quantity.window_s else points)
    return [points for points in groups if points]


def _levels(phases: Sequence[Phase]) -> list[list[Phase]]:
    levels: dict[int, list[Phase]] = defaultdict(list)
    for phase in phases:
        levels[phase.level].append(phase)
    return list(levels.values())


def _judged(samples: Sequence[PodSample], level: Sequence[Phase]) -> list[PodSample]:
    """The samples of a level, including its faults, without the warm-up."""
    return [sample for sample in samples if level[0].quiet_s <= sample.at_s < level[-1].end_s]


def _duration_s(points: Sequence[Point]) -> float:
    return points[-1][0] - points[0][0]
