"""A listener that logs events: states, failures, warnings; batches at the level DEBUG."""

from __future__ import annotations

import logging
from collections import Counter
from functools import singledispatchmethod
from typing import Any

import structlog

from lsql_runner.errors import ErrorReport
from lsql_runner.events.audit import AUDIT_LOGGER, DONE
from lsql_runner.events.leadership import LeadershipChanged
from lsql_runner.events.processor import (
    AuditRecorded,
    BatchEnded,
    BlueGreenChanged,
    BrokerFound,
    BrokerLost,
    Event,
    JvmGone,
    LateRecordsDropped,
    ProgramPlanned,
    QueryDied,
    ScalingDecided,
    SnapshotTaken,
    StateChanged,
    WarningRaised,
    WorkersChanged,
)
from lsql_runner.events.state import State

LATE_EVERY_MS = 60_000
"""Every batch may have late records. The first are logged immediately, the sum of later ones at this interval."""


class EventLog:
    """Writes a line with `app_id` for each event, except those that only the metrics show."""

    def __init__(self, app_id: str) -> None:
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("lsql_runner").bind(app_id=app_id)
        self._waiting_for: str | None = None
        self._lost: str | None = None
        """Codes of the last wait and of the last error of the brokers: repetitions are logged at DEBUG."""
        self._wanted: int | None = None
        self._late: Counter[str] = Counter()
        self._late_logged_at_ms: dict[str, int] = {}

    def __call__(self, event: Event) -> None:
        self._write(event)

    @singledispatchmethod
    def _write(self, event: Event) -> None:
        """Events of other types are not logged: metrics show them."""

    @_write.register
    def _(self, event: StateChanged) -> None:
        reason = _error_fields(event.reason) if event.reason else {}
        fields = {"old": event.old.value, "new": event.new.value, **reason}
        awaited = event.reason.code if event.reason and event.new is State.WAITING else None
        again = event.old is State.WAITING or (awaited is not None and awaited == self._waiting_for)
        if event.new is not State.STARTING:
            self._waiting_for = awaited
        if again and event.new in (State.STARTING, State.WAITING):
            self._log.debug("state changed", **fields)
        elif event.new is State.FAILED:
            self._log.error("state changed", **fields)
        elif event.new in (State.RESTARTING, State.WAITING):
            self._log.warning("state changed", **fields)
        else:
            self._log.info("state changed", **fields)

    @_write.register
    def _(self, event: QueryDied) -> None:
        self._log.error("query died", retry_in_s=event.retry_in_s, **_error_fields(event.error))

    @_write.register
    def _(self, event: JvmGone) -> None:
        self._log.critical("jvm gone", **_error_fields(event.error))

    @_write.register
    def _(self, event: BrokerLost) -> None:
        log = self._log.debug if event.error.code == self._lost else self._log.warning
        log("broker lost", **_error_fields(event.error))
        self._lost = event.error.code

    @_write.register
    def _(self, event: BrokerFound) -> None:
        self._log.info("broker found")
        self._lost = None

    @_write.register
    def _(self, event: ProgramPlanned) -> None:
        self._log.info(
            "planned",
            sources=[t.topic for t in event.topics if t.role == "source"],
            targets=[t.topic for t in event.topics if t.role == "target"],
            stores=list(event.stores),
            generation=event.generation,
            stateful=event.stateful,
            continuous=event.continuous,
        )
        for text in event.warnings:
            self._log.warning("warning", text=text)

    @_write.register
    def _(self, event: WarningRaised) -> None:
        self._log.warning("warning", text=event.text)

    @_write.register
    def _(self, event: WorkersChanged) -> None:
        self._log.info(
            "workers changed",
            workers=len(event.workers),
            slots=sum(worker.cores for worker in event.workers),
            joined=list(event.joined),
            left=list(event.left),
            leaving=[worker.address for worker in event.workers if worker.leaving],
        )

    @_write.register
    def _(self, event: ScalingDecided) -> None:
        if event.wanted == self._wanted:
            return
        self._wanted = event.wanted
        self._log.info(
            "would scale" if event.dry_run and event.wanted is not None else "workers wanted",
            wanted=event.wanted,
            current=event.current,
            lag=event.lag_records,
            arriving_per_second=event.arriving_per_s,
            worker_rate_per_second=event.worker_rate_per_s,
            reason=event.reason,
        )

    @_write.register
    def _(self, event: LeadershipChanged) -> None:
        seen = event.leadership
        if seen.error is None:
            self._log.info("leader", leads=seen.leads, leader=seen.holder, term=seen.term)
        else:
            self._log.warning("lease unavailable", **_error_fields(seen.error))

    @_write.register
    def _(self, event: BatchEnded) -> None:
        self._log.debug(
            "batch ended",
            query=event.query,
            batch_id=event.batch_id,
            records_in=event.records_in,
            records_out=event.records_out,
            duration_ms=event.duration_ms,
            phases_ms=event.phases_ms,
        )

    @_write.register
    def _(self, event: AuditRecorded) -> None:
        level = logging.INFO if event.record.result == DONE else logging.WARNING
        structlog.stdlib.get_logger(AUDIT_LOGGER).log(level, "audit", **event.record.fields())

    @_write.register
    def _(self, event: SnapshotTaken) -> None:
        self._log.info("snapshot taken", name=event.name, size_bytes=event.size_bytes)

    @_write.register
    def _(self, event: BlueGreenChanged) -> None:
        if event.error is None:
            self._log.info("blue-green change", phase=event.phase)
        else:
            self._log.error("blue-green change", phase=event.phase, **_error_fields(event.error))

    @_write.register
    def _(self, event: LateRecordsDropped) -> None:
        self._late[event.query] += event.count
        last = self._late_logged_at_ms.get(event.query)
        if last is None or event.at_ms - last >= LATE_EVERY_MS:
            self._log.warning("late records dropped", query=event.query, count=self._late.pop(event.query))
            self._late_logged_at_ms[event.query] = event.at_ms


def _error_fields(error: ErrorReport) -> dict[str, Any]:
    place = {"line": error.position.line, "column": error.position.column} if error.position else {}
    return {"code": error.code, "error": error.message, "way_out": error.way_out, **place}
