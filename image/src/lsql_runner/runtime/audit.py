"""The audit records of a processor: starts and stops, by users and of the process, and changes between starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock

from lsql_runner.errors import LsqlError
from lsql_runner.events.audit import DONE, UNKNOWN, Audited, AuditedAction
from lsql_runner.events.processor import AuditRecorded
from lsql_runner.events.state import State
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.deployment import changed_values, deployment_of
from lsql_runner.status.state_machine import StateMachine

_QUERIES_MS = 60_000


class AuditTrail:
    """Emits an event for each action, also for one that is refused."""

    def __init__(self, dependencies: RunDependencies, machine: StateMachine) -> None:
        self._dependencies = dependencies
        self._machine = machine
        # The process does not know who changed its environment, or who ends it.
        self._owner = dependencies.settings.user or UNKNOWN
        self._namespace, _, rest = dependencies.settings.workload.partition("/")
        self._kind = rest.partition("/")[0]
        self._queried_ms: dict[tuple[str, str], int] = {}
        self._lock = Lock()

    @contextmanager
    def request(self, action: AuditedAction, user: str, wanted: State) -> Iterator[None]:
        """A request of a user to stop or start, which the block carries out or refuses."""
        before = self._machine.state
        with self._refusals(action, user):
            yield
        self._emit(action, user, before, wanted)

    @contextmanager
    def change(self, action: AuditedAction, user: str, after: Mapping[str, str]) -> Iterator[None]:
        """A request of a user to change what is saved, which the block carries out or refuses."""
        with self._refusals(action, user):
            yield
        self._record(action, user, after=after)

    def query(self, store: str, user: str) -> None:
        """A user reads rows of a store: one line for all requests of a minute."""
        now_ms = self._dependencies.now_ms()
        with self._lock:
            last_ms = self._queried_ms.get((user, store))
            if last_ms is not None and now_ms - last_ms < _QUERIES_MS:
                return
            self._queried_ms = {who: at for who, at in self._queried_ms.items() if now_ms - at < _QUERIES_MS}
            self._queried_ms[user, store] = now_ms
        self._record("query", user, after={"store": store})

    def refused(self, action: AuditedAction, user: str, error: LsqlError) -> None:
        """A request of a user that was refused."""
        self._record(action, user, result=error.code)

    @contextmanager
    def process_start(self) -> Iterator[None]:
        """The start of the process, in the block; and what has changed since the last one, if it succeeds."""
        deployed = deployment_of(self._dependencies.settings, self._dependencies.identity.version)
        state = self._dependencies.state
        changed = changed_values(state.deployment(), deployed)
        action: AuditedAction = "start" if changed is None else "deploy"
        with self._refusals(action, self._owner):
            yield
        reason = self._machine.status.reason
        if self._machine.state is State.FAILED and reason is not None:
            self._record(action, self._owner, result=reason.code)
            return
        if changed is not None:
            with suppress(LsqlError):  # of a full volume: the next start records the deployment again
                state.set_deployment(deployed)
            self._record("deploy", self._owner, before=changed[0], after=changed[1])
        self._emit("start", self._owner, State.ENDED, self._machine.state)

    def process_end(self, end: Callable[[], None]) -> None:
        """The end of the process, which `end` carries out."""
        before = self._machine.state
        end()
        if before is not State.ENDED:
            self._emit("stop", UNKNOWN, before, State.ENDED)

    @contextmanager
    def _refusals(self, action: AuditedAction, user: str) -> Iterator[None]:
        try:
            yield
        except LsqlError as error:
            self.refused(action, user, error)
            raise

    def _emit(self, action: AuditedAction, user: str, before: State, after: State) -> None:
        self._record(action, user, before={"state": before}, after={"state": after})

    def _record(
        self,
        action: AuditedAction,
        user: str,
        *,
        result: str = DONE,
        before: Mapping[str, str] | None = None,
        after: Mapping[str, str] | None = None,
    ) -> None:
        app_id = self._dependencies.settings.app_id
        record = Audited(
            action=action,
            processor=app_id,
            user=user,
            result=result,
            before=before,
            after=after,
            namespace=self._namespace or None,
            kind=self._kind or None,
        )
        self._machine.emit(AuditRecorded(self._dependencies.now_ms(), record))
