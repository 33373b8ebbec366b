"""Computes how many workers the processor should have. Imported only by a processor with LSQL_AUTOSCALING_ENABLED."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import ceil
from threading import Lock

from lsql_runner.config.scaling_settings import Autoscaling
from lsql_runner.events.processor import (
    BatchEnded,
    Event,
    LagMeasured,
    ProgramPlanned,
    ScalingDecided,
    WarningRaised,
    WorkersChanged,
)
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.timer import Timer
from lsql_runner.scaling.policy import Lag, Policy, ScalingHistory, decide, needed
from lsql_runner.scaling.window import Proposal, WorkerLimits
from lsql_runner.scaling.worker_rate import MeasuredBatch, WorkerRate
from lsql_runner.status.model import Status
from lsql_runner.status.state_machine import StateMachine

INTERVAL_MS = 15_000
"""The time between two decisions: that of a HorizontalPodAutoscaler."""

FIRST_MS = 30_000
"""The time from the first measurement of the lag to the first decision. Workers of a processor that was restarted join
it again in this time, and are not taken for missing ones."""

_MEASURING = f"the lag is measured for {FIRST_MS // 1000} s before the first number"
_RATE_UNKNOWN = "the rate of a worker is not known: no batch has had enough work since the start; the number stays"
_NOT_MEASURED = "the lag was not measured for too long"


class ScalingReporter:
    """Emits an event with the wanted number of workers every 15 s, and when the number is not known any more.

    It uses the measurements of PositionReporter, and sends no requests. The number is known while the processor runs
    and its brokers respond; while the rate of a worker is not known, it is the number of workers. Not thread-safe, but
    events may arrive in other threads.
    """

    def __init__(self, autoscaling: Autoscaling, dependencies: RunDependencies, machine: StateMachine) -> None:
        self._policy = autoscaling.policy
        self._dry_run = autoscaling.dry_run
        self._now_ms = dependencies.now_ms
        self._longest_ms = INTERVAL_MS + 2 * dependencies.settings.metric_frequency_ms
        self._machine = machine
        machine.listen(self._after_event)
        self._rate = WorkerRate()
        self._rate_lock = Lock()
        """Batches end in other threads than the one in which workers join."""
        self._measured: LagMeasured | None = None
        self._begin: LagMeasured | None = None
        """The measurement of the last decision; None while the number is not known."""
        self._next = Timer()
        self._history = ScalingHistory()
        self._wanted: int | None = None
        """The last number. Workers that start or leave because of it have not joined or left yet, so the next decision
        continues with it."""
        self._cores = 1
        self._said: str | None = None
        self._warned = False

    def _after_event(self, event: Event) -> None:
        match event:
            case LagMeasured():
                self._measured = event
            case ProgramPlanned() | WorkersChanged() | BatchEnded():
                with self._rate_lock:
                    self._rate = self._rate_after(event)

    def _rate_after(self, event: ProgramPlanned | WorkersChanged | BatchEnded) -> WorkerRate:
        """What is known of the rate of a worker after an event."""
        status = self._machine.status
        position = sum(status.reached.values())
        match event:
            case ProgramPlanned():
                return self._rate.started(position)
            case WorkersChanged(at_ms):
                return self._rate.workers_changed(at_ms / 1000)
            case BatchEnded():
                return self._rate.after(
                    MeasuredBatch(
                        start_s=(event.at_ms - event.duration_ms) / 1000,
                        end_s=event.at_ms / 1000,
                        records=event.records_in,
                        position=position,
                        workers=min(status.present_workers, self._occupied(status)),
                        left=bool(event.behind),
                    )
                )

    def report(self) -> None:
        """Decide if it is time to, or say once that the number is not known, and why."""
        now_ms, status, measured = self._now_ms(), self._machine.status, self._measured
        reason = self._why_unknown(status, measured, now_ms)
        if reason is not None or measured is None:
            self._begin = None
        elif self._begin is None or measured.at_ms < self._begin.at_ms:
            if self._begin is not None:  # the clock was set back, and the times of the history are in the future
                self._history = ScalingHistory()
            self._begin, reason = measured, _MEASURING
            self._next.start(now_ms, FIRST_MS)
        elif not self._next.is_due(now_ms) or measured.at_ms == self._begin.at_ms:
            return
        else:
            self._decide(status, self._begin, measured, now_ms)
            self._begin, self._said = measured, None
            self._next.start(now_ms, INTERVAL_MS)
            return
        if reason is not None and reason != self._said:
            self._said = reason
            self._machine.emit(self._event(status, self._policy.limits, now_ms, reason))

    def _why_unknown(self, status: Status, measured: LagMeasured | None, now_ms: int) -> str | None:
        """Why the lag is not known; None if it is."""
        reason = status.why_lag_unknown
        if reason is not None:
            return reason
        if measured is None:
            return _MEASURING
        if abs(now_ms - measured.at_ms) > self._longest_ms:  # the clock may have been set back
            return _NOT_MEASURED
        return None if status.reached.keys() <= measured.ends.keys() else _MEASURING

    def _decide(self, status: Status, begin: LagMeasured, measured: LagMeasured, now_ms: int) -> None:
        limits = self._limits(status, now_ms)
        rate = self._rate.per_second
        policy = replace(self._policy, limits=limits, worker_rate=rate)
        arrived = sum(end - begin.ends[place] for place, end in measured.ends.items() if place in begin.ends)
        arriving = max(0, arrived) * 1000 / (measured.at_ms - begin.at_ms)
        lag = Lag(now_ms / 1000, status.lag, arriving)
        present = status.present_workers
        current = present if self._wanted is None or (rate is None and self._dry_run) else self._wanted
        history = self._history
        if not policy.windows.keep(history.proposals, lag.at_s):
            # Without it, the first number after a pause would not wait for a window.
            history = replace(history, proposals=(Proposal(lag.at_s, current),))
        wanted, self._history = decide(policy, history, lag, current)
        self._wanted = wanted
        event = self._event(status, limits, now_ms, _reason(policy, lag, wanted))
        self._machine.emit(
            replace(
                event,
                wanted=wanted,
                lag_records=status.lag,
                arriving_per_s=round(arriving, 1),
                catch_up_s=_catch_up_s(status.lag, 0.0 if rate is None else present * rate - arriving),
            )
        )

    def _event(self, status: Status, limits: WorkerLimits, now_ms: int, reason: str) -> ScalingDecided:
        """An event without a number."""
        rate = self._rate.per_second
        return ScalingDecided(
            at_ms=now_ms,
            wanted=None,
            current=status.present_workers,
            minimum=limits.minimum,
            maximum=limits.most,
            dry_run=self._dry_run,
            reason=reason,
            worker_rate_per_s=None if rate is None else round(rate, 1),
        )

    def _occupied(self, status: Status) -> int:
        """The workers that the partitions of the largest source topic occupy."""
        self._cores = min((worker.cores for worker in status.workers or ()), default=self._cores)
        return ceil(_partitions(status) / self._cores)

    def _limits(self, status: Status, now_ms: int) -> WorkerLimits:
        """The limits of the settings, and no more workers than the partitions of the largest source topic occupy."""
        limits = self._policy.limits
        occupied, partitions = self._occupied(status), _partitions(status)
        if limits.minimum <= occupied:
            return replace(limits, partitions=partitions, cores=self._cores)
        if not self._warned:
            self._warned = True
            text = (
                f"LSQL_AUTOSCALING_MIN is {limits.minimum}, and the largest source topic has {partitions} partitions: "
                f"more than {occupied} workers with {self._cores} cores have nothing to read."
            )
            self._machine.emit(WarningRaised(now_ms, text))
        return replace(limits, maximum=limits.minimum)


def _partitions(status: Status) -> int:
    """Of the largest source topic."""
    return max(Counter(place.topic for place in status.reached).values(), default=1)


def _catch_up_s(lag: int, spare: float) -> float | None:
    """The seconds in which `spare` records/s process the lag; None for never."""
    if not lag:
        return 0.0
    return round(lag / spare, 1) if spare > 0 else None


def _reason(policy: Policy, lag: Lag, wanted: int) -> str:
    workers = needed(policy, lag)
    if workers is None:
        return _RATE_UNKNOWN
    text = f"arriving records and lag need {workers:.1f} workers"
    limits = policy.limits
    if limits.clamp(ceil(workers)) != ceil(workers):
        return f"{text}; {limits.minimum} to {limits.most} are allowed"
    return text if wanted == ceil(workers) else f"{text}; tolerance, windows or cool-down keep {wanted}"
