"""Computes the status of a processor from its events."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from threading import Lock

from lsql_runner.events.batches import FailureAction, FailureCount
from lsql_runner.events.leadership import LeadershipChanged
from lsql_runner.events.processor import (
    AuditRecorded,
    BatchEnded,
    BlueGreenChanged,
    BrokerFound,
    BrokerLost,
    Event,
    JvmGone,
    LagMeasured,
    LateRecordsDropped,
    MemoryMeasured,
    Partition,
    ProgramPlanned,
    QueryDied,
    QueryMode,
    QueryUse,
    RecordsProcessed,
    ScalingDecided,
    SnapshotTaken,
    StateChanged,
    VolumeMeasured,
    WarningRaised,
    WorkersChanged,
)
from lsql_runner.events.state import State
from lsql_runner.status.model import Status
from lsql_runner.status.rates import WINDOW_MS, Rates


@singledispatch
def status_after(event: Event, status: Status) -> Status:
    """The status after `event`."""
    raise TypeError(f"no such event: {event!r}")


@status_after.register
def _(event: StateChanged, status: Status) -> Status:
    running = event.new is State.RUNNING
    after = replace(
        status,
        state=event.new,
        since_ms=event.at_ms,
        reason=event.reason,
        restart_at_ms=status.restart_at_ms if event.new is State.RESTARTING else None,
        restarts=status.restarts + (event.old is State.RESTARTING and event.new is State.STARTING),
        progress_at_ms=event.at_ms if running else status.progress_at_ms,
        lag_at_progress=status.lag if running else status.lag_at_progress,
        rates=status.rates if running else {},
    )
    return _without_old_scaling(after, event.at_ms)


@status_after.register
def _(event: BatchEnded, status: Status) -> Status:
    watermarks = status.watermarks_ms
    if event.watermark_ms is not None:
        watermarks = watermarks | {event.query: event.watermark_ms}
    inputs = status.input_times_ms.get(event.query, {})
    newest = {name: max(time, inputs.get(name, time)) for name, time in event.input_times_ms.items()}
    positions = status.positions | {event.query: event.positions}
    after = replace(
        status,
        records_in=status.records_in + event.records_in,
        records_out=status.records_out + event.records_out,
        future_records=status.future_records + event.future_records,
        failed_records=_add_counts(status.failed_records, event.failed_records),
        rates=status.rates | {event.query: status.rates.get(event.query, Rates()).after(event)},
        batches=status.batches + 1,
        last_batch=event,
        positions=positions,
        saved_positions=status.saved_positions | {event.query: event.positions},
        ends=_ends(status.ends, positions),
        stores=status.stores | {event.query: {store.name: store for store in event.stores}},
        watermarks_ms=watermarks,
        input_times_ms=status.input_times_ms | {event.query: inputs | newest},
        ticked_ms=status.ticked_ms if event.ticked_ms is None else status.ticked_ms | {event.query: event.ticked_ms},
        queries=_with_mode(status, event.query, "real_time" if event.in_real_time else "batches")
        if event.records_in
        else status.queries,
    )
    if any(query.name == event.query and query.blue is not None for query in status.queries):
        return after  # the lag is that of the blue query
    return replace(after, progress_at_ms=event.at_ms, lag_at_progress=after.lag)


@status_after.register
def _(event: RecordsProcessed, status: Status) -> Status:
    positions = status.positions | {event.query: event.positions}
    after = replace(
        status,
        records_in=status.records_in + event.records_in,
        records_out=status.records_out + event.records_out,
        rates=status.rates | {event.query: status.rates.get(event.query, Rates()).after(event)},
        positions=positions,
        ends=_ends(status.ends, positions),
        queries=_with_mode(status, event.query, "real_time"),
    )
    return replace(after, progress_at_ms=event.at_ms, lag_at_progress=after.lag) if event.records_in else after


def _with_mode(status: Status, name: str, mode: QueryMode) -> tuple[QueryUse, ...]:
    """The queries of a status after records that a query has not processed continuously."""
    return tuple(
        replace(each, mode=mode) if each.name == name and each.mode != "continuous" else each for each in status.queries
    )


def _ends(measured: dict[Partition, int], positions: dict[str, dict[Partition, int]]) -> dict[Partition, int]:
    """The ends of partitions, never less than a position: queries read on between two measurements of the ends."""
    return {
        partition: max([end, *(of_query.get(partition, end) for of_query in positions.values())])
        for partition, end in measured.items()
    }


def _add_counts(
    before: dict[tuple[FailureAction, str, str], int], new: tuple[FailureCount, ...]
) -> dict[tuple[FailureAction, str, str], int]:
    totals = dict(before)
    for failed in new:
        key = failed.action, failed.topic, failed.code
        totals[key] = totals.get(key, 0) + failed.records
    return totals


@status_after.register
def _(event: LagMeasured, status: Status) -> Status:
    after = replace(status, ends=_ends(status.ends | event.ends, status.positions))
    if after.lag == 0:
        rates = {query: r for query, r in after.rates.items() if r.end_ms > event.at_ms - WINDOW_MS}
        after = replace(after, progress_at_ms=event.at_ms, lag_at_progress=0, rates=rates)
    return after


@status_after.register
def _(event: LateRecordsDropped, status: Status) -> Status:
    return replace(status, late_records_dropped=status.late_records_dropped + event.count)


@status_after.register
def _(event: BrokerLost, status: Status) -> Status:
    return _without_old_scaling(replace(status, broker_error=event.error), event.at_ms)


@status_after.register
def _(event: BrokerFound, status: Status) -> Status:
    return replace(status, broker_error=None)


@status_after.register
def _(event: QueryDied, status: Status) -> Status:
    restart_at = None if event.retry_in_s is None else event.at_ms + int(event.retry_in_s * 1000)
    return replace(status, last_error=event.error, last_error_at_ms=event.at_ms, restart_at_ms=restart_at)


@status_after.register
def _(event: JvmGone, status: Status) -> Status:
    return replace(status, jvm_error=event.error, last_error=event.error, last_error_at_ms=event.at_ms)


@status_after.register
def _(event: ProgramPlanned, status: Status) -> Status:
    new = tuple(w for w in event.warnings if w not in status.warnings)
    return replace(
        status,
        positions=event.positions,
        saved_positions=event.positions,
        ends=_ends(status.ends, event.positions),
        topics=event.topics,
        sinks=event.sinks,
        queries=event.queries,
        blue_green=status.blue_green if any(query.blue for query in event.queries) else None,
        generation=event.generation,
        stateful=event.stateful,
        continuous=event.continuous,
        warnings=status.warnings + new,
    )


@status_after.register
def _(event: WarningRaised, status: Status) -> Status:
    return status if event.text in status.warnings else replace(status, warnings=(*status.warnings, event.text))


@status_after.register
def _(event: MemoryMeasured, status: Status) -> Status:
    return replace(status, memory=event)


@status_after.register
def _(event: VolumeMeasured, status: Status) -> Status:
    return replace(status, volume=event)


@status_after.register
def _(event: WorkersChanged, status: Status) -> Status:
    return replace(status, workers=event.workers)


@status_after.register
def _(event: ScalingDecided, status: Status) -> Status:
    return replace(status, scaling=event)


def _without_old_scaling(status: Status, at_ms: int) -> Status:
    """The status without the number of workers, if the lag is not known any more.

    At once, since the next decision may be late: a start waits for brokers, and a stop for running batches.
    """
    reason = status.why_lag_unknown
    if reason is None or status.scaling is None:
        return status
    return replace(status, scaling=status.scaling.unknown(at_ms, reason))


@status_after.register
def _(event: LeadershipChanged, status: Status) -> Status:
    return replace(status, leadership=event.leadership)


@status_after.register
def _(event: BlueGreenChanged, status: Status) -> Status:
    return replace(status, blue_green=event)


@status_after.register(AuditRecorded)
@status_after.register(SnapshotTaken)
def _(_event: AuditRecorded | SnapshotTaken, status: Status) -> Status:
    return status


class CurrentStatus:
    """The Status after the events so far. Thread-safe."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._lock = Lock()

    @property
    def status(self) -> Status:
        return self._status

    def update(self, event: Event) -> None:
        with self._lock:
            self._status = status_after(event, self._status)
