"""The processor's state and status. Every change is an event, which listeners receive."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from lsql_runner.errors import ErrorReport
from lsql_runner.events.processor import Event, Listener, StateChanged
from lsql_runner.events.state import State
from lsql_runner.status.current import CurrentStatus
from lsql_runner.status.lifecycle import Cause, move
from lsql_runner.status.model import Status


class StateMachine:
    """Holds state and status, with the transitions of `lifecycle`. Thread-safe."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._current = CurrentStatus(Status(since_ms=now_ms()))
        self._listeners: list[Listener] = []
        self._now_ms = now_ms
        self._lock = Lock()

    def listen(self, listener: Listener) -> None:
        """Add a listener, before the first event. Several threads call the listener."""
        self._listeners.append(listener)

    @property
    def status(self) -> Status:
        return self._current.status

    @property
    def state(self) -> State:
        return self._current.status.state

    def check(self, cause: Cause) -> None:
        """Check whether the state allows a cause.

        Raises:
            LsqlError: TRANSITION_REFUSED.
        """
        move(self.state, cause)

    def move(self, cause: Cause, reason: ErrorReport | None = None) -> None:
        """Change the state. Emits an event if the state or the reason is new.

        Raises:
            LsqlError: TRANSITION_REFUSED.
        """
        with self._lock:
            status = self.status
            new = move(status.state, cause)
            if new is not status.state or reason != status.reason:
                self.emit(StateChanged(self._now_ms(), status.state, new, reason))

    def emit(self, event: Event) -> None:
        """Update the status, then call the listeners."""
        self._current.update(event)
        for listener in self._listeners:
            listener(event)
