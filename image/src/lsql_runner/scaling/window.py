"""What both policies have in common: limits, proposals of the past, and stabilisation windows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimits:
    """The allowed numbers of workers.

    Attributes:
        minimum: 1 or more.
        maximum: at least the minimum.
        partitions: of the largest source topic; None if unknown. Workers without a partition would have no tasks.
        cores: of a worker, each of which runs a task.

    Raises:
        ValueError: no number is allowed.
    """

    minimum: int = 1
    maximum: int = 8
    partitions: int | None = None
    cores: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.minimum <= self.most or self.cores < 1:
            raise ValueError(self)

    @property
    def most(self) -> int:
        """The maximum, or the number of workers that have partitions, if it is smaller."""
        return self.maximum if self.partitions is None else min(self.maximum, ceil(self.partitions / self.cores))

    def clamp(self, workers: int) -> int:
        """The nearest allowed number."""
        return max(self.minimum, min(self.most, workers))


class Proposal(NamedTuple):
    """A number of workers that was computed at an earlier decision, before windows were applied."""

    at_s: float
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Stabilisation windows, as in a HorizontalPodAutoscaler.

    Attributes:
        up_s: seconds; the number grows to the smallest proposal of this time. 0: of this decision.
        down_s: seconds; the number shrinks to the largest proposal of this time. 0: of this decision.
    """

    up_s: float
    down_s: float

    def stabilize(self, current: int, proposals: tuple[Proposal, ...], now_s: float) -> int:
        """The number of workers that the proposals of the windows allow.

        Args:
            current: the number of workers now.
            proposals: in the order of time; the last one is from this decision.
            now_s: the time of this decision, in seconds.
        """
        last = proposals[-1].workers
        up = min((p.workers for p in proposals if p.at_s > now_s - self.up_s), default=last)
        down = max((p.workers for p in proposals if p.at_s > now_s - self.down_s), default=last)
        return min(max(current, up), max(down, up))

    def keep(self, proposals: tuple[Proposal, ...], now_s: float) -> tuple[Proposal, ...]:
        """The proposals that a later decision can need."""
        oldest = now_s - max(self.up_s, self.down_s)
        return tuple(p for p in proposals if p.at_s > oldest)
