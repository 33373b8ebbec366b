"""The processor: one thread that starts the plan, watches it, restarts it, and does what people ask.

It owns the state machine; every move becomes an event. Errors that may pass lead to waiting or to a
restart with backoff; errors that do not pass lead to FAILED, where a person decides.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from lsql_runner.config.settings import Settings
from lsql_runner.engine.failures import classify
from lsql_runner.engine.processor import SparkEngine
from lsql_runner.errors import ErrorReport, LsqlError, Recovery, report
from lsql_runner.events.batches import BatchEnded
from lsql_runner.events.processor import BrokerFound, BrokerLost, Event, JvmGone, Listener, QueryDied, StateChanged
from lsql_runner.events.state import State
from lsql_runner.kafka.brokers import Brokers
from lsql_runner.kafka.registry import SchemaRegistry
from lsql_runner.runtime.clock import now_ms
from lsql_runner.runtime.health import Health, assess
from lsql_runner.runtime.lifecycle import Trigger, move
from lsql_runner.runtime.plan_run import PlanRun, Surroundings
from lsql_runner.runtime.port import Described, Identity
from lsql_runner.runtime.preparation import Prepared, described, planned_event, prepare
from lsql_runner.runtime.statedir import StateDir
from lsql_runner.runtime.status import Status, StatusBoard
from lsql_runner.sql import ast

LOG = logging.getLogger("lsql_runner.supervisor")

_TICK_S = 0.1
_WAIT_S = 1.0
"""Between two tries while something outside is awaited."""
_BACKOFF_S = (1, 2, 4, 8, 15, 30, 60)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a supervisor is made of."""

    settings: Settings
    program: ast.Program
    identity: Identity
    brokers: Brokers
    registry: SchemaRegistry | None
    engine: SparkEngine
    state: StateDir
    listeners: tuple[Listener, ...]
    on_jvm_gone: Callable[[], None]


class Supervisor:
    """A Processor (see runtime.port) that runs for ever."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._board = StatusBoard(Status(since_ms=now_ms()))
        self._around = Surroundings(parts.settings, parts.brokers, parts.engine, parts.state, self.status, self._emit)
        self._described = Described()
        self._prepared: Prepared | None = None
        self._run: PlanRun | None = None
        self._commands: SimpleQueue[Trigger] = SimpleQueue()
        self._state_lock = Lock()
        self._deaths = 0
        self._retry_at_ms = 0
        self._thread = Thread(target=self._work, name="supervisor", daemon=True)

    # --- the port ---

    @property
    def identity(self) -> Identity:
        return self._parts.identity

    @property
    def described(self) -> Described:
        return self._described

    def status(self) -> Status:
        return self._board.now

    def health(self) -> Health:
        return assess(self._board.now, now_ms(), int(self._parts.settings.stuck_after_s * 1000))

    def stop(self, by: str) -> None:
        move(self._board.now.state, Trigger.STOP)
        self._parts.state.set_stopped(True, by, now_ms())
        self._commands.put(Trigger.STOP)

    def start(self, by: str) -> None:
        move(self._board.now.state, Trigger.START)
        self._parts.state.set_stopped(False, by, now_ms())
        self._commands.put(Trigger.START)

    # --- the thread ---

    def launch(self) -> None:
        """Begin. The first plan is made before this returns, so that a wrong program is an error of the caller.

        It runs a little later: the API may be asked meanwhile.

        Raises:
            LsqlError: the program or the configuration is wrong.
        """
        if self._parts.state.stopped_by() is not None:
            self._move(Trigger.STOP)
            self._move(Trigger.HALTED)
        else:
            try:
                self._prepared = self._prepare()
            except LsqlError as error:
                if error.kind.recovery is Recovery.FINAL:
                    raise
                self._not_started(error)
        self._thread.start()

    def close(self) -> None:
        """End: let the batch under way finish and keep the position. Engine and state are the maker's to close."""
        self._commands.put(Trigger.END)
        if self._thread.is_alive():
            self._thread.join(60)

    def _work(self) -> None:
        while self._board.now.state is not State.ENDED:
            try:
                if not self._step():
                    return
            except Exception as error:  # the thread must outlive a fault of ours: it is the one that restarts
                self._stumbled(error)

    def _step(self) -> bool:
        """One turn: a command, then whatever the state asks for. False when there will be no other."""
        self._obey(self._next_command())
        state = self._board.now.state
        if self._parts.engine.jvm_death() is not None:
            if state is not State.ENDED:
                self._jvm_gone()
            return False
        if state is State.RUNNING:
            self._look_for_death()
            if self._run is not None:
                self._run.pass_time()
        elif state is State.STARTING:
            self._attempt()
        elif state in (State.WAITING, State.RESTARTING) and now_ms() >= self._retry_at_ms:
            self._move(Trigger.RETRY)
        return True

    def _stumbled(self, error: Exception) -> None:
        """A fault that nothing expected: told without its trace, which is for those who debug, and tried again."""
        if self._parts.engine.jvm_death(within_s=1.0) is not None:
            return  # calls into a JVM that is gone fail in many ways; the next turn says it once
        reason = f"{type(error).__name__}: {classify(str(error)).reason}"
        LOG.error("fault in the supervisor", extra={"reason": reason})
        LOG.debug("its trace", exc_info=error)
        with suppress(Exception):
            self._halt()
        if self._board.now.state in (State.STARTING, State.RUNNING):
            self._died(LsqlError("QUERY_FAILED", reason=reason))

    def _next_command(self) -> Trigger | None:
        try:
            return self._commands.get(timeout=0 if self._board.now.state is State.STARTING else _TICK_S)
        except Empty:
            return None

    def _obey(self, command: Trigger | None) -> None:
        state = self._board.now.state
        if command is Trigger.END:
            self._halt()
            self._move(Trigger.END)
        elif command is Trigger.STOP and state not in (State.STOPPED, State.STOPPING, State.ENDED):
            self._move(Trigger.STOP)
            if self._board.now.state is State.STOPPING:
                self._halt()
                self._move(Trigger.HALTED)
        elif command is Trigger.START and state in (State.STOPPED, State.FAILED):
            self._deaths = 0
            self._move(Trigger.START)

    # --- starting ---

    def _prepare(self) -> Prepared:
        parts = self._parts
        prepared = prepare(parts.program, parts.settings, parts.brokers, parts.registry, parts.state)
        self._found_brokers()
        self._described = described(prepared)
        return prepared

    def _attempt(self) -> None:
        """Try to run the plan, from STARTING."""
        try:
            prepared, self._prepared = self._prepared or self._prepare(), None
            self._emit(planned_event(prepared, self._parts.settings, self._parts.brokers))
            self._run = PlanRun(prepared, self._around)
            self._move(Trigger.RUN)
        except LsqlError as error:
            self._not_started(error)

    def _not_started(self, error: LsqlError) -> None:
        if error.kind.recovery is Recovery.WAIT:
            self._await(error)
        elif error.kind.recovery is Recovery.RETRY:
            self._died(error)
        else:
            self._move(Trigger.REFUSE, self._reported(error))

    # --- watching ---

    def _look_for_death(self) -> None:
        error = None if self._run is None else self._run.death()
        if error is None:
            return
        self._halt()
        if error.kind.recovery is Recovery.FINAL:
            self._emit(QueryDied(now_ms(), self._reported(error), None))
            self._move(Trigger.REFUSE, self._reported(error))
        else:
            self._died(error)

    def _died(self, error: LsqlError) -> None:
        delay_s = _BACKOFF_S[min(self._deaths, len(_BACKOFF_S) - 1)]
        self._deaths += 1
        self._retry_at_ms = now_ms() + delay_s * 1000
        self._emit(QueryDied(now_ms(), self._reported(error), delay_s))
        self._move(Trigger.DIE, self._reported(error))

    def _await(self, error: LsqlError) -> None:
        if error.code == "BROKER_UNREACHABLE":
            self._emit(BrokerLost(now_ms(), self._reported(error)))
        else:
            self._found_brokers()
        self._retry_at_ms = now_ms() + int(_WAIT_S * 1000)
        self._move(Trigger.WAIT, self._reported(error))

    def _found_brokers(self) -> None:
        if self._board.now.broker_error is not None:
            self._emit(BrokerFound(now_ms()))

    def _halt(self) -> None:
        """Stop the plan, if one runs, and commit its last position."""
        run, self._run, self._prepared = self._run, None, None
        if run is not None:
            run.halt()

    def _jvm_gone(self) -> None:
        reason = self._parts.engine.jvm_death() or "unknown"
        error = self._reported(LsqlError("JVM_GONE", reason=reason))
        self._emit(JvmGone(now_ms(), error))
        self._move(Trigger.REFUSE if self._board.now.state in (State.STARTING, State.RUNNING) else Trigger.END, error)
        self._parts.on_jvm_gone()

    # --- events ---

    def _reported(self, error: LsqlError) -> ErrorReport:
        return report(error, self._parts.program.text)

    def _move(self, trigger: Trigger, reason: ErrorReport | None = None) -> None:
        with self._state_lock:
            old = self._board.now.state
            new = move(old, trigger)
            if new is not old or reason != self._board.now.reason:
                self._emit(StateChanged(now_ms(), old, new, reason))

    def _emit(self, event: Event) -> None:
        if isinstance(event, BatchEnded):
            self._deaths = 0  # it works again: the next death is a first one
        self._board(event)
        for listener in self._parts.listeners:
            listener(event)
