"""The processor: a control loop in its own thread, which other threads can control and read."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Literal

from lsql_runner.engine.port import StoredRows, StoreRead
from lsql_runner.errors import DetailTable, LsqlError
from lsql_runner.events.batches import BatchEnded
from lsql_runner.events.processor import Event, Listener
from lsql_runner.events.state import State
from lsql_runner.runtime.audit import AuditTrail
from lsql_runner.runtime.control_loop import ControlLoop
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.port import Action, Identity, ProgramDescription
from lsql_runner.runtime.snapshot_requests import SnapshotRequests
from lsql_runner.start.changed_program import ProgramVerdict, verdict_on
from lsql_runner.state.snapshots import Snapshot
from lsql_runner.status.backlog_rate import BacklogRate
from lsql_runner.status.health import Health, assess
from lsql_runner.status.last_hour import LastHour, Sample
from lsql_runner.status.lifecycle import Cause
from lsql_runner.status.model import Status

_TURN_S = 0.1
_REASONS = DetailTable(
    {
        "NONE": "no changed INSERT is built beside an earlier one",
        "BEHIND": "the changed INSERT is more than two seconds behind the earlier one",
        "FAILED": "the changed INSERT has failed",
    }
)
_END_S = 60.0


class Supervisor:
    """A Processor (see runtime.port) that runs until it is closed."""

    def __init__(self, dependencies: RunDependencies) -> None:
        self._dependencies = dependencies
        self._loop = ControlLoop(dependencies)
        self._audit = AuditTrail(dependencies, self._loop.machine)
        self._is_audited = False
        self._last_hour = LastHour(dependencies.identity.started_at_ms)
        self._backlog_rate = BacklogRate()
        self.listen(self._after_event)
        self._commands: SimpleQueue[Cause | Callable[[], None]] = SimpleQueue()
        self.snapshots = SnapshotRequests(dependencies, self._audit, self._restore, self._check_leads)
        self._thread = Thread(target=self._work, name="supervisor", daemon=True)

    def _after_event(self, event: Event) -> None:
        self._last_hour.add(event, self.status())
        if isinstance(event, BatchEnded):
            self._backlog_rate.add(event)

    @property
    def identity(self) -> Identity:
        return self._dependencies.identity

    @property
    def description(self) -> ProgramDescription:
        return self._loop.description

    def status(self) -> Status:
        return self._loop.machine.status

    def health(self) -> Health:
        stuck_after_ms = int(self._dependencies.settings.stuck_after_s * 1000)
        return assess(self.status(), self._dependencies.now_ms(), stuck_after_ms)

    def last_hour(self, now_ms: int) -> tuple[Sample, ...]:
        return self._last_hour.samples(now_ms)

    def stop(self, by: str) -> None:
        with self._audit.request("stop", by, State.STOPPED):
            self._command(Cause.STOP, by)

    def start(self, by: str) -> None:
        with self._audit.request("start", by, State.STARTING):
            self._command(Cause.START, by)

    def switch(self, by: str) -> None:
        with self._audit.request("switch", by, State.RUNNING):
            self._check_leads()
            self._loop.machine.check(Cause.SWITCH)
            change = self.status().blue_green
            if change is None:
                raise LsqlError("SWITCH_REFUSED", reason=_REASONS("NONE"))
            if change.phase != "ready":
                reason = _REASONS("FAILED") if change.phase == "failed" else _REASONS("BEHIND")
                raise LsqlError("SWITCH_REFUSED", reason=reason)
            self._commands.put(Cause.SWITCH)

    def _restore(self, name: str) -> Snapshot:
        """Restore a snapshot between two turns of the loop, which else might start the plan meanwhile."""
        restored: Future[Snapshot] = Future()

        def restore() -> None:
            try:
                restored.set_result(self._loop.restore(name))
            except BaseException as error:
                restored.set_exception(error)

        self._commands.put(restore)
        while not wait([restored], 1.0).done:  # at a URI, a copy of large state takes minutes
            if not self._thread.is_alive():
                raise LsqlError("RESTORE_REFUSED", state=self.status().state)
        return restored.result()

    def verdict(self, sql: str) -> ProgramVerdict:
        d = self._dependencies
        verdict = verdict_on(sql, d.settings, d.brokers, d.registry, d.state)
        return replace(verdict, records_per_s=self._backlog_rate.per_second)

    def read_store(self, read: StoreRead) -> StoredRows | None:
        state = self.status().state
        # The engine of a standby may run the program on some records, to be warm.
        rows = None if state is State.STANDBY else self._dependencies.engine.read_store(read)
        if rows is None and state in (State.FAILED, State.STOPPED, State.STANDBY):
            return self._loop.saved.read(read)
        return rows

    def save_soon(self, store: str) -> None:
        self._dependencies.engine.save_soon(store)

    def shared_secret(self) -> str:
        return self._dependencies.state.owner_text()

    def audit_query(self, store: str, user: str) -> None:
        self._audit.query(store, user)

    def audit_refusal(self, action: Action | Literal["query"], user: str, error: LsqlError) -> None:
        self._audit.refused(action, user, error)

    def listen(self, listener: Listener) -> None:
        """Add a listener, before `launch`. Several threads call the listener."""
        self._loop.machine.listen(listener)

    def launch(self) -> None:
        """Open the state and prepare the program, then start the control loop. Does not wait until the program runs.

        Raises:
            LsqlError: the program or the configuration is invalid, or the store of the state refuses it.
        """
        self._loop.open_state()
        if self._has_state:
            with self._audit.process_start():
                self._loop.prepare_first()
            self._is_audited = True
        else:
            self._loop.prepare_first()
        self._thread.start()

    def close(self) -> None:
        """Let running batches end, commit the position, and end the loop. Does not close engine, brokers and state.

        Then another process may lead, if there is one.
        """
        if self._dependencies.leadership is not None:
            self._dependencies.leadership.announce_end()
        self._audit.process_end(self._end)
        if self._dependencies.leadership is not None and self._loop.machine.state is State.ENDED:
            self._dependencies.state.hand_over()
            self._dependencies.leadership.release()

    def _end(self) -> None:
        self._commands.put(Cause.END)
        if self._thread.is_alive():
            self._thread.join(_END_S)

    def _check_leads(self) -> None:
        if self._dependencies.leadership is not None and not self._leads:  # the leader has the files
            raise LsqlError("LEADER_UNKNOWN")

    def _command(self, cause: Cause, by: str) -> None:
        self._check_leads()
        self._loop.machine.check(cause)
        self._dependencies.state.set_stopped(cause is Cause.STOP, by, self._dependencies.now_ms())
        self._commands.put(cause)

    def _work(self) -> None:
        while self._turn():
            pass

    def _turn(self) -> bool:
        """One turn of the loop. A start that could not read the state, or did not lead, is audited when it can."""
        command = self._next_command()
        if command is not None and not isinstance(command, Cause):
            command()
            command = None
        goes_on = self._loop.turn(command)
        if self._has_state and not self._is_audited:
            # If the store fails again, the next turn repeats it.
            with suppress(LsqlError), self._audit.process_start():
                self._is_audited = True
        return goes_on

    @property
    def _has_state(self) -> bool:
        """Whether the state is open, and this process leads if a Lease decides who does."""
        d = self._dependencies
        return d.state.is_open and (d.leadership is None or self._leads)

    @property
    def _leads(self) -> bool:
        return self._dependencies.leadership is not None and self._dependencies.state.owner is not None

    def _next_command(self) -> Cause | Callable[[], None] | None:
        is_starting = self._loop.machine.state is State.STARTING
        try:
            return self._commands.get(timeout=0 if is_starting else _TURN_S)
        except Empty:
            return None
