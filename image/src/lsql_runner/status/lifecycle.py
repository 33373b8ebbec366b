"""The states of a processor and the transitions between them. Pure: no clock, no threads.

The main transitions:

starting -> waiting (a server is unreachable, or a topic without a schema is empty) -> starting
starting -> running -> stopping -> stopped -> starting
starting -> standby (another process leads) -> starting
running -> restarting (a temporary error; after a delay) -> starting
running -> failed (for example a record that the program cannot process; a person starts it again)
any -> ended (the process ends)
"""

from __future__ import annotations

from enum import Enum

from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State


class Cause(Enum):
    """The cause of a transition."""

    WAIT = "wait"
    """The start has to wait for a server to respond, or for a first record."""
    STAND_BY = "stand by"
    """Another process leads."""
    LEAD = "lead"
    """This process leads from now on."""
    RETRY = "retry"
    """The delay is over."""
    RUN = "run"
    """The queries run."""
    FAILED_TEMPORARILY = "fail temporarily"
    """A query or its start failed with a temporary error."""
    FAILED_PERMANENTLY = "fail permanently"
    """A query or its start failed with an error that a person must correct, or the JVM has ended."""
    STOP = "stop"
    """A person requested a stop."""
    HALTED = "halted"
    """The queries have stopped."""
    START = "start"
    """A person requested a start."""
    SWITCH = "switch"
    """A person requested that the green queries of a blue-green change take over."""
    END = "end"
    """The process ends."""


TRANSITIONS: dict[tuple[State, Cause], State] = {
    (State.STARTING, Cause.WAIT): State.WAITING,
    (State.STARTING, Cause.RUN): State.RUNNING,
    (State.STARTING, Cause.STAND_BY): State.STANDBY,
    (State.STANDBY, Cause.LEAD): State.STARTING,
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
    | {(State.RUNNING, Cause.SWITCH)}
)
"""Requests for a state that the processor already has or is about to reach. They change nothing and are not refused."""


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
        raise LsqlError("TRANSITION_REFUSED", action=cause.value, state=state) from None
