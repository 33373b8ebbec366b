"""The states of a processor and the transitions between them. Pure: no clock, no threads.

starting -> waiting (broker unreachable, or an empty topic without a schema)
starting -> running -> stopping -> stopped -> starting
running -> restarting (backoff) -> starting
running -> failed (a record that the program cannot process; a person decides)
any -> ended (the process ends)
"""

from __future__ import annotations

from enum import Enum

from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State


class Trigger(Enum):
    """The cause of a transition."""

    WAIT = "wait"
    """The start needs something first: a reachable broker, or a first record."""
    RETRY = "retry"
    """The delay is over."""
    RUN = "run"
    """The query runs."""
    DIE = "die"
    """The query or its start failed with a temporary error."""
    REFUSE = "refuse"
    """The query or its start failed with an error that a person must correct."""
    STOP = "stop"
    """A person requested a stop."""
    HALTED = "halted"
    """The last batch has ended and its position is committed."""
    START = "start"
    """A person requested a start."""
    END = "end"
    """The process ends."""


TRANSITIONS: dict[tuple[State, Trigger], State] = {
    (State.STARTING, Trigger.WAIT): State.WAITING,
    (State.STARTING, Trigger.RUN): State.RUNNING,
    (State.STARTING, Trigger.DIE): State.RESTARTING,
    (State.STARTING, Trigger.REFUSE): State.FAILED,
    (State.STARTING, Trigger.STOP): State.STOPPING,
    (State.WAITING, Trigger.RETRY): State.STARTING,
    (State.WAITING, Trigger.WAIT): State.WAITING,
    (State.WAITING, Trigger.STOP): State.STOPPED,
    (State.RUNNING, Trigger.DIE): State.RESTARTING,
    (State.RUNNING, Trigger.REFUSE): State.FAILED,
    (State.RUNNING, Trigger.STOP): State.STOPPING,
    (State.STOPPING, Trigger.HALTED): State.STOPPED,
    (State.STOPPING, Trigger.DIE): State.STOPPED,
    (State.STOPPING, Trigger.REFUSE): State.STOPPED,
    (State.STOPPED, Trigger.START): State.STARTING,
    (State.RESTARTING, Trigger.RETRY): State.STARTING,
    (State.RESTARTING, Trigger.STOP): State.STOPPED,
    (State.FAILED, Trigger.START): State.STARTING,
    (State.FAILED, Trigger.STOP): State.STOPPED,
} | {(state, Trigger.END): State.ENDED for state in State}

IDEMPOTENT: frozenset[tuple[State, Trigger]] = frozenset(
    {(state, Trigger.START) for state in (State.STARTING, State.WAITING, State.RUNNING, State.RESTARTING)}
    | {(state, Trigger.STOP) for state in (State.STOPPING, State.STOPPED)}
)
"""Requests for the state that the processor already has or approaches: they change nothing and are not refused."""


def move(state: State, trigger: Trigger) -> State:
    """The state after `trigger`.

    Raises:
        LsqlError: TRANSITION_REFUSED if the state does not allow the trigger.
    """
    if (state, trigger) in IDEMPOTENT:
        return state
    try:
        return TRANSITIONS[state, trigger]
    except KeyError:
        raise LsqlError("TRANSITION_REFUSED", action=trigger.value, state=state.value) from None
