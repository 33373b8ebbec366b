"""The workers of a processor that its Spark master knows, and how many there should be."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class JoinedWorker:
    """A worker that runs tasks."""

    address: str
    """Host and port."""
    cores: int
    """The tasks that it runs at the same time."""
    leaving: bool = False
    """Whether it ends when its tasks have ended."""


@dataclass(frozen=True, slots=True)
class RefusedWorker:
    """A worker of another version."""

    address: str
    version: str


@dataclass(frozen=True, slots=True)
class WorkersChanged:
    """Workers have joined or left, or a worker begins to leave."""

    at_ms: int
    workers: tuple[JoinedWorker, ...]
    """All of them now."""
    joined: tuple[str, ...] = ()
    """Addresses."""
    left: tuple[str, ...] = ()
    """Addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingDecided:
    """How many workers the processor should have was computed, or is not known any more."""

    at_ms: int
    wanted: int | None
    """The number; None while it is not known, so that nobody scales on an old one."""
    current: int
    """The workers that run tasks, without those that are leaving."""
    minimum: int
    maximum: int
    """The limits of `wanted`. The maximum is never more than the partitions can occupy, if these are known."""
    dry_run: bool
    """Whether nothing applies the number."""
    reason: str
    """A sentence for people: the reason for the number, or why it is not known."""
    lag_records: int | None = None
    arriving_per_s: float | None = None
    """Records/s, the mean since the last decision."""
    catch_up_s: float | None = None
    """The seconds in which the current workers process the lag beside arriving records; None also if they never do, and
    while the rate of a worker is not known."""
    worker_rate_per_s: float | None = None
    """Records/s of one busy worker, as learned so far; None while it is not known."""

    def unknown(self, at_ms: int, reason: str) -> ScalingDecided:
        """The event when the number is not known any more. The rate of a worker stays known."""
        return replace(
            self, at_ms=at_ms, wanted=None, reason=reason, lag_records=None, arriving_per_s=None, catch_up_s=None
        )
