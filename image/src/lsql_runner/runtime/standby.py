"""A process among several of which a Lease chooses the one that runs the program."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import replace

from lsql_runner.container.budget import budget
from lsql_runner.errors import LsqlError
from lsql_runner.events.leadership import LeadershipChanged, LeadershipView
from lsql_runner.lease.ports import Leadership
from lsql_runner.runtime.dependencies import RunDependencies
from lsql_runner.runtime.description import description_of
from lsql_runner.runtime.plan_run import job_of
from lsql_runner.runtime.port import ProgramDescription
from lsql_runner.runtime.timer import Timer
from lsql_runner.start.decision import partitions_of
from lsql_runner.start.memory_need import buffers_of
from lsql_runner.start.preparation import PreparedProgram, prepare_without_changes
from lsql_runner.status.state_machine import StateMachine

LOG = logging.getLogger("lsql_runner.standby")

_WARM_UP_S = 60.0
"""The longest warm-up. A process that may lead ends it."""
_RECORDS = 100
"""The most records of each partition that a warm-up reads."""
REFRESH_MS = 60_000
"""The time between two preparations: topics and schemas may have changed."""


class Standby:
    """Prepares the program without any change while another process leads, then takes over. Not thread-safe."""

    def __init__(self, dependencies: RunDependencies, leadership: Leadership, machine: StateMachine) -> None:
        self._dependencies = dependencies
        self._leadership = leadership
        self._machine = machine
        self._refresh = Timer()
        self._reported: LeadershipView | None = None
        self._prepared: PreparedProgram | None = None
        self._is_warm = False

    @property
    def may_lead(self) -> bool:
        """Whether this process has the Lease."""
        return self._leadership.term is not None

    def report(self) -> None:
        """Emit an event if the leader has changed."""
        view = self._leadership.view()
        if view != self._reported:
            self._reported = view
            self._machine.emit(LeadershipChanged(self._dependencies.now_ms(), view))

    def take_over(self) -> bool:
        """Become the owner of the state, if this process has the Lease; whether it is the owner.

        Raises:
            LsqlError: as `StateDir.take_over`.
        """
        state, term = self._dependencies.state, self._leadership.term
        if term is None:
            return False
        if state.owner is None:
            state.take_over(self._leadership.lease, term)
            self._leadership.guard(state.is_replaced)
        return True

    def prepare(self) -> ProgramDescription:
        """Find topics, schemas and state, and decide as a start does. Changes nothing.

        Raises:
            LsqlError: the error with which a start would be refused.
        """
        d = self._dependencies
        self._refresh.start(d.now_ms(), REFRESH_MS)
        try:
            prepared = prepare_without_changes(d.request, d.brokers, d.registry, d.state.saved())
        except LsqlError as error:
            if error.code != "STATE_DIR_UNREADABLE":
                raise
            return ProgramDescription()  # the leader deletes an old generation meanwhile
        self._prepared = prepared
        return description_of(prepared)

    def warm_up(self) -> None:
        """Let the engine run the queries on some of the newest records, once, without results."""
        prepared, self._prepared = self._prepared, None
        if prepared is None or self._is_warm:
            return
        self._is_warm = True
        d = self._dependencies
        with suppress(LsqlError):  # the start reports it
            partitions = partitions_of(prepared.plan.sources)
            begins, ends = d.brokers.begins(partitions), d.brokers.ends(partitions)
            newest = {place: max(begins[place], ends[place] - _RECORDS) for place in partitions}
            starts = {
                query.name: {place: newest[place] for place in partitions_of(query.sources)}
                for query in prepared.plan.queries
                if any(begins[place] < ends[place] for place in partitions_of(query.sources))
            }
            memory = d.identity.memory or budget(None)
            buffers = buffers_of(prepared.plan, d.settings, memory.heap_mib)
            job = job_of(replace(prepared, start_offsets=starts), d.settings, d.state, buffers, lambda _: None)
            until = time.monotonic() + _WARM_UP_S
            d.engine.warm_up(job, lambda: self._leadership.term is None and time.monotonic() < until)

    def refresh(self) -> None:
        """Prepare again if the last time was long ago. An error is logged: the start will find it, if it lasts."""
        if self._refresh.is_due(self._dependencies.now_ms()):
            try:
                self.prepare()
            except LsqlError as error:
                LOG.warning("the program cannot start now", extra={"code": error.code, "error": error.message})

    def release(self) -> None:
        """Let another process lead. The queries of this one must have ended."""
        with suppress(LsqlError):
            self._leadership.release()
