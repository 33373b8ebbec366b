"""The scaling policy: how many workers a processor should have, from its lag and the rate of arriving records.

`runtime.scaling_reporter` calls it in a processor; `lsql autoscale simulate` shows what it would decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from lsql_runner.scaling.window import Proposal, Windows, WorkerLimits

_ROUNDING = 1e-9
"""Sums of fractions may exceed a whole number by less than this, and then do not need one more worker."""


@dataclass(frozen=True, slots=True)
class Lag:
    """The measurements for a decision.

    Attributes:
        at_s: the time, in seconds.
        records: records that have arrived and were not processed.
        arriving: records/s, the mean since the last decision.
    """

    at_s: float
    records: float
    arriving: float


@dataclass(frozen=True, slots=True)
class CatchUp:
    """The target is a time: the workers process arriving records, and the lag within this number of seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class LagPerWorker:
    """The target is a number of records: workers can process arriving records, and each has at most this lag."""

    records: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When the number of workers changes.

    Attributes:
        worker_rate: records/s that a busy worker processes; None while it is not known, and the number stays.
        target: a time to catch up, or a lag for each worker.
        limits: the allowed numbers of workers.
        windows: stabilisation windows.
        cooldown_s: seconds after a change without another one.
        tolerance: a share of the number of workers, 0 to less than 1. The number grows if it is too small by more, and
            shrinks if the smaller number leaves at least this share unused.
    """

    worker_rate: float | None = None
    target: CatchUp | LagPerWorker = CatchUp(60)
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    windows: Windows = Windows(up_s=0, down_s=300)
    cooldown_s: float = 30
    tolerance: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingHistory:
    """The data of earlier decisions that a decision needs.

    Attributes:
        proposals: in the order of time, none older than the longest window.
        changed_s: the time of the last change in seconds; None if there was none.
    """

    proposals: tuple[Proposal, ...] = ()
    changed_s: float | None = None


def needed(policy: Policy, lag: Lag) -> float | None:
    """The number of workers that the target needs, not rounded and without limits; None without a rate of a worker."""
    if policy.worker_rate is None:
        return None
    arriving = lag.arriving / policy.worker_rate
    match policy.target:
        case CatchUp(seconds):
            return arriving + lag.records / seconds / policy.worker_rate
        case LagPerWorker(records):
            return max(arriving, lag.records / records)


def decide(policy: Policy, history: ScalingHistory, lag: Lag, current: int) -> tuple[int, ScalingHistory]:
    """The number of workers that the processor should have now, and the history for the next decision.

    Args:
        policy: the policy.
        history: of the last decision, or an empty one.
        lag: measured now, later than the last decision.
        current: the number of workers now, with those that are starting.

    Returns:
        A number within the limits, also if the current one is outside.
    """
    proposals = (*history.proposals, Proposal(lag.at_s, policy.limits.clamp(_propose(policy, lag, current))))
    desired = policy.limits.clamp(policy.windows.stabilize(current, proposals, lag.at_s))
    changed_s = history.changed_s
    if changed_s is not None and lag.at_s - changed_s < policy.cooldown_s:
        desired = policy.limits.clamp(current)
    if desired != current:
        changed_s = lag.at_s
    return desired, ScalingHistory(proposals=policy.windows.keep(proposals, lag.at_s), changed_s=changed_s)


def _propose(policy: Policy, lag: Lag, current: int) -> int:
    workers = needed(policy, lag)
    if workers is None:
        return current
    if workers > current * (1 + policy.tolerance):
        return ceil(workers - _ROUNDING)
    return min(current, ceil(workers / (1 - policy.tolerance) - _ROUNDING))
