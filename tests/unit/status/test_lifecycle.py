"""The transitions of a processor, compared with a model that computes them from the cause."""

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import sampled_from

from lsql_runner.errors import LsqlError
from lsql_runner.events.state import State
from lsql_runner.status.lifecycle import IDEMPOTENT, TRANSITIONS, Cause, move

WITH_QUERY = {State.STARTING, State.RUNNING, State.STOPPING}
"""States with a query: it starts, it runs, or its last batch runs."""


def model(state: State, cause: Cause) -> State | None:
    """The expected state; None if the cause must be refused."""
    if state is State.ENDED:
        return State.ENDED if cause is Cause.END else None
    query = state in WITH_QUERY
    stopping = state is State.STOPPING
    if state is State.STANDBY:  # requests go to the process that leads
        return {Cause.END: State.ENDED, Cause.LEAD: State.STARTING}.get(cause)
    match cause:
        case Cause.END:
            return State.ENDED
        case Cause.STOP:
            return State.STOPPING if query else State.STOPPED
        case Cause.START if state in (State.STOPPED, State.FAILED):
            return State.STARTING
        case Cause.START:
            return None if stopping else state
        case Cause.FAILED_TEMPORARILY if query:
            return State.STOPPED if stopping else State.RESTARTING
        case Cause.FAILED_PERMANENTLY if query:
            return State.STOPPED if stopping else State.FAILED
        case Cause.HALTED if stopping:
            return State.STOPPED
        case Cause.STAND_BY if state is State.STARTING:
            return State.STANDBY
        case Cause.SWITCH if state is State.RUNNING:
            return state
        case Cause.RUN if state is State.STARTING:
            return State.RUNNING
        case Cause.WAIT if state in (State.STARTING, State.WAITING):
            return State.WAITING
        case Cause.RETRY if state in (State.WAITING, State.RESTARTING):
            return State.STARTING
    return None


def moved(state: State, cause: Cause) -> State | None:
    """The new state; None if the cause is refused, with TRANSITION_REFUSED."""
    try:
        return move(state, cause)
    except LsqlError as error:
        refusal = error
    assert refusal.code == "TRANSITION_REFUSED"
    assert refusal.params == {"action": cause.value, "state": state.value}
    return None


@pytest.mark.parametrize("cause", Cause, ids=lambda t: t.value)
@pytest.mark.parametrize("state", State, ids=lambda s: s.value)
def test_a_cause_leads_to_the_state_of_the_model(state: State, cause: Cause) -> None:
    assert moved(state, cause) is model(state, cause)


def test_idempotent_requests_are_not_transitions() -> None:
    assert not IDEMPOTENT & TRANSITIONS.keys()


def test_every_state_can_be_reached_from_the_start() -> None:
    assert reachable(State.STARTING) == set(State)


@pytest.mark.parametrize("state", [s for s in State if s is not State.ENDED], ids=lambda s: s.value)
def test_running_can_be_reached_from_every_state_except_ended(state: State) -> None:
    assert State.RUNNING in reachable(state)


def reachable(state: State) -> set[State]:
    states, new = {state}, {state}
    while new:
        new = {to for (origin, _), to in TRANSITIONS.items() if origin in new} - states
        states |= new
    return states


class Lifecycle(RuleBasedStateMachine):
    """Any sequence of causes. The model: whether a person has stopped the processor, whether the process ended."""

    def __init__(self) -> None:
        super().__init__()
        self.state = State.STARTING
        self.is_stopped = False
        """The last command of a person was `stop`."""
        self.ended = False
        self.failed = False

    @rule(cause=sampled_from([Cause.WAIT, Cause.RETRY, Cause.RUN, Cause.FAILED_TEMPORARILY, Cause.HALTED]))
    def query_changes(self, cause: Cause) -> None:
        self.state = moved(self.state, cause) or self.state

    @rule()
    def query_fails_with_a_final_error(self) -> None:
        new = moved(self.state, Cause.FAILED_PERMANENTLY)
        self.failed |= new is State.FAILED
        self.state = new or self.state

    @rule()
    def person_stops(self) -> None:
        new = moved(self.state, Cause.STOP)
        assert (new is None) == self.ended, "a stop is possible until the process ends"
        self.state = new or self.state
        self.is_stopped, self.failed = True, False

    @rule()
    def person_starts(self) -> None:
        new = moved(self.state, Cause.START)
        assert (new is None) == (self.ended or self.state is State.STOPPING)
        if new is not None:
            self.state, self.is_stopped, self.failed = new, False, False

    @precondition(lambda self: not self.ended)
    @rule()
    def a_repeated_request_changes_nothing(self) -> None:
        for cause in (Cause.STOP, Cause.START):
            once = moved(self.state, cause)
            if once is not None:
                assert moved(once, cause) is once

    @rule()
    def process_ends(self) -> None:
        self.state = move(self.state, Cause.END)
        self.ended = True

    @invariant()
    def ended_is_final(self) -> None:
        assert (self.state is State.ENDED) == self.ended

    @invariant()
    def it_is_stopped_only_by_a_person(self) -> None:
        if not self.ended:
            assert (self.state in (State.STOPPING, State.STOPPED)) == self.is_stopped

    @invariant()
    def it_is_failed_until_a_command_of_a_person(self) -> None:
        if not self.ended:
            assert (self.state is State.FAILED) == self.failed


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(max_examples=200, stateful_step_count=30, database=None)
