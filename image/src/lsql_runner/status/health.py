"""The health of a processor, computed from its Status alone."""

from __future__ import annotations

from dataclasses import dataclass

from lsql_runner.events.state import State
from lsql_runner.status.model import Status

_WAITS = {
    "SINK_UNREACHABLE": "sink-unreachable",
    "STATE_STORE_UNREACHABLE": "store-unreachable",
    "STATE_DIR_IN_USE": "state-in-use",
    "APP_ID_IN_USE": "app-id-in-use",
}
"""By the error for which a processor waits, the code of the reason. Brokers have a reason in each state."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a processor is not healthy."""

    code: str
    """For programs; `assess` lists the codes."""
    text: str
    """A sentence for people."""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a processor is healthy."""

    reasons: tuple[Reason, ...]
    """Why it is not; empty if it is."""

    @property
    def ok(self) -> bool:
        return not self.reasons


def assess(status: Status, now_ms: int, stuck_after_ms: int) -> Health:
    """The health of the processor.

    A processor is healthy while it waits for a first record, is stopped by a person, or its topics are idle. Codes:
    `jvm-gone`, `broker-unreachable`, `broker-refused` (no rights), `sink-unreachable`, `store-unreachable` (with the
    state), `state-in-use` (by another process), `app-id-in-use` (by a processor with other state), `lease-unavailable`
    (of a standby), `failed` (a person must start it again), `query-died` (it restarts), `query-stuck` (no batch ended
    for `stuck_after_ms` while the lag grew).
    """
    reasons: list[Reason] = []
    if status.jvm_error is not None:
        reasons.append(Reason("jvm-gone", status.jvm_error.message))
    if status.broker_error is not None:
        refused = status.broker_error.code == "BROKER_REFUSED"
        reasons.append(Reason("broker-refused" if refused else "broker-unreachable", status.broker_error.message))
    if status.state is State.WAITING and status.reason is not None and status.reason.code in _WAITS:
        reasons.append(Reason(_WAITS[status.reason.code], status.reason.message))
    seen = status.leadership
    if status.state is State.STANDBY and seen is not None and seen.error is not None:
        reasons.append(Reason("lease-unavailable", seen.error.message))
    if status.state is State.FAILED:
        text = status.reason.message if status.reason else "the processor failed"
        reasons.append(Reason("failed", text))
    if status.state is State.RESTARTING:
        text = status.last_error.message if status.last_error else "the query failed"
        reasons.append(Reason("query-died", text))
    if status.state is State.RUNNING and not status.broker_error and is_stuck(status, now_ms, stuck_after_ms):
        idle_s = (now_ms - status.progress_at_ms) // 1000
        reasons.append(
            Reason("query-stuck", f"no batch ended for {idle_s} s while the lag grew to {status.lag} records")
        )
    return Health(tuple(reasons))


def is_stuck(status: Status, now_ms: int, stuck_after_ms: int) -> bool:
    """Whether no batch has ended for `stuck_after_ms` although the lag is larger than after the last batch."""
    return now_ms - status.progress_at_ms > stuck_after_ms and status.lag > status.lag_at_progress
