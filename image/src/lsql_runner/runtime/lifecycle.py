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


class Cause(Enum):
    """The cause of a transition."""

    WAIT = "wait"
    """The start needs something first: a reachable broker, or a first record."""
    RETRY = "retry"
    """The delay is over."""
    RUN = "run"
    """The query runs."""
    FAILED_TEMPORARILY = "fail temporarily"
    """The query or its start failed with a temporary error."""
    FAILED_PERMANENTLY = "fail permanently"
    """The query or its start failed with an error that a person must correct."""
    STOP = "stop"
    """A person requested a stop."""
    HALTED = "halted"
    """The last batch has ended and its position is committed."""
    START = "start"
    """A person requested a start."""
    END = "end"
    """The process ends."""


TRANSITIONS: dict[tuple[State, Cause], State] = {
    (State.STARTING, Cause.WAIT): State.WAITING,
    (State.STARTING, Cause.RUN): State.RUNNING,
    (State.STARTING, Cause.FAILED_TEMPORARILY): State.RESTARTING,
    (State.STARTING, Cause.FAILED_PERMANENTLY): State.FAILED,
    (State.STARTING, Cause.STOP): State.STOPPING,
    (State.WAITING, Cause.RETRY): State.STARTING,
    (State.WAITING, Cause.WAIT): State.WAITING,
    (State.WAITING, Cause.STOP): State.STOPPED,
    (State.RUNNING, Cause.FAILED_TEMPORARILY): State.RESTARTING,
    (State.RUNNING, Cause.FAILED_PERMANENTLY): State.FAILED,
    (State.RUNNING, Cause.STOP): State.STOPPING,
    (State.STOPPING, Cause.HALTED): State.STOPPED,
    (State.STOPPING, Cause.FAILED_TEMPORARILY): State.STOPPED,
    (State.STOPPING, Cause.FAILED_PERMANENTLY): State.STOPPED,
    (State.STOPPED, Cause.START): State.STARTING,
    (State.RESTARTING, Cause.RETRY): State.STARTING,
    (State.RESTARTING, Cause.STOP): State.STOPPED,
    (State.FAILED, Cause.START): State.STARTING,
    (State.FAILED, Cause.STOP): State.STOPPED,
} | {(state, Cause.END): State.ENDED for state in State}

IDEMPOTENT: frozenset[tuple[State, Cause]] = frozenset(
    {(state, Cause.START) for state in (State.STARTING, State.WAITING, State.RUNNING, State.RESTARTING)}
    | {(state, Cause.STOP) for state in (State.STOPPING, State.STOPPED)}
)
"""Requests for the state that the processor already has or approaches: they change nothing and are not refused."""


def move(state: State, cause: Cause) -> State:
    """The state after `cause`.

    Raises:
        LsqlError: TRANSITION_REFUSED if the state does not allow the cause.
    """
    if (state, cause) in IDEMPOTENT:
        return state
    try:
        return TRANSITIONS[state, cause]
    except KeyError:
        raise LsqlError("TRANSITION_REFUSED", action=cause.value, state=state.value) from None
