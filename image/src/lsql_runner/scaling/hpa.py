"""The decisions of a HorizontalPodAutoscaler with the lag as its only metric, for comparison with the policy.

It is the algorithm of the Kubernetes documentation ("Horizontal Pod Autoscaling": algorithm details, default behavior)
for a metric with the target type AverageValue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from lsql_runner.scaling.policy import Lag, ScalingHistory
from lsql_runner.scaling.window import Proposal, Windows, WorkerLimits

_ADDED_PODS, _ADDED_SHARE = 4, 1.0
"""Of two limits of growth in 15 s, the larger one counts: 4 pods, or as many as there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaPolicy:
    """A HorizontalPodAutoscaler with Kubernetes' default values.

    Attributes:
        target: records of lag for each worker.
        limits: the allowed numbers of workers.
        windows: stabilisation windows.
        tolerance: the number stays if the metric deviates from the target by at most this share.
    """

    target: float
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    windows: Windows = Windows(up_s=0, down_s=300)
    tolerance: float = 0.1


def decide_as_hpa(policy: HpaPolicy, history: ScalingHistory, lag: Lag, current: int) -> tuple[int, ScalingHistory]:
    """As `policy.decide`. Decisions are 15 s apart, the default of Kubernetes."""
    ratio = lag.records / current / policy.target
    tolerated = 1 - policy.tolerance <= ratio <= 1 + policy.tolerance
    proposed = current if tolerated else ceil(current * ratio)
    # Kubernetes records the current number before the first proposal.
    earlier = history.proposals or (Proposal(lag.at_s, current),)
    proposals = (*earlier, Proposal(lag.at_s, proposed))
    stabilized = policy.windows.stabilize(current, proposals, lag.at_s)
    most = max(current + _ADDED_PODS, ceil(current * (1 + _ADDED_SHARE)))
    desired = policy.limits.clamp(min(stabilized, most))
    return desired, ScalingHistory(proposals=policy.windows.keep(proposals, lag.at_s))
