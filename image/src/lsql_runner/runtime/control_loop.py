"""The control loop of a processor: starts the plan, watches it, restarts it, carries out commands.

After a temporary error the loop waits, or restarts the plan after a delay. After another error the processor is FAILED,
until a person starts it again.
"""

from __future__ import annotations

import logging
from collections.abc import Set
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from lsql_runner.errors import ErrorReport, LsqlError, Recovery, report
from lsql_runner.events.batches import BatchEnded, lowest
from lsql_runner.events.processor import (
    BlueGreenChanged,
    BlueGreenPhase,
    BrokerFound,
    BrokerLost,
    Event,
    JvmGone,
    QueryDied,
    WarningRaised,
)
from lsql_runner.events.state import State
from lsql_runner.jvm.java import was_replaced
from lsql_runner.plan.tasks import most_tasks
from lsql_runner.runtime.blue_green import MOST_FAILURES, BlueGreenChange, GreenQueries
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.description import description_of, planned_event
from lsql_runner.runtime.memory_reporter import MemoryReporter
from lsql_runner.runtime.out_of_memory import OutOfMemoryDeaths
from lsql_runner.runtime.plan_run import PlanRun
from lsql_runner.runtime.port import ProgramDescription
from lsql_runner.runtime.recovery import WAIT_MS, Backoff, recovery_of_query
from lsql_runner.runtime.saved_reads import SavedReads
from lsql_runner.runtime.scheduled_snapshots import ScheduledSnapshots
from lsql_runner.runtime.standby import Standby
from lsql_runner.runtime.timer import Timer
from lsql_runner.runtime.volume_reporter import VolumeReporter
from lsql_runner.runtime.workers_reporter import WorkersReporter
from lsql_runner.start.preparation import PreparedProgram, carry_out, prepare
from lsql_runner.state.group_claims import GroupClaims
from lsql_runner.state.snapshots import Snapshot, restore_snapshot
from lsql_runner.status.lifecycle import Cause
from lsql_runner.status.state_machine import StateMachine

if TYPE_CHECKING:
    from lsql_runner.runtime.scaling_reporter import ScalingReporter

LOG = logging.getLogger("lsql_runner.supervisor")

_OF_SAVED_STATE = frozenset(
    {"STATE_INCOMPATIBLE", "STATE_MEANING_CHANGED", "STATE_LOST", "STATE_UNREADABLE", "STATE_CONVERSION_FAILED"}
)
"""Errors of a valid program: it cannot continue what was saved. A restart of the process would change nothing."""


class ControlLoop:
    """Owns the running plan. One thread calls `turn` repeatedly. A turn waits neither for commands nor for delays.

    Attributes:
        machine: the processor's state and status.
        description: the program; empty until it is prepared. If it does not fit the state, or a person has stopped the
            processor before, it has only the stores of the program that the state belongs to.
        saved: reads the state while no plan runs.
    """

    def __init__(self, dependencies: RunDependencies) -> None:
        self._dependencies = dependencies
        self._now_ms = dependencies.now_ms
        self.machine = StateMachine(dependencies.now_ms)
        self.machine.listen(self._after_event)
        self.description = ProgramDescription()
        self.saved = SavedReads(dependencies)
        self._prepared: PreparedProgram | None = None
        self._run: PlanRun | None = None
        self._memory = MemoryReporter(dependencies, self.machine)
        self._volume = VolumeReporter(dependencies, self.machine)
        self._snapshots = ScheduledSnapshots(dependencies, self.machine)
        self._workers = WorkersReporter(dependencies, self.machine)
        self._scaling = _scaling_reporter(dependencies, self.machine)
        leadership = dependencies.leadership
        self._standby = None if leadership is None else Standby(dependencies, leadership, self.machine)
        self._deaths = OutOfMemoryDeaths(dependencies)
        self._claims = GroupClaims(
            dependencies.settings.app_id, dependencies.brokers, dependencies.state, dependencies.now_ms
        )
        self._backoff = Backoff()
        self._retry = Timer()
        self._change = BlueGreenChange(dependencies.state)
        self._greens = GreenQueries()

    def open_state(self) -> None:
        """Open the state before the program is prepared. If its store is unreachable, the turns try again.

        Raises:
            LsqlError: the store cannot be used, and a person has to change that.
        """
        try:
            self._dependencies.open_state()
        except LsqlError as error:
            if error.kind.recovery is not Recovery.WAIT:
                raise
            self._wait_after(error)

    def prepare_first(self) -> None:
        """Prepare the program before the first turn, so that the caller gets the error of an invalid program.

        A processor that a person has stopped is not prepared. After a temporary error, the turns try again. If it
        cannot continue its state or its positions, it is FAILED. With a standby, nothing is changed before this process
        leads; one whose program does not fit the state ends, so that no rollout replaces the process that leads.

        Raises:
            LsqlError: the program or the configuration is invalid.
        """
        if not self._dependencies.state.is_open:
            return
        if self._standby is None and self._is_stopped():
            self._stay_stopped()
            return
        try:
            if self._standby is None:
                self._prepared = self._prepare()
            else:
                self.description = self._standby.prepare()
        except LsqlError as error:
            stays = error.code == "OFFSETS_OUT_OF_RANGE" or (self._standby is None and error.code in _OF_SAVED_STATE)
            if error.kind.recovery is Recovery.FINAL and not stays:
                raise
            if self._standby is None:
                self._start_failed(error)

    def restore(self, name: str) -> Snapshot:
        """Let the next start continue from a snapshot. Call it between two turns.

        Raises:
            LsqlError: RESTORE_REFUSED; as `restore_snapshot`.
        """
        if self.machine.state not in (State.STOPPED, State.FAILED):
            raise LsqlError("RESTORE_REFUSED", state=self.machine.state)
        restored = restore_snapshot(self._dependencies.state, name)
        self.description = self.saved.description()
        return restored

    def turn(self, command: Cause | None = None) -> bool:
        """Carry out a command, then the work of the current state. False after the last turn."""
        try:
            return self._turn(command)
        except Exception as error:  # an internal error must not end the loop, which restarts the plan
            self._restart_after(error)
            return self.machine.state is not State.ENDED

    def _turn(self, command: Cause | None) -> bool:
        self._carry_out(command)
        state = self.machine.state
        if self._dependencies.engine.jvm_death() is not None:
            if state is not State.ENDED:
                self._jvm_gone()
            return False
        self._volume.report()
        self._workers.report()
        if self._scaling is not None:
            self._scaling.report()
        if self._standby is not None:
            self._standby.report()
        if state is not State.STARTING:
            self._memory.report()
        if state is State.RUNNING:
            self._snapshots.report()
            self._watch()
        elif state is State.STARTING:
            self._start()
        elif state is State.STANDBY:
            self._stand_by()
        elif state in (State.WAITING, State.RESTARTING) and self._retry.is_due(self._now_ms()):
            self.machine.move(Cause.RETRY)
        return self.machine.state is not State.ENDED

    def _carry_out(self, command: Cause | None) -> None:
        state = self.machine.state
        if command is Cause.END:
            self._halt_and_move(Cause.END)
        elif command is Cause.STOP and state not in (State.STOPPED, State.STOPPING, State.ENDED):
            self.machine.move(Cause.STOP)
            if self.machine.state is State.STOPPING:
                self._halt_and_move(Cause.HALTED)
        elif command is Cause.SWITCH and state is State.RUNNING:
            self._switch()
        elif command is Cause.START and state in (State.STOPPED, State.FAILED):
            self._change.begin_again()
            self._backoff.reset()
            self._deaths.forget()
            self.machine.move(Cause.START)

    # --- starting ---

    def _prepare(self) -> PreparedProgram:
        d = self._dependencies
        convert = partial(d.engine.convert_state, d.settings.connection, d.state.owner)
        prepared = prepare(
            d.request, d.brokers, d.registry, d.state, self._claims, convert=convert, runs=self._change.runs
        )
        self._brokers_found()
        self.description = description_of(prepared)
        return prepared

    def _is_stopped(self) -> bool:
        """Whether a person has stopped the processor."""
        return self._dependencies.state.stopped_by() is not None

    def _stay_stopped(self) -> None:
        self.description = self.saved.description()
        self.machine.move(Cause.STOP)
        self.machine.move(Cause.HALTED)

    def _stand_by(self) -> None:
        assert self._standby is not None
        if self._standby.may_lead:
            self.machine.move(Cause.LEAD)
        else:
            self._standby.refresh()

    def _start(self) -> None:
        d = self._dependencies
        try:
            if not d.state.is_open:
                d.open_state()
            if self._standby is not None and d.state.owner is None and not self._standby.take_over():
                self._standby.warm_up()
                self.machine.move(Cause.STAND_BY)
            elif self._is_stopped():
                self._stay_stopped()
            else:
                self._run_plan()
        except LsqlError as error:
            if error.code == "STATE_DIR_IN_USE":
                self._wait_after(error)  # the other process may end
            else:
                self._start_failed(error)

    def _run_plan(self) -> None:
        prepared, self._prepared = self._prepared or self._prepare(), None
        if not self._change.begin(prepared.blues):
            self._change.fail(self._report(LsqlError("CHANGE_FAILED", runs=MOST_FAILURES)))
            prepared = self._prepare()
        d = self._dependencies
        self.machine.emit(planned_event(prepared, d.settings, self._now_ms()))
        self._workers.most_tasks = most_tasks(prepared.plan, prepared.state_partitions)
        marking = self._deaths.begin(prepared.positions, self._warn)
        try:
            self._run = PlanRun(prepared, d, self.machine, self._claims, marking=marking)
        except LsqlError as error:
            if not prepared.blues or error.kind.recovery is not Recovery.FINAL:
                raise
            self._go_on_with_blue(error)
            return
        self._greens = GreenQueries()
        if self.machine.state is State.STARTING:
            self.machine.move(Cause.RUN)

    def _start_failed(self, error: LsqlError) -> None:
        match error.kind.recovery:
            case Recovery.WAIT:
                self._wait_after(error)
            case Recovery.RETRY:
                self._retry_after(error)
            case Recovery.FINAL:
                if error.code in _OF_SAVED_STATE:
                    self.description = self.saved.description()
                self.machine.move(Cause.FAILED_PERMANENTLY, self._report(error))

    # --- running ---

    def _watch(self) -> None:
        assert self._run is not None
        d = self._dependencies
        error = self._run.death()
        if error is None:
            self._run.advance_idle_topics()
            self._deaths.reached(lowest(self.machine.status.saved_positions.values()))
            carry_out(self._run.due(), d.brokers, d.registry, d.state)
            self._watch_green()
            return
        self._deaths.failed(error)
        green_has_died = self._run.green_has_died
        try:
            self._halt(failed=green_has_died)
        except Exception as failed:  # the cause is reported, not what follows from it
            self._log(failed)
        is_final = recovery_of_query(error) is Recovery.FINAL
        if green_has_died and is_final:
            self._go_on_with_blue(error)
        elif is_final:
            self.machine.emit(QueryDied(self._now_ms(), self._report(error), None))
            self.machine.move(Cause.FAILED_PERMANENTLY, self._report(error))
        else:
            self._retry_after(error)

    # --- a blue-green change ---

    def _watch_green(self) -> None:
        """Report how far a blue-green change has come; switch if that needs no request."""
        run, change = self._run, self._change
        assert run is not None
        if change.error is not None:
            self._report_phase("failed", change.error)
        elif run.blues:
            are_close = self._greens.are_close(self.machine.status, self._dependencies.monotonic_ms())
            self._report_phase("ready" if are_close else "building")
            # If a batch of a blue query did not end in time, the switch is tried again after its next batch.
            is_repeated = change.runs == "green" and run.has_ended >= {*run.blues.values()}
            if are_close and (is_repeated or self._is_switch_due()):
                self._switch()

    def _is_switch_due(self) -> bool:
        """Whether green queries that are ready take over without a request."""
        settings, seen = self._dependencies.settings, self.machine.status.blue_green
        if settings.state_switch != "auto" or self._change.runs != "both" or seen is None:
            return False
        return self._now_ms() - seen.at_ms >= settings.state_switch_after_s * 1000

    def _report_phase(self, phase: BlueGreenPhase, error: ErrorReport | None = None) -> None:
        before = self.machine.status.blue_green
        if before is None or (before.phase, before.error) != (phase, error):
            self.machine.emit(BlueGreenChanged(self._now_ms(), phase, error))

    def _switch(self) -> None:
        """End the blue queries after their batches. The green ones write results from there on."""
        if self._run is None or not self._run.blues:
            return
        self._halt(drain={*self._run.blues.values()})
        self._change.switch()
        self._run_again()

    def _go_on_with_blue(self, error: LsqlError) -> None:
        """Run without the green queries, of which one has failed."""
        self._change.fail(self._report(error))
        self.machine.emit(QueryDied(self._now_ms(), self._report(error), 0.0))
        self._run_again()
        if self._change.error is not None and self._run is not None:
            self._report_phase("failed", self._change.error)

    def _run_again(self) -> None:
        try:
            self._run_plan()
        except LsqlError as error:
            if error.kind.recovery is Recovery.FINAL:
                self.machine.move(Cause.FAILED_PERMANENTLY, self._report(error))
            else:
                self._retry_after(error)

    def _halt(self, *, drain: Set[str] = frozenset(), failed: bool = False) -> None:
        """Stop the plan, if it runs, and commit its last position.

        Args:
            drain: as in `Engine.stop`.
            failed: whether a green query has failed.
        """
        run, self._run, self._prepared = self._run, None, None
        if run is not None:
            run.halt(drain=drain)
            if run.blues and not failed:
                self._change.end(run.blues)

    def _halt_and_move(self, cause: Cause) -> None:
        try:
            self._halt()
            self._deaths.end()
        finally:  # a plan that fails to stop must not keep the state: no command leaves STOPPING
            self.machine.move(cause)

    # --- errors ---

    def _retry_after(self, error: LsqlError) -> None:
        delay_s = self._backoff.next_delay_s()
        self._retry.start(self._now_ms(), delay_s * 1000)
        self.machine.emit(QueryDied(self._now_ms(), self._report(error), delay_s))
        self.machine.move(Cause.FAILED_TEMPORARILY, self._report(error))

    def _wait_after(self, error: LsqlError) -> None:
        if error.code == "BROKER_UNREACHABLE":
            self.machine.emit(BrokerLost(self._now_ms(), self._report(error)))
        else:
            self._brokers_found()
        self._retry.start(self._now_ms(), WAIT_MS)
        self.machine.move(Cause.WAIT, self._report(error))

    def _brokers_found(self) -> None:
        if self.machine.status.broker_error is not None:
            self.machine.emit(BrokerFound(self._now_ms()))

    def _jvm_gone(self) -> None:
        reason = self._dependencies.engine.jvm_death() or "unknown"
        is_replaced = was_replaced(reason) or self._dependencies.state.is_replaced()
        app = self._dependencies.settings.app_id
        error = self._report(
            LsqlError("PROCESSOR_REPLACED", app=app) if is_replaced else LsqlError("JVM_GONE", reason=reason)
        )
        self._deaths.died(reason)
        self.machine.emit(JvmGone(self._now_ms(), error))
        alive = self.machine.state in (State.STARTING, State.RUNNING)
        self.machine.move(Cause.FAILED_PERMANENTLY if alive else Cause.END, error)
        if self._standby is not None:
            self._standby.release()
        self._dependencies.on_jvm_gone()

    def _restart_after(self, error: Exception) -> None:
        """Log an internal error, and restart the plan."""
        if self._dependencies.engine.jvm_death(within_s=1.0) is not None:
            return  # calls of a JVM that has ended fail in many ways; the next turn reports its end once
        reason = self._log(error)
        with suppress(Exception):
            self._halt()
        if self.machine.state in (State.STARTING, State.RUNNING):
            self._retry_after(LsqlError("QUERY_FAILED", reason=reason))

    def _log(self, error: Exception) -> str:
        """Log an internal error, with its trace at DEBUG only; returns its reason."""
        reason = f"{type(error).__name__}: {self._dependencies.engine.reason_of(error)}"
        LOG.error("internal error in the supervisor", extra={"reason": reason})
        LOG.debug("trace of the internal error", exc_info=error)
        return reason

    def _warn(self, text: str) -> None:
        self.machine.emit(WarningRaised(self._now_ms(), text))

    def _report(self, error: LsqlError) -> ErrorReport:
        return report(error, self._dependencies.request.program.text)

    def _after_event(self, event: Event) -> None:
        if isinstance(event, BatchEnded):
            self._backoff.reset()


def _scaling_reporter(dependencies: RunDependencies, machine: StateMachine) -> ScalingReporter | None:
    autoscaling = dependencies.settings.autoscaling
    if autoscaling is None:
        return None
    from lsql_runner.runtime.scaling_reporter import ScalingReporter  # only a processor that scales needs it

    return ScalingReporter(autoscaling, dependencies, machine)
