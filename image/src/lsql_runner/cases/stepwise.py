"""Runs the processor of a case on brokers one batch at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event

from lsql_runner.errors import DetailTable, ErrorReport, LsqlError
from lsql_runner.events.batches import Partition
from lsql_runner.events.state import State
from lsql_runner.plan.clocks import QueryClock
from lsql_runner.runtime.supervisor import Supervisor
from lsql_runner.status.model import Status

DEADLINE_S = 60.0
"""For one micro-batch, including the start of its query."""
_POLL_S = 0.02
_BY = "lsql test"
_REASONS = DetailTable({"UNKNOWN": "the cause is unknown"})


class StepwiseRun:
    """A processor that reads a case batch by batch. Each step returns the error that ended the program, or None.

    Raises:
        LsqlError: from every method: JVM_GONE; CASE_TIMEOUT.
    """

    def __init__(self, path: Path, supervisor: Supervisor, jvm_gone: Event) -> None:
        self._path = path
        self._supervisor = supervisor
        self._jvm_gone = jvm_gone

    def read_to(self, ends: Mapping[Partition, int]) -> LsqlError | None:
        """Wait until every query has read to the ends. After the next pause it has written the results, too."""

        def has_read(status: Status) -> bool:
            reached = status.reached
            return status.state is State.RUNNING and all(reached.get(place, 0) >= end for place, end in ends.items())

        return self._until(has_read, "read-input")

    def pass_time(self, idle_ms: int, clocks: Mapping[str, QueryClock]) -> LsqlError | None:
        """Wait until all inputs of the queries with clocks have the same time, and then while no record arrives.

        Args:
            idle_ms: how long no record arrives, in event time.
            clocks: by query.
        """

        def has_passed(status: Status) -> bool:
            return all(_has_passed(status, query, clock, idle_ms) for query, clock in clocks.items())

        return self._until(has_passed, "pass-time", DEADLINE_S + idle_ms / 1000)

    def pause(self) -> LsqlError | None:
        """Let the current batch end and commit, then stop reading."""
        self._supervisor.stop(_BY)
        return self._until(lambda status: status.state is State.STOPPED, "stop")

    def resume(self) -> None:
        """Continue from the committed position."""
        self._supervisor.start(_BY)

    def _until(self, ready: Callable[[Status], bool], stage: str, within_s: float = DEADLINE_S) -> LsqlError | None:
        deadline = time.monotonic() + within_s
        while not ready(status := self._supervisor.status()):
            if self._jvm_gone.is_set():
                raise _error_from_report(status.jvm_error) or LsqlError("JVM_GONE", reason=_REASONS("UNKNOWN"))
            error = _error_from_report(status.reason)
            late = time.monotonic() > deadline
            if error is not None and (late or not error.kind.is_transient):
                return error
            if late:
                raise LsqlError(
                    "CASE_TIMEOUT",
                    path=str(self._path),
                    stage=stage,
                    seconds=round(within_s),
                    state=status.state,
                    lag=status.lag,
                )
            time.sleep(_POLL_S)
        return None

    def broker_error(self) -> LsqlError | None:
        """The last error that the brokers reported."""
        return _error_from_report(self._supervisor.status().broker_error)


def _has_passed(status: Status, query: str, clock: QueryClock, idle_ms: int) -> bool:
    stores = status.stores.get(query, {})
    times = status.input_times_ms.get(query, {})
    if not times or not any(store.rows for store in stores.values()):
        return True  # nothing waits
    newest, least = max(times.values()), min(times.get(each.name, 0) for each in clock.inputs)
    passes_ms = idle_ms if clock.advances_while_idle else 0
    if not passes_ms and newest - least < clock.pace_ms:
        return True  # no step is due
    if clock.advances_while_idle:
        return status.watermarks_ms.get(query, 0) >= newest + passes_ms - clock.delay_ms
    return status.ticked_ms.get(query, 0) >= newest


def _error_from_report(report: ErrorReport | None) -> LsqlError | None:
    """The error of a report. It has no place in the program: errors with a place occur before the processor runs."""
    return None if report is None else LsqlError(report.code, None, (), **report.params)
