"""The health of a processor, computed from its Status alone."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.events.state import State
from lsql_runner.runtime.status import Status


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a processor is not healthy. `code` is for programs, `text` a sentence for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Health:
    reasons: tuple[Reason, ...]

    @property
    def ok(self) -> bool:
        return not self.reasons


def assess(status: Status, now_ms: int, stuck_after_ms: int) -> Health:
    """Health of the processor.

    Waiting for a first record and being stopped by a person are healthy; so is an idle topic. Not healthy:
    `jvm-gone`, `broker-unreachable`, `broker-refused` (no rights), `sink-unreachable`, `failed` (only a person can
    start it again), `query-died` (restarting), `query-stuck` (no batch ended for `stuck_after_ms` while the lag grew).
    """
    reasons: list[Reason] = []
    if status.jvm_error is not None:
        reasons.append(Reason("jvm-gone", status.jvm_error.message))
    if status.broker_error is not None:
        refused = status.broker_error.code == "BROKER_REFUSED"
        reasons.append(Reason("broker-refused" if refused else "broker-unreachable", status.broker_error.message))
    if status.state is State.WAITING and status.reason is not None and status.reason.code == "SINK_UNREACHABLE":
        reasons.append(Reason("sink-unreachable", status.reason.message))
    if status.state is State.FAILED:
        text = status.reason.message if status.reason else "the processor failed"
        reasons.append(Reason("failed", text))
    if status.state is State.RESTARTING:
        text = status.last_error.message if status.last_error else "the query died"
        reasons.append(Reason("query-died", text))
    if status.state is State.RUNNING and not status.broker_error and is_stuck(status, now_ms, stuck_after_ms):
        idle_s = (now_ms - status.progress_at_ms) // 1000
        reasons.append(
            Reason("query-stuck", f"no batch ended for {idle_s} s while the lag grew to {status.lag} records")
        )
    return Health(tuple(reasons))


def is_stuck(status: Status, now_ms: int, stuck_after_ms: int) -> bool:
    """No batch has ended for the given time although there is more to read than when the last one ended."""
    return now_ms - status.progress_at_ms > stuck_after_ms and status.lag > status.lag_at_progress
